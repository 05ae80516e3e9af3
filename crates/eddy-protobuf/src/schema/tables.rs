//! The schema: all messages, enums and services.

use std::collections::HashMap;

use super::enumeration::{EnumId, Enumeration};
use super::id::MessageId;
use super::message::MessageDescriptor;
use super::service::ServiceDescriptor;

/// Everything that a `FileDescriptorSet` describes; immutable.
#[derive(Debug, Default)]
pub struct Schema {
    pub(crate) messages: Vec<MessageDescriptor>,
    pub(crate) enums: Vec<Enumeration>,
    pub(crate) services: Vec<ServiceDescriptor>,
    pub(crate) names: HashMap<Box<str>, SchemaSymbol>,
}

/// Target of a full name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaSymbol {
    Message(MessageId),
    Enum(EnumId),
    Service(usize),
}

impl Schema {
    /// Returns the message with a full name, `package.Message`.
    pub fn find_message(&self, name: &str) -> Option<MessageId> {
        match self.names.get(name)? {
            SchemaSymbol::Message(message) => Some(*message),
            SchemaSymbol::Enum(_) | SchemaSymbol::Service(_) => None,
        }
    }

    /// Returns the service with a full name.
    pub fn find_service(&self, name: &str) -> Option<&ServiceDescriptor> {
        match self.names.get(name)? {
            SchemaSymbol::Service(index) => self.services.get(*index),
            SchemaSymbol::Message(_) | SchemaSymbol::Enum(_) => None,
        }
    }

    /// Returns a message of this schema.
    ///
    /// # Panics
    /// If `message` is of another schema that has more messages.
    #[inline]
    pub fn message(&self, message: MessageId) -> &MessageDescriptor {
        self.messages.get(message.0 as usize).expect("a message of this schema")
    }

    /// Returns an enum of this schema.
    ///
    /// # Panics
    /// If `id` is of another schema that has more enums.
    #[inline]
    pub fn enumeration(&self, id: EnumId) -> &Enumeration {
        self.enums.get(id.0 as usize).expect("an enum of this schema")
    }

    /// Returns all messages, including map entries.
    pub fn messages(&self) -> impl Iterator<Item = (MessageId, &MessageDescriptor)> {
        self.messages.iter().zip(0..).map(|(message, id)| (MessageId(id), message))
    }

    /// Returns all services.
    pub fn services(&self) -> &[ServiceDescriptor] {
        &self.services
    }

    /// Returns the message named by the type URL of an `Any`: the text after its last slash.
    pub(crate) fn find_by_url(&self, url: &[u8]) -> Option<MessageId> {
        let slash = url.iter().rposition(|byte| *byte == b'/')?;
        let name = std::str::from_utf8(url.get(slash + 1..)?).ok()?;
        self.find_message(name)
    }
}
