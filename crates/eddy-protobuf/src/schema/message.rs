//! Message descriptors.

use super::field::FieldDescriptor;
use super::id::MessageId;
use super::lookup::{NameTable, NumberTable};
use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};

/// Messages of `google.protobuf` with a special JSON form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// None: an object with the fields of the message.
    None,
    /// An object with `@type`.
    Any,
    /// A date and time.
    Timestamp,
    /// Seconds, as in `1.5s`.
    Duration,
    /// Field paths, separated by commas.
    FieldMask,
    /// Any object.
    Struct,
    /// Any value.
    Value,
    /// Any array.
    ListValue,
    /// `Int32Value` and the like: only the value of their field 1.
    Wrapper,
}

impl Special {
    pub(crate) fn of(name: &str) -> Self {
        let Some(name) = name.strip_prefix("google.protobuf.") else { return Self::None };
        match name {
            "Any" => Self::Any,
            "Timestamp" => Self::Timestamp,
            "Duration" => Self::Duration,
            "FieldMask" => Self::FieldMask,
            "Struct" => Self::Struct,
            "Value" => Self::Value,
            "ListValue" => Self::ListValue,
            "DoubleValue" | "FloatValue" | "Int64Value" | "UInt64Value" | "Int32Value" | "UInt32Value"
            | "BoolValue" | "StringValue" | "BytesValue" => Self::Wrapper,
            _ => Self::None,
        }
    }

    /// Whether such a message can be written as plain text.
    pub fn has_text_form(self) -> bool {
        matches!(self, Self::Timestamp | Self::Duration | Self::FieldMask | Self::Wrapper)
    }
}

/// A message with its fields.
#[derive(Debug)]
pub struct MessageDescriptor {
    /// Full name.
    pub name: Box<str>,
    /// Fields and known extensions, by number.
    pub fields: Box<[FieldDescriptor]>,
    pub(crate) oneofs: Box<[Box<str>]>,
    /// Special JSON form.
    pub special: Special,
    pub(crate) is_map_entry: bool,
    pub(crate) has_required: bool,
    /// The encoded `MessageOptions` of the descriptors, including extensions.
    pub options: Box<[u8]>,
    by_number: NumberTable,
    by_name: NameTable,
}

impl MessageDescriptor {
    pub(crate) fn build(
        name: Box<str>,
        is_map_entry: bool,
        oneofs: Box<[Box<str>]>,
        options: Box<[u8]>,
    ) -> Self {
        Self {
            special: Special::of(&name),
            name,
            fields: Box::default(),
            oneofs,
            is_map_entry,
            has_required: false,
            options,
            by_number: NumberTable::default(),
            by_name: NameTable::default(),
        }
    }

    /// Sets its fields, sorted by number.
    pub(crate) fn set_fields(&mut self, mut fields: Vec<FieldDescriptor>) {
        fields.sort_by_key(|field| field.number);
        let index = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
        self.has_required = fields.iter().any(|field| field.is_required);
        self.by_number =
            NumberTable::build(fields.iter().enumerate().map(|(at, field)| (field.number, index(at))));
        let mut names: Vec<(&[u8], u16)> = Vec::with_capacity(fields.len() * 2);
        // JSON names take precedence over equal declared names.
        names.extend(fields.iter().enumerate().map(|(at, field)| (field.json_name.as_bytes(), index(at))));
        for (at, field) in fields.iter().enumerate() {
            if field.json_name != field.name {
                names.push((field.name.as_bytes(), index(at)));
            }
        }
        self.by_name = NameTable::build(&names);
        self.fields = fields.into();
    }

    /// Returns the names of its oneofs.
    pub fn oneofs(&self) -> impl Iterator<Item = &str> {
        self.oneofs.iter().map(|name| &**name)
    }

    /// Returns the field with this number, and its index.
    #[inline]
    pub fn by_number(&self, number: u32) -> Option<(u16, &FieldDescriptor)> {
        let index = self.by_number.find(number)?;
        self.fields.get(usize::from(index)).map(|field| (index, field))
    }

    /// Returns the field with this JSON or declared name, and its index.
    #[inline]
    pub fn by_name(&self, name: &[u8]) -> Option<(u16, &FieldDescriptor)> {
        let field = |index: u16| self.fields.get(usize::from(index));
        let is_it = |index: u16| {
            field(index)
                .is_some_and(|field| field.json_name.as_bytes() == name || field.name.as_bytes() == name)
        };
        let index = self.by_name.find(name, is_it)?;
        field(index).map(|field| (index, field))
    }

    /// Checks that all required fields are present in a message of this type, whose id is `id`.
    pub(crate) fn check_required(
        &self,
        id: MessageId,
        offset: u64,
        is_present: impl Fn(u16) -> bool,
    ) -> ProtobufResult {
        if !self.has_required {
            return Ok(());
        }
        let is_missing = |(index, field): &(u16, &FieldDescriptor)| field.is_required && !is_present(*index);
        match (0..).zip(&self.fields).find(is_missing) {
            Some((index, _)) => {
                let field = Some((id, index));
                Err(ProtobufError { offset, kind: ProtobufErrorKind::RequiredMissing, field })
            }
            None => Ok(()),
        }
    }

    /// Returns the field with this index.
    #[inline]
    pub(crate) fn field(&self, index: u16) -> Option<&FieldDescriptor> {
        self.fields.get(usize::from(index))
    }
}
