//! Checks the configuration of the filters that inspect protobuf messages.

use std::sync::Arc;

use eddy_builtin::{FieldToExtract, MessageFieldsConfig, MessagePath, RedactConfig, RedactEdit};
use eddy_spec::problem::ProblemReport;
use eddy_spec::read::{NamedEntry, Spanned};
use eddy_spec::spec::{MessageFieldSpec, MessageFieldsSpec, MessagePathSpec, RedactSpec, RequestFieldSpec};
use eddy_spec::value::{BoundedText, RecordKey, RedactEditName};

use super::context::{Surroundings, checked_field};
use super::setting::set;

/// Checks which message fields are extracted.
pub(super) fn message_fields(
    spec: MessageFieldsSpec,
    around: Surroundings<'_>,
    report: &mut ProblemReport,
) -> Option<MessageFieldsConfig> {
    let mut config = MessageFieldsConfig::new(around.folder.join(spec.descriptors?.value.0));
    for NamedEntry { name, value } in spec.request.into_iter().flat_map(|fields| fields.value.0) {
        let Some(Spanned { value: field, .. }) = value else { continue };
        let RequestFieldSpec { path, messages, header, places, values, bytes } = field;
        let mut wanted = wanted(&name.value.0, MessageFieldSpec { path, messages, places, values, bytes })?;
        wanted.header = header.and_then(|header| checked_field(&header, report));
        config.request.push(wanted);
    }
    for NamedEntry { name, value } in spec.response.into_iter().flat_map(|fields| fields.value.0) {
        let Some(Spanned { value: field, .. }) = value else { continue };
        note_repeated_key(&name, &config.request, report);
        config.response.push(wanted(&name.value.0, field)?);
    }
    let has_header = config.request.iter().any(|field| field.header.is_some());
    if let Some(reroute) = spec.reroute.filter(|reroute| reroute.value) {
        if !has_header {
            report
                .error(reroute.place, "no field becomes a header, so no other rule can match")
                .hint("add `header` to a field under `request`");
        }
        config.is_rerouted = true;
    }
    if let Some(unreadable) = spec.unreadable {
        if !has_header {
            report
                .warning(unreadable.place, "`unreadable` has an effect only if a field becomes a header")
                .hint("add `header` to a field, or leave `unreadable` out");
        }
        config.unreadable = unreadable.value;
    }
    config.request_message = name_of(spec.request_message);
    config.response_message = name_of(spec.response_message);
    set(&mut config.which, spec.which);
    let held_bytes_max = if has_header { around.policy.body_bytes_max } else { u64::MAX };
    if let Some(size) = spec.message_bytes_max.as_ref().filter(|size| size.value.0 > held_bytes_max) {
        report
            .error(
                size.place,
                "a message that is buffered with its head could exceed `body_bytes_max` of the filter",
            )
            .hint("increase `body_bytes_max` of the filter, or reduce `message_bytes_max`");
    }
    let held_bytes_max = usize::try_from(held_bytes_max).unwrap_or(usize::MAX);
    config.message_bytes_max = config.message_bytes_max.min(held_bytes_max);
    set(&mut config.message_bytes_max, spec.message_bytes_max);
    Some(config)
}

/// Reports a key of a response field that a field of the request has already.
pub(super) fn note_repeated_key(
    name: &Spanned<RecordKey>,
    request: &[FieldToExtract],
    report: &mut ProblemReport,
) {
    let key = &name.value.0;
    if request.iter().any(|other| *other.name == **key) {
        let message = format!("`{key}` is already a key under `request`, whose value it would replace");
        report.error(name.place, message).hint("use another key");
    }
}

pub(super) fn wanted(name: &str, spec: MessageFieldSpec) -> Option<FieldToExtract> {
    let mut wanted = FieldToExtract::new(name, &spec.path?.value.0);
    wanted.at.messages = names_of(spec.messages);
    set(&mut wanted.has_places, spec.places);
    set(&mut wanted.values_max, spec.values);
    set(&mut wanted.value_bytes_max, spec.bytes);
    Some(wanted)
}

/// Checks which message fields are redacted.
pub(super) fn redact(
    spec: RedactSpec,
    around: Surroundings<'_>,
    report: &mut ProblemReport,
) -> Option<RedactConfig> {
    let mut config = RedactConfig::new(around.folder.join(spec.descriptors?.value.0));
    config.options = names_of(spec.options);
    config.fields = names_of(spec.fields);
    for Spanned { value: MessagePathSpec { path, messages }, .. } in
        spec.paths.into_iter().flat_map(|at| at.value)
    {
        config.paths.push(MessagePath { path: path?.value.0.into(), messages: names_of(messages) });
    }
    let edit = spec.edit.map_or(RedactEditName::Mask, |edit| edit.value);
    if let Some(text) = spec.text.as_ref().filter(|_| edit != RedactEditName::Mask) {
        report.error(text.place, "`text` has an effect only with `edit: mask`");
    }
    config.edit = match edit {
        RedactEditName::Drop => RedactEdit::Drop,
        RedactEditName::SameLength => RedactEdit::SameLength,
        RedactEditName::Mask => RedactEdit::Mask(name_of(spec.text).unwrap_or_else(|| "***".into())),
    };
    set(&mut config.directions, spec.direction);
    config.request_message = name_of(spec.request_message);
    config.response_message = name_of(spec.response_message);
    set(&mut config.compressed, spec.compressed);
    set(&mut config.unknown, spec.unknown);
    set(&mut config.any, spec.any);
    set(&mut config.message_bytes_max, spec.message_bytes_max);
    Some(config)
}

fn names_of<const BYTES_MAX: usize>(
    names: Option<Spanned<Vec<Spanned<BoundedText<BYTES_MAX>>>>>,
) -> Vec<Arc<str>> {
    names.into_iter().flat_map(|names| names.value).map(|name| name.value.0.into()).collect()
}

pub(super) fn name_of<const BYTES_MAX: usize>(
    name: Option<Spanned<BoundedText<BYTES_MAX>>>,
) -> Option<Arc<str>> {
    name.map(|name| name.value.0.into())
}
