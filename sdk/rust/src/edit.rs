//! Edits of the message.

use std::fmt;

use crate::abi;
use crate::field::FieldName;
use crate::phase::Phase;

/// Edits of the message, made by a hook through its [`crate::Exchange`] or later through its [`crate::Paused`].
///
/// When the hook has returned, the host checks every edit in the same way as input of a peer. A rejected edit is a
/// fault of the filter: a control byte, a framing or hop-by-hop header, an exceeded limit.
///
/// # Errors
/// Each method fails with [`EditError::Phase`] if it does not apply to the phase, and with [`EditError::TooLarge`] if
/// the edits of the call would exceed 16 MiB. Nothing is changed then.
pub trait Edit: sealed::EditSink {
    /// Replaces all header fields of this name by one.
    fn set(&mut self, name: impl FieldName, value: impl AsRef<[u8]>) -> Result<(), EditError> {
        self.write(abi::EDIT_SET, name.name(), value.as_ref(), 0)
    }

    /// Adds a header field.
    fn add(&mut self, name: impl FieldName, value: impl AsRef<[u8]>) -> Result<(), EditError> {
        self.write(abi::EDIT_ADD, name.name(), value.as_ref(), 0)
    }

    /// Removes all header fields of this name.
    fn remove(&mut self, name: impl FieldName) -> Result<(), EditError> {
        self.write(abi::EDIT_REMOVE, name.name(), &[], 0)
    }

    /// Replaces the method. In request phases.
    fn set_method(&mut self, method: &str) -> Result<(), EditError> {
        self.write(abi::EDIT_METHOD, &[], method.as_bytes(), 0)
    }

    /// Replaces path and query, which are sent normalised. The rule's own rewrite is not applied then. In request
    /// phases.
    fn set_target(&mut self, target: impl AsRef<[u8]>) -> Result<(), EditError> {
        self.write(abi::EDIT_TARGET, &[], target.as_ref(), 0)
    }

    /// Replaces the authority: host, or host and port. In request phases.
    fn set_authority(&mut self, authority: impl AsRef<[u8]>) -> Result<(), EditError> {
        self.write(abi::EDIT_AUTHORITY, &[], authority.as_ref(), 0)
    }

    /// Replaces the status. In response phases.
    fn set_status(&mut self, status: u16) -> Result<(), EditError> {
        self.write(abi::EDIT_STATUS, &[], &[], u32::from(status))
    }

    /// Replaces the piece, or the whole body if it was buffered. In body phases.
    fn set_body(&mut self, body: impl AsRef<[u8]>) -> Result<(), EditError> {
        self.write(abi::EDIT_BODY_SET, &[], body.as_ref(), 0)
    }

    /// Appends to the piece or the whole body. In body phases.
    fn append_body(&mut self, bytes: impl AsRef<[u8]>) -> Result<(), EditError> {
        self.write(abi::EDIT_BODY_APPEND, &[], bytes.as_ref(), 0)
    }

    /// Prepends to the piece or the whole body. In body phases.
    fn prepend_body(&mut self, bytes: impl AsRef<[u8]>) -> Result<(), EditError> {
        self.write(abi::EDIT_BODY_PREPEND, &[], bytes.as_ref(), 0)
    }

    /// Removes the first bytes of the piece or the whole body. In body phases.
    fn drain_body(&mut self, bytes: u32) -> Result<(), EditError> {
        self.write(abi::EDIT_BODY_DRAIN, &[], &[], bytes)
    }

    /// Sets metadata for later filters and the access log entry.
    fn set_metadata(
        &mut self,
        space: &str,
        key: &str,
        value: impl Into<serde_json::Value>,
    ) -> Result<(), EditError> {
        let name = [space.as_bytes(), b"\0", key.as_bytes()].concat();
        self.write(abi::EDIT_METADATA, &name, value.into().to_string().as_bytes(), 0)
    }

