//! Check of the YAML tree against the messages of the API.

use std::borrow::Cow;

use base64ct::{Base64Unpadded, Encoding};
use eddy_spec::problem::{ProblemReport, shown};
use eddy_spec::yaml::{YamlNode, YamlNodeKind};

use super::api::{Api, EnvoyApiField, FieldCardinality};

/// Replaces enumeration values by the API's spelling: Envoy reads their names in any case.
pub(super) fn spell_enums(node: &mut YamlNode<'_>, message: &str) {
    let name = match kind_of(message) {
        MessageJsonForm::Message => message.to_owned(),
        MessageJsonForm::Any => match type_of(node) {
            Some(name) => name.to_owned(),
            None => return,
        },
        MessageJsonForm::Value | MessageJsonForm::Scalar(_) => return,
    };
    let (YamlNodeKind::Mapping { entries, .. }, Some(known)) = (&mut node.form, Api::get().message(&name))
    else {
        return;
    };
    for entry in entries {
        let Some(field) = known.field(&entry.key.text) else { continue };
        match (field.count, &mut entry.value.form) {
            (FieldCardinality::One, _) => spell_value(&mut entry.value, field.kind),
            (FieldCardinality::List, YamlNodeKind::List(elements)) => {
                elements.iter_mut().for_each(|element| spell_value(element, field.kind));
            }
            (FieldCardinality::Map, YamlNodeKind::Mapping { entries, .. }) => {
                entries.iter_mut().for_each(|entry| spell_value(&mut entry.value, field.kind));
            }
            (FieldCardinality::List | FieldCardinality::Map, _) => {}
        }
    }
}

fn spell_value(node: &mut YamlNode<'_>, kind: &'static str) {
    let Some(values) = Api::get().values(kind) else {
        if kind.contains('.') {
            spell_enums(node, kind);
        }
        return;
    };
    if let YamlNodeKind::Text { text, .. } = &mut node.form
        && let Some(value) = values.iter().find(|value| value.eq_ignore_ascii_case(text))
    {
        *text = Cow::Borrowed(*value);
    }
}

/// Checks that a node is a message of this name; each problem is reported with its path.
pub(super) fn check(node: &YamlNode<'_>, message: &str, path: &str, report: &mut ProblemReport) {
    let kind = kind_of(message);
    match (kind, &node.form) {
        (_, YamlNodeKind::Refused) => {}
        (MessageJsonForm::Any, YamlNodeKind::Mapping { .. }) => check_any(node, path, report),
        (MessageJsonForm::Value, _) => {}
        (MessageJsonForm::Scalar(scalar), _) => check_scalar(node, scalar, path, report),
        (MessageJsonForm::Message, YamlNodeKind::Mapping { .. }) => check_fields(node, message, path, report),
        (MessageJsonForm::Message | MessageJsonForm::Any, _) => {
            report.error(node.place, format!("`{path}` must be a mapping, a `{message}`"));
        }
    }
}

