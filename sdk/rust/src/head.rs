//! A head or trailer section as seen by a filter.

use std::fmt;
use std::str;

use crate::abi;
use crate::crossing::{CallContext, HeadSection};
use crate::field::{FieldId, FieldName};
use crate::view::RawHead;

/// A head or trailer section; the returned data is valid until the hook returns.
#[derive(Clone, Copy)]
pub struct Head<'a> {
    source: HeadSource<'a>,
}

#[derive(Clone, Copy)]
enum HeadSource<'a> {
    /// Of the exchange, possibly changed by edits.
    Crossing(&'a CallContext<'a>, HeadSection),
    /// Of another message, unchanged.
    Raw(RawHead<'a>),
}

/// One header or trailer field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// Name as sent: in any case over HTTP/1.
    pub name: &'a [u8],
    /// Value, without surrounding white space.
    pub value: &'a [u8],
    /// Number of the name, if eddy knows it.
    pub id: Option<FieldId>,
    /// Whether the message's `Connection` header names it, so that it is not forwarded.
    pub is_nominated: bool,
}

/// Iterator over the fields of a section, in the order sent.
#[derive(Clone)]
pub struct Fields<'a> {
    head: RawHead<'a>,
    rest: std::slice::Iter<'a, abi::AbiField>,
}

impl<'a> Head<'a> {
    pub(crate) fn of_crossing(crossing: &'a CallContext<'a>, section: HeadSection) -> Self {
        Self { source: HeadSource::Crossing(crossing, section) }
    }

    pub(crate) fn of_raw(head: RawHead<'a>) -> Self {
        Self { source: HeadSource::Raw(head) }
    }

    /// Returns the value of the first field of this name.
    ///
    /// # Cost
    /// Compares each field's number or the length of its name.
    #[must_use]
    pub fn get(&self, name: impl FieldName) -> Option<&'a [u8]> {
        self.all(name).next()
    }

    /// Returns the value of the first field of this name, if it is UTF-8.
    #[must_use]
    pub fn get_str(&self, name: impl FieldName) -> Option<&'a str> {
        self.get(name).and_then(|value| str::from_utf8(value).ok())
    }

    /// Whether there is a field of this name.
    #[must_use]
    pub fn has(&self, name: impl FieldName) -> bool {
        self.get(name).is_some()
    }

    /// Returns the values of all fields of this name, in order.
    pub fn all<N: FieldName>(&self, name: N) -> impl Iterator<Item = &'a [u8]> + use<'a, N> {
        let head = match self.source {
            HeadSource::Raw(head) => head,
            HeadSource::Crossing(crossing, section) if crossing.is_edited(section, Some(name.name())) => {
                crossing.edited_head(section)
            }
            HeadSource::Crossing(crossing, section) => crossing.raw_head(section),
        };
        let found = head.fields.iter().filter(move |field| match name.id() {
            Some(id) => field.id == id.number(),
            None => {
                let span = field.name;
                (span.end.wrapping_sub(span.start)) as usize == name.name().len()
                    && head.span(span).eq_ignore_ascii_case(name.name())
            }
        });
        found.map(move |field| head.span(field.value))
    }

    /// Returns all fields, in order.
    #[must_use]
    pub fn fields(&self) -> Fields<'a> {
        let head = match self.source {
            HeadSource::Raw(head) => head,
            HeadSource::Crossing(crossing, section) if crossing.is_edited(section, None) => {
                crossing.edited_head(section)
            }
            HeadSource::Crossing(crossing, section) => crossing.raw_head(section),
        };
        Fields { head, rest: head.fields.iter() }
    }

    /// Returns the number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fields().len()
    }

    /// Whether there is no field.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let field = self.rest.next()?;
        Some(Field {
            name: self.head.span(field.name),
            value: self.head.span(field.value),
            id: FieldId::from_number(field.id),
            is_nominated: field.flags & abi::FIELD_NOMINATED != 0,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rest.size_hint()
    }
}

impl ExactSizeIterator for Fields<'_> {}

impl<'a> IntoIterator for Head<'a> {
    type Item = Field<'a>;
    type IntoIter = Fields<'a>;

    fn into_iter(self) -> Fields<'a> {
        self.fields()
    }
}

impl fmt::Debug for Head<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.fields();
        let lossy = |bytes| String::from_utf8_lossy(bytes).into_owned();
        f.debug_map().entries(fields.map(|field| (lossy(field.name), lossy(field.value)))).finish()
    }
}

impl fmt::Debug for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}
