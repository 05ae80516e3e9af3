//! Configuration of `redact`.

use std::path::PathBuf;
use std::sync::Arc;

use crate::protobuf::{MessagePath, Unreadable};

/// Checked configuration of `redact`; the descriptors are read when the filter is created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedactConfig {
    /// Descriptor file.
    pub descriptors: PathBuf,
    /// Field options, as read by [`eddy_protobuf::Schema::find_field_option`]: fields with them are redacted in all
    /// messages, at any depth.
    pub options: Vec<Arc<str>>,
    /// Full names of fields, `package.Message.field`: redacted in all messages, at any depth.
    pub fields: Vec<Arc<str>>,
    /// Paths in the messages of calls.
    pub paths: Vec<MessagePath>,
    /// Edit applied to all these fields.
    pub edit: RedactEdit,
    /// Messages that are redacted.
    pub directions: Directions,
    /// Full name of the message type of request bodies that belong to no method.
    pub request_message: Option<Arc<str>>,
    /// Full name of the message type of response bodies that belong to no method.
    pub response_message: Option<Arc<str>>,
    /// Handling of compressed messages.
    pub compressed: Unreadable,
    /// Handling of messages of an unknown type or in an unsupported format.
    pub unknown: Unreadable,
    /// Handling of values in a `google.protobuf.Any`.
    pub any: AnyValues,
    /// Maximum size in bytes of a message that is held because its length changes.
    pub message_bytes_max: usize,
}

/// Edit of a redacted field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedactEdit {
    /// The field is removed.
    Drop,
    /// Strings and bytes are replaced by this text, numbers by 0; messages and maps are removed.
    Mask(Arc<str>),
    /// Each byte of a string becomes `*`, all other values 0 of the same length, so that messages can be streamed;
    /// messages and maps are removed.
    SameLength,
}

/// Messages that are redacted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Directions {
    /// Messages of requests and responses.
    #[default]
    Both,
    /// Messages of requests.
    Requests,
    /// Messages of responses.
    Responses,
}

/// Handling of values in a `google.protobuf.Any`, whose type is known only from the message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnyValues {
    /// They are removed if fields are redacted in all messages at any depth.
    #[default]
    Drop,
    /// They are passed unchanged.
    Pass,
}

impl RedactConfig {
    /// Creates a configuration that redacts nothing.
    pub fn new(descriptors: PathBuf) -> Self {
        Self {
            descriptors,
            options: Vec::new(),
            fields: Vec::new(),
            paths: Vec::new(),
            edit: RedactEdit::Mask("***".into()),
            directions: Directions::Both,
            request_message: None,
            response_message: None,
            compressed: Unreadable::Refuse,
            unknown: Unreadable::Refuse,
            any: AnyValues::Drop,
            message_bytes_max: MESSAGE_BYTES_DEFAULT,
        }
    }
}

impl Directions {
    pub(super) fn has_requests(self) -> bool {
        self != Self::Responses
    }

    pub(super) fn has_responses(self) -> bool {
        self != Self::Requests
    }
}

/// Default of gRPC libraries.
const MESSAGE_BYTES_DEFAULT: usize = 4 << 20;
