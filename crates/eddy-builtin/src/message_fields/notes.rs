//! Output of extracted values: metadata and headers.

use eddy_filter::{DynamicMetadata, FieldPlace, FilterEdit, MESSAGE_FIELDS_SPACE, push_field_places};
use eddy_protobuf::{FieldValue, Schema, ValueSpan, Values};

use super::config::WhichMessage;
use super::plan::{ExtractedField, Extraction};
use super::value::TypedFieldValue;
use crate::library::PhaseContext;

/// Where extracted values go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExtractionOutput {
    /// Only into the metadata.
    Metadata,
    /// Into the metadata, and into the headers of the request.
    WithHeaders,
}

/// Result of extracting the fields of messages.
#[derive(Debug, Default)]
pub(super) struct ExtractionReport {
    /// Number of values for which there was no room.
    pub(super) left_out: u64,
    /// Whether a value for a header is missing.
    pub(super) is_header_missing: bool,
    /// Whether any header was added.
    pub(super) has_headers: bool,
}

/// Writer of the values of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExtractionWriter<'a> {
    pub(super) schema: &'a Schema,
    pub(super) which: WhichMessage,
}

impl<'a> ExtractionWriter<'a> {
    /// Writes the values of a message that begins at offset `begin` of the body.
    pub(super) fn write(
        self,
        extraction: &Extraction,
        (values, begin): (&Values<'_>, u64),
        output: ExtractionOutput,
        answer: &mut PhaseContext<'_>,
    ) -> ExtractionReport {
        let mut found = ExtractionReport::default();
        let mut notes = Notes::new(answer.view.about().metadata, self.which);
        let mut text = Vec::new();
        for field in &extraction.fields {
            text.clear();
            self.push_json(field, values, &mut text);
            found.left_out += notes.note(&field.wanted.name, &text, answer);
            if field.wanted.has_places {
                text.clear();
                let spans = values.spans(field.slot).take(field.wanted.values_max);
                let place =
                    |span: ValueSpan| FieldPlace { offset: begin + span.offset, length: span.length.into() };
                push_field_places(spans.map(place), &mut text);
                found.left_out += notes.note(&field.places_key, &text, answer);
            }
            let Some(header) =
                field.wanted.header.as_deref().filter(|_| output == ExtractionOutput::WithHeaders)
            else {
                continue;
            };
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

    /// Appends the values of a field as JSON: nothing if it is absent, an array if it is repeated.
    fn push_json(self, field: &ExtractedField, values: &Values<'_>, out: &mut Vec<u8>) {
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

    /// Adds one header per value and returns their number; `None` if a value is too long.
    fn add_header(
        self,
        field: &ExtractedField,
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

    fn shown(self, field: &ExtractedField, value: FieldValue<'a>) -> TypedFieldValue<'a> {
        let names = field.enumeration().map(|id| self.schema.enumeration(id));
        TypedFieldValue { value, kind: field.kind, names }
    }
}

/// Writer of metadata entries, within the limits of the metadata.
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

    /// Writes a value; returns the number of values omitted for lack of room.
    fn note(&mut self, key: &str, value: &[u8], answer: &mut PhaseContext<'_>) -> u64 {
        if value.is_empty() && self.which == WhichMessage::First {
            // The field is absent, and there is no value of an earlier message to remove.
            return 0;
        }
        let size = MESSAGE_FIELDS_SPACE.len() + key.len() + value.len();
        let (entries, bytes) = (self.entries + 1, self.bytes + size);
        let has_room = self.metadata.is_none_or(|metadata| metadata.has_room(entries, bytes));
        if size > METADATA_ENTRY_BYTES_MAX || !has_room {
            return 1;
        }
        (self.entries, self.bytes) = (entries, bytes);
        answer.edit(&FilterEdit::Metadata { space: MESSAGE_FIELDS_SPACE, key: key.as_bytes(), value });
        0
    }
}

/// Maximum size in bytes of one field's metadata entry.
const METADATA_ENTRY_BYTES_MAX: usize = 8 * 1024;
