//! The configuration of `message_fields`.

use std::path::PathBuf;
use std::sync::Arc;

use crate::builtin::protobuf::{MessagePath, Unreadable};

/// The configuration of `message_fields`, checked; the descriptors are read when the filter is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageFieldsConfig {
    /// The file with the descriptors.
    pub descriptors: PathBuf,
    /// What is taken from messages of requests.
    pub request: Vec<WantedField>,
    /// What is taken from messages of responses; without headers.
    pub response: Vec<WantedField>,
    /// The full name of what bodies of requests are that are of no method.
    pub request_message: Option<Arc<str>>,
    /// The full name of what bodies of responses are that are of no method.
    pub response_message: Option<Arc<str>>,
    /// Of several messages, from which fields are taken; those that become headers always from the first.
    pub which: WhichMessage,
    /// What becomes of requests whose message can't be read, though fields of it are to become headers.
    pub unreadable: Unreadable,
    /// Largest message that is looked into, bytes.
    pub message_bytes_max: usize,
    /// Whether the rule is looked up again, with the headers.
    pub is_rerouted: bool,
    /// The name of the filter for which it reads, where one says itself what it wants.
    pub reader: Option<Arc<str>>,
}

/// A field that is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedField {
    /// Its key in the metadata `message_fields`.
    pub name: Arc<str>,
    /// Where it is.
    pub at: MessagePath,
    /// Whether the metadata has, as `NAME_at`, where the values stand in the body, too.
    pub has_places: bool,
    /// The header that it becomes, in lower case; the client's own is removed.
    pub header: Option<Arc<str>>,
    /// Most values that are taken, of a field that can have several.
    pub values_max: usize,
    /// Most bytes of a text, or of bytes. A longer one is cut in the metadata, and becomes no header.
    pub value_bytes_max: usize,
}

/// Of several messages of a body, from which fields are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhichMessage {
    /// The first; the others pass unread.
    #[default]
    First,
    /// The last.
    Last,
}

impl MessageFieldsConfig {
    /// Nothing of the messages in a file.
    pub fn new(descriptors: PathBuf) -> Self {
        Self {
            descriptors,
            request: Vec::new(),
            response: Vec::new(),
            request_message: None,
            response_message: None,
            which: WhichMessage::First,
            unreadable: Unreadable::Refuse,
            message_bytes_max: MESSAGE_BYTES_DEFAULT,
            is_rerouted: false,
            reader: None,
        }
    }

    /// All fields, of requests and of responses.
    pub fn fields(&self) -> impl Iterator<Item = &WantedField> {
        self.request.iter().chain(&self.response)
    }
}

impl WantedField {
    /// One value at a path, of every message that has it.
    pub fn new(name: &str, path: &str) -> Self {
        Self {
            name: name.into(),
            at: MessagePath { path: path.into(), messages: Vec::new() },
            has_places: false,
            header: None,
            values_max: 8,
            value_bytes_max: 256,
        }
    }
}

/// Fields that choose a route stand in small messages, or at the beginning of a stream.
const MESSAGE_BYTES_DEFAULT: usize = 64 * 1024;
