//! What is told of a message: in the metadata, and as headers.

use eddy_protobuf::{FieldValue, ValueSpan, Values};

use super::config::WhichMessage;
use super::filter::MessageFields;
use super::places::{FieldPlace, push_places};
use super::plan::{TakenField, Taking};
use super::value::TypedFieldValue;
use crate::builtin::library::PhaseContext;
use crate::edit::FilterEdit;
use crate::metadata::DynamicMetadata;
use crate::view::ExchangeView;

/// What came of a message.
#[derive(Debug, Default)]
pub(super) struct ExtractionReport {
    /// Values that there was no room for.
    pub(super) left_out: u64,
    /// Whether one of them was to become a header.
    pub(super) is_header_missing: bool,
    /// Whether any became one.
    pub(super) has_headers: bool,
}

impl MessageFields {
    /// Notes the values of a message, which begins there in the body.
    pub(super) fn show(
        &self,
        taking: &Taking,
        (values, begin): (&Values<'_>, u64),
        has_headers: bool,
        view: &ExchangeView<'_>,
        answer: &mut PhaseContext<'_>,
    ) -> ExtractionReport {
        let mut found = ExtractionReport::default();
        let mut notes = Notes::new(view.about.metadata, self.config.which);
        let mut text = Vec::new();
        for field in &taking.fields {
            text.clear();
            self.push_json(field, values, &mut text);
            found.left_out += notes.note(&field.wanted.name, &text, answer);
            if field.wanted.has_places {
                text.clear();
                let spans = values.spans(field.slot).take(field.wanted.values_max);
                let place =
                    |span: ValueSpan| FieldPlace { offset: begin + span.offset, length: span.length.into() };
                push_places(spans.map(place), &mut text);
                found.left_out += notes.note(&field.places_key, &text, answer);
            }
            let Some(header) = field.wanted.header.as_deref().filter(|_| has_headers) else { continue };
            match self.add_header(field, header, values, answer) {
                Some(count) => found.has_headers |= count > 0,
                None => {
                    found.left_out += 1;
                    found.is_header_missing = true;
                }
            }
        }
        found
    }

    /// Appends the values of a field as JSON: nothing if it is absent, a list if it can have several.
    fn push_json(&self, field: &TakenField, values: &Values<'_>, out: &mut Vec<u8>) {
        let all = values.all(field.slot).take(field.wanted.values_max);
        for (at, value) in all.enumerate() {
            if field.is_repeated {
                out.push(if at == 0 { b'[' } else { b',' });
            }
            self.shown(field, value).push_json(field.wanted.value_bytes_max, out);
        }
        if field.is_repeated && !out.is_empty() {
            out.push(b']');
        }
    }

    /// Makes a field a header, of which there are as many as values; none where one is too long.
    fn add_header(
        &self,
        field: &TakenField,
        header: &str,
        values: &Values<'_>,
        answer: &mut PhaseContext<'_>,
    ) -> Option<usize> {
        let mut text = Vec::new();
        let mut count = 0;
        for value in values.all(field.slot).take(field.wanted.values_max) {
            text.clear();
            if !self.shown(field, value).push_header(field.wanted.value_bytes_max, &mut text) {
                return None;
            }
            answer.edit(&FilterEdit::Add { name: header.as_bytes(), value: &text });
            count += 1;
        }
        Some(count)
    }

    fn shown<'v>(&'v self, field: &TakenField, value: FieldValue<'v>) -> TypedFieldValue<'v> {
        let names = field.enumeration().map(|id| self.schema.enumeration(id));
        TypedFieldValue { value, kind: field.kind, names }
    }
}

/// What is noted of a message, within what there is room for.
struct Notes<'a> {
    metadata: Option<&'a DynamicMetadata>,
    which: WhichMessage,
    entries: usize,
    bytes: usize,
}

impl<'a> Notes<'a> {
    fn new(metadata: Option<&'a DynamicMetadata>, which: WhichMessage) -> Self {
        Self { metadata, which, entries: 0, bytes: 0 }
    }

    /// Notes a value; how many were left out for want of room.
    fn note(&mut self, key: &str, value: &[u8], answer: &mut PhaseContext<'_>) -> u64 {
        if value.is_empty() && self.which == WhichMessage::First {
            // There is nothing to note, and nothing of a message before.
            return 0;
        }
        let size = SPACE.len() + key.len() + value.len();
        let (entries, bytes) = (self.entries + 1, self.bytes + size);
        let has_room = self.metadata.is_none_or(|metadata| metadata.has_room(entries, bytes));
        if size > NOTED_BYTES_MAX || !has_room {
            return 1;
        }
        (self.entries, self.bytes) = (entries, bytes);
        answer.edit(&FilterEdit::Metadata { space: SPACE, key: key.as_bytes(), value });
        0
    }
}

/// Where the values stand in the metadata.
pub(super) const SPACE: &[u8] = b"message_fields";
/// Most bytes of one field's values in the metadata.
const NOTED_BYTES_MAX: usize = 8 * 1024;
