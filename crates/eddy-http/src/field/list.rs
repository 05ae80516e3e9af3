//! Fields as positions in the bytes of a message, and the view that joins both.

use super::FieldId;
use crate::span::Span;

/// Position of a field's name and value.
///
/// Filters read it in place, so its layout is that of `eddy_field` in `abi/eddy_filter.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(4))]
pub struct Field {
    /// The name, as sent.
    pub name: Span,
    /// The value without the white space around it.
    pub value: Span,
    /// ID of the field name.
    pub id: FieldId,
    /// Whether the message's own `Connection` field makes this field hop-by-hop (RFC 9110 §7.6.1).
    ///
    /// Only unknown fields can be nominated: `Connection` never removes fields that others rely on, such as `Host`,
    /// `Authorization`, `Cookie`, the `X-Forwarded` family or any other that [`FieldId`] knows.
    pub is_nominated: bool,
    /// Whether eddy or one of its filters set the field; restrictions on fields from peers then do not apply.
    pub is_own: bool,
}

/// A field with its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldRef<'a> {
    /// The name, as sent.
    pub name: &'a [u8],
    /// The value without the white space around it.
    pub value: &'a [u8],
    /// ID of the field name.
    pub id: FieldId,
}

/// Fields of a head or trailer section, in the order sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    fields: &'a [Field],
}

impl<'a> Fields<'a> {
    /// Joins positions with the bytes that they were made for; see [`Span::of`](crate::Span::of).
    pub fn new(bytes: &'a [u8], fields: &'a [Field]) -> Self {
        Self { bytes, fields }
    }

    /// Returns the number of fields; repeated fields count each.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Returns the bytes that the positions refer to.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the positions, in the order sent.
    pub fn places(&self) -> &'a [Field] {
        self.fields
    }

    /// Iterates over all fields, in the order sent.
    pub fn iter(&self) -> impl Iterator<Item = FieldRef<'a>> + use<'a> {
        let bytes = self.bytes;
        self.fields.iter().map(move |field| FieldRef {
            name: field.name.of(bytes),
            value: field.value.of(bytes),
            id: field.id,
        })
    }

    /// Returns the value of the first field with this ID.
    pub fn first(&self, id: FieldId) -> Option<&'a [u8]> {
        self.all(id).next()
    }

    /// Iterates over the values of all fields with this ID, in the order sent.
    pub fn all(&self, id: FieldId) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let bytes = self.bytes;
        self.fields.iter().filter(move |field| field.id == id).map(move |field| field.value.of(bytes))
    }

    /// Returns the value of the first field with this name, in any case.
    pub fn first_named<'n>(&self, name: &'n [u8]) -> Option<&'a [u8]>
    where
        'a: 'n,
    {
        self.all_named(name).next()
    }

    /// Iterates over the values of all fields with this name, in any case, in the order sent.
    pub fn all_named<'n>(&self, name: &'n [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n>
    where
        'a: 'n,
    {
        let bytes = self.bytes;
        let id = FieldId::from_name(name);
        self.fields
            .iter()
            .filter(move |field| {
                field.id == id && (id.is_known() || field.name.of(bytes).eq_ignore_ascii_case(name))
            })
            .map(move |field| field.value.of(bytes))
    }
}