/// Form of a message in JSON.
enum MessageJsonForm {
    Message,
    Any,
    /// Any JSON value.
    Value,
    /// Scalar: a wrapper, duration or timestamp.
    Scalar(&'static str),
}

fn kind_of(message: &str) -> MessageJsonForm {
    match message {
        "google.protobuf.Any" => MessageJsonForm::Any,
        "google.protobuf.Struct" | "google.protobuf.Value" | "google.protobuf.ListValue" => {
            MessageJsonForm::Value
        }
        "google.protobuf.Duration" => MessageJsonForm::Scalar("duration"),
        "google.protobuf.Timestamp" | "google.protobuf.StringValue" | "google.protobuf.FieldMask" => {
            MessageJsonForm::Scalar("string")
        }
        "google.protobuf.BytesValue" => MessageJsonForm::Scalar("bytes"),
        "google.protobuf.BoolValue" => MessageJsonForm::Scalar("bool"),
        "google.protobuf.UInt32Value" => MessageJsonForm::Scalar("uint32"),
        "google.protobuf.UInt64Value" => MessageJsonForm::Scalar("uint64"),
        "google.protobuf.Int32Value" => MessageJsonForm::Scalar("int32"),
        "google.protobuf.Int64Value" => MessageJsonForm::Scalar("int64"),
        "google.protobuf.DoubleValue" | "google.protobuf.FloatValue" => MessageJsonForm::Scalar("double"),
        _ => MessageJsonForm::Message,
    }
}

/// Returns the name of the message in an `Any`.
pub(super) fn type_of<'n>(node: &'n YamlNode<'_>) -> Option<&'n str> {
    let YamlNodeKind::Text { text, .. } = &node.entry("@type")?.value.form else { return None };
    Some(text.rsplit_once('/').map_or(&**text, |(_, name)| name))
}

fn check_any(node: &YamlNode<'_>, path: &str, report: &mut ProblemReport) {
    let Some(name) = type_of(node) else {
        report.error(node.place, format!("`{path}` needs an `@type`")).hint(
            "name the message type, such as \"@type\": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router",
        );
        return;
    };
    // A type whose JSON is no mapping of its fields is written below `value`.
    if !matches!(kind_of(name), MessageJsonForm::Message) {
        if let Some(value) = node.entry("value") {
            check(&value.value, name, &format!("{path}.value"), report);
        }
        return;
    }
    // A message type that eddy does not know is reported by the code that reads it.
    if Api::get().message(name).is_some() {
        check_fields(node, name, path, report);
    }
}

fn check_fields(node: &YamlNode<'_>, message: &str, path: &str, report: &mut ProblemReport) {
    let (YamlNodeKind::Mapping { entries, .. }, Some(known)) = (&node.form, Api::get().message(message))
    else {
        return;
    };
    let mut chosen: Vec<(&str, &str)> = Vec::new();
    for entry in entries {
        let key: &str = &entry.key.text;
        if key == "@type" {
            continue;
        }
        let Some(field) = known.field(key) else {
            let told = shown(key).into_owned();
            let near = report.closest(key, known.fields.iter().map(|field| field.name)).map(str::to_owned);
            let found = report.error(entry.key.place, format!("`{path}` has no field `{told}`"));
            match near {
                Some(near) => found.hint(format!("did you mean `{near}`? the message is a `{message}`")),
                None => found.hint(format!("the message is a `{message}` of Envoy's v3 API")),
            }
            continue;
        };
        if let Some(choice) = field.choice {
            if let Some((_, other)) = chosen.iter().find(|(known, _)| *known == choice) {
                let message = format!(
                    "`{path}` has both `{other}` and `{}`, and only one of them is allowed",
                    field.name
                );
                report.error(entry.key.place, message);
            }
            chosen.push((choice, field.name));
        }
        check_field(&entry.value, field, &format!("{path}.{}", field.name), report);
    }
}

fn check_field(node: &YamlNode<'_>, field: &EnvoyApiField, path: &str, report: &mut ProblemReport) {
    if node.is_nothing() {
        return;
    }
    match (field.count, &node.form) {
        (FieldCardinality::One, _) => check_value(node, field.kind, path, report),
        (_, YamlNodeKind::Refused) => {}
        (FieldCardinality::List, YamlNodeKind::List(elements)) => {
            for (at, element) in elements.iter().enumerate() {
                check_value(element, field.kind, &format!("{path}[{at}]"), report);
            }
        }
        (FieldCardinality::List, _) => {
            report.error(node.place, format!("`{path}` must be a list")).hint("begin each element with `- `");
        }
        (FieldCardinality::Map, YamlNodeKind::Mapping { entries, .. }) => {
            for entry in entries {
                check_value(&entry.value, field.kind, &format!("{path}.{}", shown(&entry.key.text)), report);
            }
        }
        (FieldCardinality::Map, _) => {
            report.error(node.place, format!("`{path}` must be a mapping"));
        }
    }
}

fn check_value(node: &YamlNode<'_>, kind: &'static str, path: &str, report: &mut ProblemReport) {
    if let Some(values) = Api::get().values(kind) {
        check_enum(node, values, path, report);
    } else if kind.contains('.') {
        check(node, kind, path, report);
    } else {
        check_scalar(node, kind, path, report);
    }
}

fn check_enum(node: &YamlNode<'_>, values: &[&'static str], path: &str, report: &mut ProblemReport) {
    let YamlNodeKind::Text { text, .. } = &node.form else {
        report.error(node.place, format!("`{path}` must be one of {}", values.join(", ")));
        return;
    };
    if values.contains(&&**text) || text.parse::<usize>().is_ok_and(|number| number < values.len()) {
        return;
    }
    let near = report.closest(text, values.iter().copied()).map(str::to_owned);
    let found = report.error(node.place, format!("`{path}` must be one of {}", values.join(", ")));
    if let Some(near) = near {
        found.hint(format!("did you mean `{near}`?"));
    }
}

fn check_scalar(node: &YamlNode<'_>, kind: &str, path: &str, report: &mut ProblemReport) {
    let is_right = match &node.form {
        YamlNodeKind::Refused => true,
        YamlNodeKind::Text { text, is_plain } => match kind {
            "string" => true,
            "bytes" => base64(text).is_some(),
            "bool" => *is_plain && matches!(&**text, "true" | "false"),
            "double" | "float" => text.parse::<f64>().is_ok(),
            "duration" => seconds(text).is_some(),
            "uint32" | "fixed32" => text.parse::<u32>().is_ok(),
            "uint64" | "fixed64" => text.parse::<u64>().is_ok(),
            "int32" | "sint32" | "sfixed32" => text.parse::<i32>().is_ok(),
            _ => text.parse::<i64>().is_ok(),
        },
        YamlNodeKind::List(_) | YamlNodeKind::Mapping { .. } => false,
    };
    if !is_right {
        let wanted = match kind {
            "duration" => "a duration in seconds, such as `0.25s`".to_owned(),
            "bool" => "`true` or `false`".to_owned(),
            "bytes" => "Base64 without line breaks".to_owned(),
            _ => format!("a {kind}"),
        };
        report.error(node.place, format!("`{path}` must be {wanted}"));
    }
}

/// Decodes bytes in proto-JSON: Base64 in either alphabet, padded or not.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    let unpadded = text.trim_end_matches('=');
    let is_padded_right =
        unpadded.len() == text.len() || (text.len().is_multiple_of(4) && text.len() - unpadded.len() <= 2);
    let standard = unpadded.replace('-', "+").replace('_', "/");
    Base64Unpadded::decode_vec(&standard).ok().filter(|_| is_padded_right)
}

/// Parses a duration in proto-JSON: seconds followed by `s`.
pub(super) fn seconds(text: &str) -> Option<std::time::Duration> {
    let number = text.strip_suffix('s')?;
    let is_plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let seconds: f64 = number.parse().ok().filter(|_| is_plain)?;
    // The limit of protobuf, about ten thousand years.
    (seconds <= 315_576_000_000.0).then(|| std::time::Duration::from_secs_f64(seconds))
}
