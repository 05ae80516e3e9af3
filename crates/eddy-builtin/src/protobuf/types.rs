//! Message types of requests and responses.

use std::collections::{BTreeSet, HashMap};

use eddy_protobuf::{MessageId, Schema};

use super::media::Media;

/// Message types of methods by path, and of bodies that belong to no method.
#[derive(Debug)]
pub(crate) struct MessageTypes {
    /// Method types by path, `/package.Service/Method`.
    methods: HashMap<Box<[u8]>, CallTypes>,
    request: Option<MessageId>,
    response: Option<MessageId>,
}

/// Message types of a method.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallTypes {
    request: MessageId,
    response: MessageId,
    is_client_streaming: bool,
    is_server_streaming: bool,
}

/// Message type of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BodyType {
    /// Type of each message.
    pub(crate) message: MessageId,
    /// Whether the body can have several messages.
    pub(crate) is_stream: bool,
}

impl MessageTypes {
    /// Collects all methods of a schema; `request` and `response` are the message types of bodies that belong to no
    /// method.
    ///
    /// # Errors
    /// The message type that the schema lacks, as a sentence.
    pub(crate) fn new(
        schema: &Schema,
        request: Option<&str>,
        response: Option<&str>,
    ) -> Result<Self, String> {
        let mut methods = HashMap::new();
        for service in schema.services() {
            for method in &service.methods {
                let types = CallTypes {
                    request: method.input,
                    response: method.output,
                    is_client_streaming: method.is_client_streaming,
                    is_server_streaming: method.is_server_streaming,
                };
                methods.insert(format!("/{}/{}", service.name, method.name).into_bytes().into(), types);
            }
        }
        let find = |name: Option<&str>| name.map(|name| find_message(schema, name)).transpose();
        Ok(Self { methods, request: find(request)?, response: find(response)? })
    }

    /// Returns the message types of the method that a request target calls.
    pub(crate) fn of_target(&self, target: &[u8]) -> Option<CallTypes> {
        let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
        self.methods.get(path).copied()
    }

    /// Returns the message type of a request body.
    pub(crate) fn of_request(&self, media: Media, call: Option<CallTypes>) -> Option<BodyType> {
        let call = call.map(|call| (call.request, call.is_client_streaming));
        body_type(media, call, self.request)
    }

    /// Returns the message type of a response body.
    pub(crate) fn of_response(&self, media: Media, call: Option<CallTypes>) -> Option<BodyType> {
        let call = call.map(|call| (call.response, call.is_server_streaming));
        body_type(media, call, self.response)
    }

    /// Returns all message types of requests.
    pub(crate) fn requests(&self) -> BTreeSet<MessageId> {
        self.methods.values().map(|call| call.request).chain(self.request).collect()
    }

    /// Returns all message types of responses.
    pub(crate) fn responses(&self) -> BTreeSet<MessageId> {
        self.methods.values().map(|call| call.response).chain(self.response).collect()
    }
}

fn body_type(media: Media, call: Option<(MessageId, bool)>, own: Option<MessageId>) -> Option<BodyType> {
    match (media, call) {
        (Media::Grpc, call) => call.map(|(message, is_stream)| BodyType { message, is_stream }),
        (Media::Message, call) => {
            let message = call.map(|(message, _)| message).or(own)?;
            Some(BodyType { message, is_stream: false })
        }
        (Media::Foreign | Media::Other, _) => None,
    }
}

/// Returns the message type with a full name.
///
/// # Errors
/// The message type does not exist; described as a sentence.
pub(super) fn find_message(schema: &Schema, name: &str) -> Result<MessageId, String> {
    schema.find_message(name).ok_or_else(|| format!("no message \"{name}\" is defined"))
}
