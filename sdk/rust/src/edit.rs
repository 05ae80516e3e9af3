//! Changes to the message.

use std::fmt;

use crate::abi;
use crate::field::FieldName;
use crate::phase::Phase;

/// Changes to the message, by a hook through its [`crate::Exchange`] or later through its [`crate::Paused`].
///
/// The host checks every change as it checks what a peer sends, when the hook has returned. One that it refuses is a fault of
/// the filter: a control byte, a field that frames the message or ends at a hop, too much of anything.
///
/// # Errors
/// Each method fails with [`EditError::Phase`] where the phase has no such thing to change, and with [`EditError::TooLarge`]
/// where the edits of the call would be more than 16 MiB. Then nothing has been changed.
pub trait Edit: sealed::EditSink {
    /// One field in the place of all of this name.
    fn set(&mut self, name: impl FieldName, value: impl AsRef<[u8]>) -> Result<(), EditError> {
        self.write(abi::EDIT_SET, name.name(), value.as_ref(), 0)
    }

    /// One more field.
    fn add(&mut self, name: impl FieldName, value: impl AsRef<[u8]>) -> Result<(), EditError> {
        self.write(abi::EDIT_ADD, name.name(), value.as_ref(), 0)
    }

    /// No field of this name any more.
    fn remove(&mut self, name: impl FieldName) -> Result<(), EditError> {
        self.write(abi::EDIT_REMOVE, name.name(), &[], 0)
    }

    /// Another method. In request phases.
    fn set_method(&mut self, method: &str) -> Result<(), EditError> {
        self.write(abi::EDIT_METHOD, &[], method.as_bytes(), 0)
    }

    /// Another path and query: what is sent, normalised. The rule's own rewrite is void then. In request phases.
    fn set_target(&mut self, target: impl AsRef<[u8]>) -> Result<(), EditError> {
        self.write(abi::EDIT_TARGET, &[], target.as_ref(), 0)
    }

    /// Another host, or host and port. In request phases.
    fn set_authority(&mut self, authority: impl AsRef<[u8]>) -> Result<(), EditError> {
        self.write(abi::EDIT_AUTHORITY, &[], authority.as_ref(), 0)
    }

    /// Another status. In response phases.
    fn set_status(&mut self, status: u16) -> Result<(), EditError> {
        self.write(abi::EDIT_STATUS, &[], &[], u32::from(status))
    }

    /// This in the place of the piece, or of the whole body where it was collected. In body phases.
    fn set_body(&mut self, body: impl AsRef<[u8]>) -> Result<(), EditError> {
        self.write(abi::EDIT_BODY_SET, &[], body.as_ref(), 0)
    }

    /// This behind the piece or the whole body. In body phases.
    fn append_body(&mut self, bytes: impl AsRef<[u8]>) -> Result<(), EditError> {
        self.write(abi::EDIT_BODY_APPEND, &[], bytes.as_ref(), 0)
    }

    /// This before the piece or the whole body. In body phases.
    fn prepend_body(&mut self, bytes: impl AsRef<[u8]>) -> Result<(), EditError> {
        self.write(abi::EDIT_BODY_PREPEND, &[], bytes.as_ref(), 0)
    }

    /// Without the first bytes of the piece or the whole body. In body phases.
    fn drain_body(&mut self, bytes: u32) -> Result<(), EditError> {
        self.write(abi::EDIT_BODY_DRAIN, &[], &[], bytes)
    }

    /// Notes something for later filters and the access record.
    fn set_metadata(
        &mut self,
        space: &str,
        key: &str,
        value: impl Into<serde_json::Value>,
    ) -> Result<(), EditError> {
        let name = [space.as_bytes(), b"\0", key.as_bytes()].concat();
        self.write(abi::EDIT_METADATA, &name, value.into().to_string().as_bytes(), 0)
    }

    /// Takes a note away.
    fn remove_metadata(&mut self, space: &str, key: &str) -> Result<(), EditError> {
        let name = [space.as_bytes(), b"\0", key.as_bytes()].concat();
        self.write(abi::EDIT_METADATA, &name, &[], 0)
    }

    /// Has the rule looked up again, with the head as it is then, before the request goes on. In request phases.
    fn clear_route(&mut self) -> Result<(), EditError> {
        self.write(abi::EDIT_CLEAR_ROUTE, &[], &[], 0)
    }

    /// The endpoint of the cluster to send to, by its address. In request phases.
    fn set_endpoint(&mut self, address: &str, fallback: OnlyThere) -> Result<(), EditError> {
        self.write(abi::EDIT_ENDPOINT, &[], address.as_bytes(), u32::from(fallback == OnlyThere::Yes))
    }
}

/// Whether a request may go to another endpoint where the wanted one cannot take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnlyThere {
    /// It goes there or nowhere.
    Yes,
    /// It may go to another one.
    No,
}

/// Why a change was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditError {
    /// The phase has no such thing to change.
    Phase {
        /// What was to be changed.
        what: &'static str,
    },
    /// The edits of the call would be more than their limit.
    TooLarge,
    /// The hook has paused: whoever holds the [`crate::Paused`] changes the message through that.
    Paused,
}

impl<T: sealed::EditSink> Edit for T {}

pub(crate) mod sealed {
    use super::{EditError, may_edit, what_of};
    use crate::phase::Phase;

    /// Where edits go.
    #[expect(unnameable_types, reason = "nobody else implements it")]
    pub trait EditSink {
        /// The phase in which the hook was entered.
        fn sink_phase(&self) -> Phase;

        /// Writes a record.
        fn sink(&mut self, op: u16, name: &[u8], value: &[u8], number: u32) -> Result<(), EditError>;

        /// Writes a record if the phase has something for it to change.
        fn write(&mut self, op: u16, name: &[u8], value: &[u8], number: u32) -> Result<(), EditError> {
            if !may_edit(self.sink_phase(), op) {
                return Err(EditError::Phase { what: what_of(op) });
            }
            self.sink(op, name, value, number)
        }
    }
}

/// Whether the phase has something for this edit to change. What depends on how far the message has gone is the host's to judge.
fn may_edit(phase: Phase, op: u16) -> bool {
    match op {
        abi::EDIT_METHOD | abi::EDIT_TARGET | abi::EDIT_AUTHORITY => phase.is_request(),
        abi::EDIT_CLEAR_ROUTE | abi::EDIT_ENDPOINT => phase.is_request(),
        abi::EDIT_STATUS => phase.is_response(),
        abi::EDIT_BODY_SET | abi::EDIT_BODY_APPEND | abi::EDIT_BODY_PREPEND | abi::EDIT_BODY_DRAIN => {
            phase.is_body()
        }
        // The host ignores notes of a phase in which nobody follows; they do no harm.
        abi::EDIT_METADATA => true,
        _ => phase != Phase::Log,
    }
}

/// What an edit changes, in a word.
fn what_of(op: u16) -> &'static str {
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
            Self::TooLarge => "the edits of the call are larger than their limit",
            Self::Paused => "the exchange is paused: change it through the handle of the pause",
        })
    }
}

impl std::error::Error for EditError {}
