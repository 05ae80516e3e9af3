//! Scalar values of the protobuf message filters and of their metadata in access log entries.

use eddy_builtin::{AnyValues, Directions, Unreadable, WhichMessage};

use super::choice::{Meaning, keywords};
use crate::read::{FromScalar, Misfit, WordInfo};

/// Key of a value in the metadata or in access log entries.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RecordKey(pub String);

/// Reference to a filter metadata value: namespace and key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataName {
    /// Metadata namespace.
    pub space: String,
    /// Key within the namespace.
    pub key: String,
}

/// Change that is made to a redacted field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedactEditName {
    /// The field is removed.
    Drop,
    /// The value is replaced.
    Mask,
    /// The value is replaced by one of the same length.
    SameLength,
}

/// Directions in which messages are redacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectionsName(pub Directions);

/// Handling of messages that cannot be inspected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnreadableName(pub Unreadable);

/// Handling of `google.protobuf.Any` values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnyValuesName(pub AnyValues);

/// Message of a stream from which fields are extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WhichMessageName(pub WhichMessage);

impl FromScalar for RecordKey {
    fn parse(text: &str) -> Result<Self, Misfit> {
        let is_key = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_key || text.len() > KEY_BYTES_MAX {
            return Err(Misfit::reason(format!(
                "is not a key: a key begins with a letter and has at most {KEY_BYTES_MAX} letters, digits and `_`"
            )));
        }
        Ok(Self(text.to_owned()))
    }

    fn info() -> WordInfo {
        WordInfo { pattern: Some("^[A-Za-z][A-Za-z0-9_]{0,63}$"), ..WordInfo::text("a key such as `tenant`") }
    }
}

impl FromScalar for MetadataName {
    fn parse(text: &str) -> Result<Self, Misfit> {
        let Some((space, key)) =
            text.split_once('.').filter(|(space, key)| !space.is_empty() && !key.is_empty())
        else {
            return Err(Misfit::reason("is not a metadata key: write `space.key`"));
        };
        if text.len() > METADATA_NAME_BYTES_MAX {
            return Err(Misfit::reason(format!("is too long: at most {METADATA_NAME_BYTES_MAX} bytes")));
        }
        Ok(Self { space: space.to_owned(), key: key.to_owned() })
    }

    fn info() -> WordInfo {
        WordInfo {
            pattern: Some(r"^[^.]+\..+$"),
            ..WordInfo::text("a metadata key such as `message_fields.tenant`")
        }
    }
}

keywords! {
    RedactEditName: REDACT_EDITS;
    DirectionsName: DIRECTIONS;
    UnreadableName: UNREADABLE;
    AnyValuesName: ANY_VALUES;
    WhichMessageName: WHICH_MESSAGE;
}

const REDACT_EDITS: &[Meaning<RedactEditName>] = &[
    ("drop", RedactEditName::Drop, "they are removed"),
    (
        "mask",
        RedactEditName::Mask,
        "strings and bytes become `text`, numbers 0, enums their first value; messages and maps are removed",
    ),
    (
        "same_length",
        RedactEditName::SameLength,
        "each byte of a string becomes `*`, other values 0 in as many bytes; messages and maps are removed",
    ),
];

const DIRECTIONS: &[Meaning<DirectionsName>] = &[
    ("both", DirectionsName(Directions::Both), "requests and responses"),
    ("request", DirectionsName(Directions::Requests), "requests"),
    ("response", DirectionsName(Directions::Responses), "responses"),
];

const UNREADABLE: &[Meaning<UnreadableName>] = &[
    (
        "refuse",
        UnreadableName(Unreadable::Refuse),
        "the response is 400, 413 or 415, or 502 for a response message; an exchange in progress is cut off",
    ),
    ("pass", UnreadableName(Unreadable::Pass), "they are forwarded unchanged"),
];

const ANY_VALUES: &[Meaning<AnyValuesName>] = &[
    ("drop", AnyValuesName(AnyValues::Drop), "they are removed, but not their types"),
    ("pass", AnyValuesName(AnyValues::Pass), "they are forwarded unchanged"),
];

const WHICH_MESSAGE: &[Meaning<WhichMessageName>] = &[
    ("first", WhichMessageName(WhichMessage::First), "the first; later messages are not inspected"),
    ("last", WhichMessageName(WhichMessage::Last), "the last"),
];

const KEY_BYTES_MAX: usize = 64;
const METADATA_NAME_BYTES_MAX: usize = 256;
