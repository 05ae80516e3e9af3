//! Field descriptors.

use super::{EnumId, MessageId};
use crate::wire;

/// Type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// `double`.
    Double,
    /// `float`.
    Float,
    /// `int64`.
    Int64,
    /// `uint64`.
    Uint64,
    /// `int32`.
    Int32,
    /// `fixed64`.
    Fixed64,
    /// `fixed32`.
    Fixed32,
    /// `bool`.
    Bool,
    /// `string`.
    String,
    /// `bytes`.
    Bytes,
    /// `uint32`.
    Uint32,
    /// `sfixed32`.
    Sfixed32,
    /// `sfixed64`.
    Sfixed64,
    /// `sint32`.
    Sint32,
    /// `sint64`.
    Sint64,
    /// An enum.
    Enum(EnumId),
    /// A length-prefixed message.
    Message(MessageId),
    /// A message between group tags: a group, or one with `message_encoding = DELIMITED`.
    Group(MessageId),
}

impl FieldType {
    /// Returns the wire type of one value.
    pub(crate) fn wire_type(self) -> u8 {
        match self {
            Self::Double | Self::Fixed64 | Self::Sfixed64 => wire::FIXED64,
            Self::Float | Self::Fixed32 | Self::Sfixed32 => wire::FIXED32,
            Self::String | Self::Bytes | Self::Message(_) => wire::LENGTH,
            Self::Group(_) => wire::GROUP_START,
            Self::Int64
            | Self::Uint64
            | Self::Int32
            | Self::Bool
            | Self::Uint32
            | Self::Sint32
            | Self::Sint64
            | Self::Enum(_) => wire::VARINT,
        }
    }

    /// Whether a repeated field of this type can be packed.
    pub(crate) fn is_packable(self) -> bool {
        matches!(self.wire_type(), wire::VARINT | wire::FIXED64 | wire::FIXED32)
    }

    /// Whether a map can have keys of this type.
    ///
    /// # Spec
    /// [Maps](https://protobuf.dev/programming-guides/proto3/#maps): any integral or string type.
    pub(crate) fn can_be_map_key(self) -> bool {
        !matches!(
            self,
            Self::Double | Self::Float | Self::Bytes | Self::Enum(_) | Self::Message(_) | Self::Group(_)
        )
    }

    /// Returns the message type, if it is one.
    pub fn message(self) -> Option<MessageId> {
        match self {
            Self::Message(message) | Self::Group(message) => Some(message),
            _ => None,
        }
    }
}

/// Cardinality of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// At most once.
    Singular,
    /// Any number of times.
    Repeated,
    /// Any number of entries; the field's type is the message of an entry.
    Map,
}

/// A field of a message, or an extension of it.
#[derive(Debug)]
pub struct FieldDescriptor {
    /// Declared name; for an extension, the full name in brackets.
    pub name: Box<str>,
    /// JSON name.
    pub json_name: Box<str>,
    /// Field number.
    pub number: u32,
    /// Type.
    pub kind: FieldType,
    /// Cardinality.
    pub label: Label,
    /// JSON key with quotes and colon, preceded by a comma.
    pub(crate) json_key: Box<[u8]>,
    pub(crate) name_key: Box<[u8]>,
    pub(crate) has_presence: bool,
    pub(crate) is_packed: bool,
    /// Whether it is required, as in proto2.
    pub is_required: bool,
    pub(crate) checks_utf8: bool,
    pub(crate) oneof: Option<u16>,
    /// The encoded `FieldOptions` of the descriptors, including extensions.
    pub options: Box<[u8]>,
}

impl FieldDescriptor {
    /// Returns the index of its oneof in [`super::MessageDescriptor::oneofs`]; `None` for a merely `optional` field.
    pub fn oneof(&self) -> Option<usize> {
        self.oneof.map(usize::from)
    }
}
