//! Fields as places in the bytes of a message, and the view that joins both.

use super::FieldId;
use crate::span::Span;

/// Where a field's name and value lie.
///
/// Filters read it in place, so its layout is that of `eddy_field` in `abi/eddy_filter.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(4))]
pub struct Field {
    /// The name, as sent.
    pub name: Span,
    /// The value without the white space around it.
    pub value: Span,
    /// Which field it is.
    pub id: FieldId,
    /// Whether the message's own `Connection` field ends it at this hop (RFC 9110 §7.6.1).
    ///
    /// Only fields of unknown meaning can be so named: `Connection` never takes away what others rely on, such as
    /// `Host`, `Authorization`, `Cookie`, the `X-Forwarded` family or any other that [`FieldId`] knows.
    pub is_nominated: bool,
    /// Whether eddy or one of its filters put the field here, so that rules about what peers may say do not hold.
    pub is_own: bool,
}

/// One field, its bytes at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldRef<'a> {
    /// The name, as sent.
    pub name: &'a [u8],
    /// The value without the white space around it.
    pub value: &'a [u8],
    /// Which field it is.
    pub id: FieldId,
}

/// The fields of a head or trailer section, in the order sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fields<'a> {
    bytes: &'a [u8],
    fields: &'a [Field],
}

impl<'a> Fields<'a> {
    /// Joins places with the bytes they lie in; places outside of the bytes read as empty.
    pub fn new(bytes: &'a [u8], fields: &'a [Field]) -> Self {
        Self { bytes, fields }
    }

    /// How many fields there are, repeated ones counted each.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The bytes that the places refer to.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The places, in the order sent.
    pub fn places(&self) -> &'a [Field] {
        self.fields
    }

    /// All fields, in the order sent.
    pub fn iter(&self) -> impl Iterator<Item = FieldRef<'a>> + use<'a> {
        let bytes = self.bytes;
        self.fields.iter().map(move |field| FieldRef {
            name: field.name.of(bytes),
            value: field.value.of(bytes),
            id: field.id,
        })
    }

    /// The value of the first field with this id.
    pub fn first(&self, id: FieldId) -> Option<&'a [u8]> {
        self.all(id).next()
    }

    /// The values of all fields with this id, in the order sent.
    pub fn all(&self, id: FieldId) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let bytes = self.bytes;
        self.fields.iter().filter(move |field| field.id == id).map(move |field| field.value.of(bytes))
    }

    /// The value of the first field with this name in any case.
    pub fn first_named<'n>(&self, name: &'n [u8]) -> Option<&'a [u8]>
    where
        'a: 'n,
    {
        self.all_named(name).next()
    }

    /// The values of all fields with this name in any case, in the order sent.
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
