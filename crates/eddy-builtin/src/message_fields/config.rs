//! Configuration of `message_fields`.

use std::path::PathBuf;
use std::sync::Arc;

use crate::protobuf::{MessagePath, Unreadable};

/// Checked configuration of `message_fields`; the descriptors are read when the filter is created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageFieldsConfig {
    /// Descriptor file.
    pub descriptors: PathBuf,
    /// Fields extracted from request messages.
    pub request: Vec<FieldToExtract>,
    /// Fields extracted from response messages; without headers.
    pub response: Vec<FieldToExtract>,
    /// Full name of the message type of request bodies that belong to no method.
    pub request_message: Option<Arc<str>>,
    /// Full name of the message type of response bodies that belong to no method.
    pub response_message: Option<Arc<str>>,
    /// Message of a stream from which fields are extracted; headers always use the first one.
    pub which: WhichMessage,
    /// Handling of requests whose message cannot be read although its fields are needed for headers.
    pub unreadable: Unreadable,
    /// Maximum size in bytes of a message that is read.
    pub message_bytes_max: usize,
    /// Whether the route is selected again, with the headers.
    pub is_rerouted: bool,
    /// Name of the filter on whose behalf fields are extracted, if a filter requests them itself.
    pub reader: Option<Arc<str>>,
}

/// Field to extract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldToExtract {
    /// Key in the metadata namespace `message_fields`.
    pub name: Arc<str>,
    /// Path of the field.
    pub at: MessagePath,
    /// Whether the metadata also has the positions of the values in the body, under the key `NAME_at`.
    pub has_places: bool,
    /// Header set to the value, in lower case; the client's own header is removed.
    pub header: Option<Arc<str>>,
    /// Maximum number of values extracted from a repeated field.
    pub values_max: usize,
    /// Maximum size in bytes of a string or bytes value. A longer one is cut in the metadata, and not sent as a header.
    pub value_bytes_max: usize,
}

/// Message of a stream from which fields are extracted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhichMessage {
    /// The first; the others are not read.
    #[default]
    First,
    /// The last.
    Last,
}

impl MessageFieldsConfig {
    /// Creates a configuration that extracts nothing.
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

    /// Returns all fields, of requests and responses.
    pub fn fields(&self) -> impl Iterator<Item = &FieldToExtract> {
        self.request.iter().chain(&self.response)
    }
}

impl FieldToExtract {
    /// Creates the configuration of a field at a path, in every message that has it.
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

/// Fields that select a route are in small messages, or at the beginning of a stream.
const MESSAGE_BYTES_DEFAULT: usize = 64 * 1024;
