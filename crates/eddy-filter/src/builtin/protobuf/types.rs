//! What messages a request and its response are made of.

use std::collections::{BTreeSet, HashMap};

use eddy_protobuf::{MessageId, Schema};

use super::media::Media;

/// Knows the messages of methods by their paths, and those of bodies that are of no method.
#[derive(Debug)]
pub(in crate::builtin) struct MessageTypes {
    /// By path, `/package.Service/Method`.
    methods: HashMap<Box<[u8]>, CallTypes>,
    request: Option<MessageId>,
    response: Option<MessageId>,
}

/// What the messages of a method are.
#[derive(Clone, Copy, Debug)]
pub(in crate::builtin) struct CallTypes {
    request: MessageId,
    response: MessageId,
    is_client_streaming: bool,
    is_server_streaming: bool,
}

/// What the messages of a body are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::builtin) struct BodyType {
    /// Each of them.
    pub(in crate::builtin) message: MessageId,
    /// Whether there can be several.
    pub(in crate::builtin) is_stream: bool,
}

impl MessageTypes {
    /// All methods of a schema; `request` and `response` are names of messages for bodies that are of no method.
    ///
    /// # Errors
    /// The name of the message that the schema does not have, in a sentence.
    pub(in crate::builtin) fn new(
        schema: &Schema,
        request: Option<&str>,
        response: Option<&str>,
    ) -> Result<Self, String> {
        let mut methods = HashMap::new();
        for service in schema.services() {
            for method in service.methods() {
                let types = CallTypes {
                    request: method.input,
                    response: method.output,
                    is_client_streaming: method.is_client_streaming,
                    is_server_streaming: method.is_server_streaming,
                };
                methods.insert(format!("/{}/{}", service.name(), method.name).into_bytes().into(), types);
            }
        }
        let find = |name: Option<&str>| name.map(|name| find_message(schema, name)).transpose();
        Ok(Self { methods, request: find(request)?, response: find(response)? })
    }

    /// The messages of the method that a target calls.
    pub(in crate::builtin) fn of_target(&self, target: &[u8]) -> Option<CallTypes> {
        let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
        self.methods.get(path).copied()
    }

    /// What the body of a request is made of.
    pub(in crate::builtin) fn of_request(&self, media: Media, call: Option<CallTypes>) -> Option<BodyType> {
        let call = call.map(|call| (call.request, call.is_client_streaming));
        body_type(media, call, self.request)
    }

    /// What the body of a response is made of.
    pub(in crate::builtin) fn of_response(&self, media: Media, call: Option<CallTypes>) -> Option<BodyType> {
        let call = call.map(|call| (call.response, call.is_server_streaming));
        body_type(media, call, self.response)
    }

    /// All messages that requests are made of.
    pub(in crate::builtin) fn requests(&self) -> BTreeSet<MessageId> {
        self.methods.values().map(|call| call.request).chain(self.request).collect()
    }

    /// All messages that responses are made of.
    pub(in crate::builtin) fn responses(&self) -> BTreeSet<MessageId> {
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

/// The message with a full name.
///
/// # Errors
/// That there is none, in a sentence.
pub(super) fn find_message(schema: &Schema, name: &str) -> Result<MessageId, String> {
    schema.find_message(name).ok_or_else(|| format!("they have no message \"{name}\""))
}
