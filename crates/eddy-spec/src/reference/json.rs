//! JSON values that keep the order of their keys, so that generated files are readable and stable.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::read::{ValueSchema, WordKind};
use crate::yaml::{YamlNode, YamlNodeKind};

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Json {
    Text(String),
    Number(i64),
    Flag(bool),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
}

impl Json {
    /// Returns a string value.
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Returns an object with these entries in this order.
    pub(super) fn object<const COUNT: usize>(entries: [(&str, Self); COUNT]) -> Self {
        Self::Object(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// Returns a list of strings.
    pub(super) fn texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    /// Converts `node` to JSON, for a value of the given `shape`.
    pub(super) fn of(node: &YamlNode<'_>, shape: &ValueSchema) -> Self {
        match (&node.form, shape) {
            (_, ValueSchema::Either(one, other)) => {
                Self::of(node, if matches_schema_kind(node, one) { one } else { other })
            }
            (_, ValueSchema::Any) => Self::of_any(node),
            (YamlNodeKind::Text { text, is_plain }, ValueSchema::Word(word)) => match word.kind {
                WordKind::Flag => Self::Flag(text == "true"),
                WordKind::Number { .. } | WordKind::TextOrNumber | WordKind::Decimal if *is_plain => {
                    text.parse().map_or_else(|_| Self::text(&**text), Self::Number)
                }
                WordKind::Text | WordKind::Number { .. } | WordKind::TextOrNumber | WordKind::Decimal => {
                    Self::text(&**text)
                }
            },
            (YamlNodeKind::List(elements), ValueSchema::List(shape)) => {
                Self::List(elements.iter().map(|element| Self::of(element, shape)).collect())
            }
            (YamlNodeKind::Mapping { entries, .. }, ValueSchema::Named { value, .. }) => Self::Object(
                entries
                    .iter()
                    .map(|entry| (entry.key.text.to_string(), Self::of(&entry.value, value)))
                    .collect(),
            ),
            (YamlNodeKind::Mapping { entries, .. }, ValueSchema::Mapping(info)) => {
                let known = |name: &str| info.keys.iter().find(|key| key.name == name);
                let object = entries.iter().filter_map(|entry| {
                    let key = known(&entry.key.text)?;
                    Some((entry.key.text.to_string(), Self::of(&entry.value, &key.shape)))
                });
                Self::Object(object.collect())
            }
            // A test reads every default and example, so no other combination occurs.
            (
                YamlNodeKind::Text { .. }
                | YamlNodeKind::List(_)
                | YamlNodeKind::Mapping { .. }
                | YamlNodeKind::Refused,
                _,
            ) => Self::text(""),
        }
    }

    /// Converts `node` to JSON, for a value that can be anything.
    fn of_any(node: &YamlNode<'_>) -> Self {
        match &node.form {
            YamlNodeKind::Text { text, is_plain: true } => match &**text {
                "true" | "false" => Self::Flag(text == "true"),
                _ => text.parse().map_or_else(|_| Self::text(&**text), Self::Number),
            },
            YamlNodeKind::Text { text, .. } => Self::text(&**text),
            YamlNodeKind::List(elements) => Self::List(elements.iter().map(Self::of_any).collect()),
            YamlNodeKind::Mapping { entries, .. } => Self::Object(
                entries
                    .iter()
                    .map(|entry| (entry.key.text.to_string(), Self::of_any(&entry.value)))
                    .collect(),
            ),
            YamlNodeKind::Refused => Self::text(""),
        }
    }
}

/// Whether `node` is of the kind (scalar, list or mapping) that `shape` describes.
fn matches_schema_kind(node: &YamlNode<'_>, shape: &ValueSchema) -> bool {
    match shape {
        ValueSchema::Word(_) => matches!(node.form, YamlNodeKind::Text { .. }),
        ValueSchema::List(_) => matches!(node.form, YamlNodeKind::List(_)),
        ValueSchema::Named { .. } | ValueSchema::Mapping(_) => {
            matches!(node.form, YamlNodeKind::Mapping { .. })
        }
        ValueSchema::Either(one, other) => matches_schema_kind(node, one) || matches_schema_kind(node, other),
        ValueSchema::Any => true,
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::List(elements) => elements.serialize(serializer),
            Self::Object(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    }
}
