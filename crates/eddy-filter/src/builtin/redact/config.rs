//! The configuration of `redact`.

use std::path::PathBuf;
use std::sync::Arc;

use crate::builtin::protobuf::{MessagePath, Unreadable};

/// The configuration of `redact`, checked; the descriptors are read when the filter is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedactConfig {
    /// The file with the descriptors.
    pub descriptors: PathBuf,
    /// Options of fields, as [`eddy_protobuf::Schema::find_field_option`] reads them: in all messages, at any depth.
    pub options: Vec<Arc<str>>,
    /// Full names of fields, `package.Message.field`: in all messages, at any depth.
    pub fields: Vec<Arc<str>>,
    /// Places in the messages of calls.
    pub paths: Vec<MessagePath>,
    /// What is done to all of them.
    pub edit: RedactEdit,
    /// Which messages it is done to.
    pub directions: Directions,
    /// The full name of what bodies of requests are that are of no method.
    pub request_message: Option<Arc<str>>,
    /// The full name of what bodies of responses are that are of no method.
    pub response_message: Option<Arc<str>>,
    /// What becomes of messages that are compressed.
    pub compressed: Unreadable,
    /// What becomes of messages of a type that is not known, or in a form that is not read.
    pub unknown: Unreadable,
    /// What becomes of values in a `google.protobuf.Any`.
    pub any: AnyValues,
    /// Largest message that is held because its length changes, bytes.
    pub message_bytes_max: usize,
}

/// What is done to a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedactEdit {
    /// It is left out.
    Drop,
    /// Texts and bytes become this text, numbers 0; messages and maps are left out.
    Mask(Arc<str>),
    /// Each byte of a text becomes `*`, all else 0 in as many bytes, so that messages pass as they come; messages and
    /// maps are left out.
    SameLength,
}

/// Which messages are redacted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Directions {
    /// Those of requests and responses.
    #[default]
    Both,
    /// Those of requests.
    Requests,
    /// Those of responses.
    Responses,
}

/// What becomes of values in a `google.protobuf.Any`, whose type only the message tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnyValues {
    /// They are left out where all messages at any depth are redacted.
    #[default]
    Drop,
    /// They go on as they are.
    Pass,
}

impl RedactConfig {
    /// Nothing of the messages in a file.
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

/// What gRPC's libraries take unless they are told otherwise.
const MESSAGE_BYTES_DEFAULT: usize = 4 << 20;
