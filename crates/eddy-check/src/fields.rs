//! Checks the protobuf message fields that Go, Lua, Wasm and native filters read.
//!
//! The fields are extracted by built-in `message_fields` filters on either side of the reading filter. Requests pass
//! the list of a listener from its beginning, responses from its end, so a message reaches the filter directly after it
//! has been read.

use std::path::Path;

use eddy_builtin::{BuiltinConfig, FieldToExtract, MessageFieldsConfig};
use eddy_config::{FilterConfig, FilterKind};
use eddy_ids::{FilterId, Shared, SlotsDraft};
use eddy_spec::problem::{ProblemReport, SourceSpan};
use eddy_spec::read::{NamedEntry, NamedMap, Spanned};
use eddy_spec::spec::{FilterFieldSpec, FilterFieldsSpec, MessageFieldSpec};
use eddy_spec::value::RecordKey;

use super::messages::{name_of, note_repeated_key, wanted};

/// Filters under construction, by name.
pub(super) type FiltersDraft<'l> = SlotsDraft<'l, FilterId, Shared<str>, FilterConfig>;

/// The `message_fields` filters that read messages for a filter.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Readers {
    /// Reads requests; placed before the filter.
    pub(super) request: Option<FilterId>,
    /// Reads responses; placed after the filter.
    pub(super) response: Option<FilterId>,
}

impl Readers {
    /// Returns those that exist.
    pub(super) fn all(self) -> impl Iterator<Item = FilterId> {
        self.request.into_iter().chain(self.response)
    }
}

/// Message fields that are extracted for a filter.
#[derive(Debug)]
pub(super) struct FilterMessageFields {
    pub(super) request: Option<MessageFieldsConfig>,
    pub(super) response: Option<MessageFieldsConfig>,
}

/// Checks the message fields that a filter reads.
pub(super) fn check_fields(
    spec: &FilterFieldsSpec,
    (reader, folder): (&Shared<str>, &Path),
    body_bytes_max: u64,
    report: &mut ProblemReport,
) -> Option<FilterMessageFields> {
    let mut config = MessageFieldsConfig::new(folder.join(&spec.descriptors.as_ref()?.value.0));
    config.reader = Some(Shared::clone(reader).into());
    config.request_message = name_of(spec.request_message.clone());
    config.response_message = name_of(spec.response_message.clone());
    config.message_bytes_max =
        usize::try_from(body_bytes_max).unwrap_or(MESSAGE_BYTES_MAX).min(MESSAGE_BYTES_MAX);
    let request = fields_of(spec.request.as_ref(), &[], report)?;
    let response = fields_of(spec.response.as_ref(), &request, report)?;
    let one = |fields: Vec<FieldToExtract>| (!fields.is_empty()).then(|| config.clone()).zip(Some(fields));
    let request = one(request).map(|(config, request)| MessageFieldsConfig { request, ..config });
    let response = one(response).map(|(config, response)| MessageFieldsConfig { response, ..config });
    Some(FilterMessageFields { request, response })
}

fn fields_of(
    fields: Option<&Spanned<NamedMap<RecordKey, FilterFieldSpec>>>,
    request: &[FieldToExtract],
    report: &mut ProblemReport,
) -> Option<Vec<FieldToExtract>> {
    let mut all = Vec::new();
    for NamedEntry { name, value } in fields.into_iter().flat_map(|fields| &fields.value.0) {
        let Some(Spanned { value: FilterFieldSpec { path, messages, values }, .. }) = value.clone() else {
            continue;
        };
        note_repeated_key(name, request, report);
        let spec = MessageFieldSpec { path, messages, places: None, values, bytes: None };
        all.push(FieldToExtract { has_places: true, ..wanted(&name.value.0, spec)? });
    }
    Some(all)
}

/// Reports keys that filters of one list give to different fields: one filter would read the value of the other.
pub(super) fn note_conflicts(
    list: &[FilterId],
    filters: &FiltersDraft<'_>,
    place: SourceSpan,
    report: &mut ProblemReport,
) {
    let reading = |id: &FilterId| {
        let FilterConfig { name, kind, .. } = filters.get(*id)?;
        let FilterKind::Builtin(BuiltinConfig::MessageFields(config)) = kind else { return None };
        Some((name, config))
    };
    let Some((_, own)) = list.last().and_then(reading) else { return };
    for (name, other) in list.iter().rev().skip(1).filter_map(reading) {
        if own.reader.is_none() && other.reader.is_none() || own.reader == other.reader {
            continue;
        }
        let mut fields = own.fields();
        let is_other = |field: &&FieldToExtract, of: &FieldToExtract| {
            field.name == of.name && (field.at != of.at || own.descriptors != other.descriptors)
        };
        if let Some(field) = fields.find(|field| other.fields().any(|of| is_other(field, of))) {
            let other = other.reader.as_deref().unwrap_or(name);
            let message =
                format!("`{}` is a different field in the filter `{other}` of this list", field.name);
            report.error(place, message).hint("use another key in one of them");
        }
    }
}

/// Maximum size of a message that is read, even if the filter may buffer more.
const MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