    /// Removes metadata.
    fn remove_metadata(&mut self, space: &str, key: &str) -> Result<(), EditError> {
        let name = [space.as_bytes(), b"\0", key.as_bytes()].concat();
        self.write(abi::EDIT_METADATA, &name, &[], 0)
    }

    /// Repeats the rule lookup, with the head after all edits, before the request continues. In request phases.
    fn clear_route(&mut self) -> Result<(), EditError> {
        self.write(abi::EDIT_CLEAR_ROUTE, &[], &[], 0)
    }

    /// Selects the cluster's endpoint by its address. In request phases.
    fn set_endpoint(&mut self, address: &str, fallback: OnlyThere) -> Result<(), EditError> {
        self.write(abi::EDIT_ENDPOINT, &[], address.as_bytes(), u32::from(fallback == OnlyThere::Yes))
    }
}

/// Whether a request may go to another endpoint if the selected one is unavailable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnlyThere {
    /// Only the selected endpoint.
    Yes,
    /// Any endpoint if necessary.
    No,
}

/// Why an edit was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditError {
    /// The edit does not apply to the phase.
    Phase {
        /// Part of the message that was to be changed.
        what: &'static str,
    },
    /// The edits of the call would exceed their limit.
    TooLarge,
    /// The hook has paused: the message is changed through its [`crate::Paused`].
    Paused,
}

impl<T: sealed::EditSink> Edit for T {}

pub(crate) mod sealed {
    use super::{EditError, edit_subject, may_edit};
    use crate::phase::Phase;

    /// Destination of edits.
    #[expect(unnameable_types, reason = "nobody else implements it")]
    pub trait EditSink {
        /// Returns the phase in which the hook was called.
        fn sink_phase(&self) -> Phase;

        /// Writes a record.
        fn sink(&mut self, op: u16, name: &[u8], value: &[u8], number: u32) -> Result<(), EditError>;

        /// Writes a record if the edit applies to the phase.
        fn write(&mut self, op: u16, name: &[u8], value: &[u8], number: u32) -> Result<(), EditError> {
            if !may_edit(self.sink_phase(), op) {
                return Err(EditError::Phase { what: edit_subject(op) });
            }
            self.sink(op, name, value, number)
        }
    }
}

/// Whether the edit applies to the phase. Conditions that depend on the progress of the message are checked by the
/// host.
fn may_edit(phase: Phase, op: u16) -> bool {
    match op {
        abi::EDIT_METHOD | abi::EDIT_TARGET | abi::EDIT_AUTHORITY => phase.is_request(),
        abi::EDIT_CLEAR_ROUTE | abi::EDIT_ENDPOINT => phase.is_request(),
        abi::EDIT_STATUS => phase.is_response(),
        abi::EDIT_BODY_SET | abi::EDIT_BODY_APPEND | abi::EDIT_BODY_PREPEND | abi::EDIT_BODY_DRAIN => {
            phase.is_body()
        }
        // The host ignores metadata of a phase without later filters; it does no harm.
        abi::EDIT_METADATA => true,
        _ => phase != Phase::Log,
    }
}

/// Returns what an edit changes, in a word.
fn edit_subject(op: u16) -> &'static str {
    match op {
        abi::EDIT_METHOD => "method",
        abi::EDIT_TARGET => "target",
        abi::EDIT_AUTHORITY => "authority",
        abi::EDIT_STATUS => "status",
        abi::EDIT_BODY_SET | abi::EDIT_BODY_APPEND | abi::EDIT_BODY_PREPEND | abi::EDIT_BODY_DRAIN => "body",
        abi::EDIT_CLEAR_ROUTE => "route",
        abi::EDIT_ENDPOINT => "endpoint",
        _ => "message",
    }
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Phase { what } => return write!(f, "the {what} can't be changed in this phase"),
            Self::TooLarge => "the edits exceed the limit of the call",
            Self::Paused => "the exchange is paused: edit it through the handle of the pause",
        })
    }
}

impl std::error::Error for EditError {}
