//! Names, tokens, paths and other strings.

use eddy_config::{LogTarget, is_http};
use eddy_ids::Shared;
use jiff::tz::TimeZoneDatabase;

use crate::problem::{COMPARISON, closest};
use crate::read::{FromScalar, InvalidValue, WordInfo};

/// Name of a listener, table, rule, cluster or filter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConfigName(pub Shared<str>);

/// A string of at most `BYTES_MAX` bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundedText<const BYTES_MAX: usize>(pub String);

/// A header name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldName(pub String);

/// A query parameter name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ParameterName(pub String);

/// A request method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodName(pub String);

/// A path that begins with `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathText(pub String);

/// Pseudonym that eddy adds to `Via`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pseudonym(pub Shared<str>);

/// Media type of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentType(pub Shared<str>);

/// A time zone name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeZoneName(pub Shared<str>);

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

/// Name of an environment variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VariableName(pub String);

/// A protocol that clients may switch to, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpgradeName(pub Box<str>);

impl FromScalar for ConfigName {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:/-".contains(&byte);
        let begins_well =
            text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !begins_well || !text.bytes().all(is_allowed) {
            let reason = "is not a name: a name consists of letters, digits and `_.:/-`, and begins with a letter, digit or `_`";
            return Err(InvalidValue::reason(reason));
        }
        if text.len() > NAME_BYTES_MAX {
            return Err(InvalidValue::reason(format!(
                "is too long for a name: at most {NAME_BYTES_MAX} characters"
            )));
        }
        Ok(Self(text.into()))
    }

    fn info() -> WordInfo {
        WordInfo { pattern: Some("^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}$"), ..WordInfo::text("a name") }
    }
}

impl<const BYTES_MAX: usize> FromScalar for BoundedText<BYTES_MAX> {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        if text.len() > BYTES_MAX {
            return Err(InvalidValue::reason(format!("is too long: at most {BYTES_MAX} bytes")));
        }
        Ok(Self(text.to_owned()))
    }

    fn info() -> WordInfo {
        WordInfo { limit: Some(format!("at most {BYTES_MAX} bytes")), ..WordInfo::text("a string") }
    }
}

impl FromScalar for FieldName {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        if !is_token(text) {
            let reason =
                "is not a header name: a header name consists of letters, digits and punctuation such as `-`";
            return Err(InvalidValue::reason(reason));
        }
        Ok(Self(text.to_ascii_lowercase()))
    }

    fn info() -> WordInfo {
        WordInfo { pattern: Some(TOKEN_PATTERN), ..WordInfo::text("a header name such as `x-request-id`") }
    }
}

impl FromScalar for ParameterName {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        if text.is_empty() { Err(InvalidValue::FORM) } else { Ok(Self(text.to_owned())) }
    }

    fn info() -> WordInfo {
        WordInfo { pattern: Some("."), ..WordInfo::text("the name of a query parameter") }
    }
}

impl FromScalar for MethodName {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        if !is_token(text) || text.len() > METHOD_BYTES_MAX {
            return Err(InvalidValue::FORM);
        }
        let upper = text.to_ascii_uppercase();
        if upper != text && KNOWN_METHODS.contains(&&*upper) {
            return Err(InvalidValue::reason_with_hint(
                "is not a method: methods are case-sensitive",
                format!("write `{upper}`"),
            ));
        }
        Ok(Self(text.to_owned()))
    }

    fn info() -> WordInfo {
        let pattern = Some("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}$");
        WordInfo { pattern, ..WordInfo::text("a method such as `GET`") }
    }
}

impl FromScalar for PathText {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        if !text.starts_with('/') {
            return Err(InvalidValue::reason_with_hint(
                "is not a path: a path begins with `/`",
                format!("write `/{text}`"),
            ));
        }
        if let Some(bad) = text.chars().find(|c| !c.is_ascii_graphic()) {
            let hint = "percent-encode other characters, a space as `%20`";
            let reason = format!("is not a path: it contains `{}`", bad.escape_default());
            return Err(InvalidValue::reason_with_hint(reason, hint));
        }
        if text.contains(['?', '#']) {
            let hint = "match on `query`; a fragment is never sent";
            return Err(InvalidValue::reason_with_hint(
                "is not a path: a path contains no `?` and no `#`",
                hint,
            ));
        }
        if text.len() > PATH_BYTES_MAX {
            return Err(InvalidValue::reason(format!(
                "is too long for a path: at most {PATH_BYTES_MAX} bytes"
            )));
        }
        Ok(Self(text.to_owned()))
    }

    fn info() -> WordInfo {
        WordInfo { pattern: Some("^/[!-~]*$"), ..WordInfo::text("a path such as `/user/`") }
    }
}

impl FromScalar for Pseudonym {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        if is_token(text) { Ok(Self(text.into())) } else { Err(InvalidValue::FORM) }
    }

    fn info() -> WordInfo {
        WordInfo { pattern: Some(TOKEN_PATTERN), ..WordInfo::text("a word such as `eddy`") }
    }
}

impl FromScalar for ContentType {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let is_printable = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
        let has_parts = text.split_once('/').is_some_and(|(kind, rest)| is_token(kind) && !rest.is_empty());
        let fits = is_printable && has_parts && text.trim() == text && text.len() <= CONTENT_TYPE_BYTES_MAX;
        if fits { Ok(Self(text.into())) } else { Err(InvalidValue::FORM) }
    }

    fn info() -> WordInfo {
        let pattern = Some("^[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!-~]([ -~]*[!-~])?$");
        WordInfo { pattern, ..WordInfo::text("a media type such as `application/json`") }
    }
}

impl FromScalar for TimeZoneName {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let zones = TimeZoneDatabase::bundled();
        if let Ok(zone) = zones.get(text) {
            // The canonical spelling, if there is one.
            return Ok(Self(zone.iana_name().unwrap_or(text).into()));
        }
        let names: Vec<String> = zones.available().map(|name| name.as_str().to_owned()).collect();
        let mut budget = names.len() * COMPARISON;
        let meant = closest(text, names.iter().map(String::as_str), &mut budget);
        let hint = meant.map(|meant| format!("did you mean `{meant}`?"));
        Err(InvalidValue::Reason {
            reason: "is not a time zone: expected an IANA name such as `Europe/Berlin`".to_owned(),
            hint,
        })
    }

    fn info() -> WordInfo {
        WordInfo {
            pattern: Some("^[A-Za-z0-9_+/-]+$"),
            ..WordInfo::text("a time zone such as `Europe/Berlin`")
        }
    }
}

impl FromScalar for LogTarget {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        match text {
            "stdout" => Ok(Self::Stdout),
            "stderr" => Ok(Self::Stderr),
            _ if text.starts_with('/') && !text.contains('\0') => Ok(Self::File(text.into())),
            _ => Err(InvalidValue::form(
                "write an absolute path, which does not depend on the working directory",
            )),
        }
    }

    fn info() -> WordInfo {
        let what = "`stdout`, `stderr` or the path of a file such as `/var/log/eddy/access.log`";
        WordInfo { pattern: Some("^(stdout|stderr|/.+)$"), ..WordInfo::text(what) }
    }
}

impl FromScalar for RecordKey {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let is_key = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_key || text.len() > KEY_BYTES_MAX {
            return Err(InvalidValue::reason(format!(
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
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let Some((space, key)) =
            text.split_once('.').filter(|(space, key)| !space.is_empty() && !key.is_empty())
        else {
            return Err(InvalidValue::reason("is not a metadata key: write `space.key`"));
        };
        if text.len() > METADATA_BYTES_MAX {
            return Err(InvalidValue::reason(format!("is too long: at most {METADATA_BYTES_MAX} bytes")));
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

impl FromScalar for VariableName {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let is_name = !text.is_empty()
            && text.len() <= VARIABLE_BYTES_MAX
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !text.starts_with(|first: char| first.is_ascii_digit());
        if is_name {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidValue::reason(
                "is not a variable name: a variable name consists of letters, digits and `_`",
            ))
        }
    }

    fn info() -> WordInfo {
        let pattern = Some("^[A-Za-z_][A-Za-z0-9_]{0,127}$");
        WordInfo { pattern, ..WordInfo::text("a variable name such as `REGION`") }
    }
}

impl FromScalar for UpgradeName {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let parts: Vec<&str> = text.split('/').collect();
        if parts.len() > 2 || text.len() > PROTOCOL_BYTES_MAX || !parts.into_iter().all(is_token) {
            return Err(InvalidValue::FORM);
        }
        if is_http(text.as_bytes()) {
            let reason = "would tunnel HTTP requests past rules and filters; clients can use HTTP/2 without an upgrade";
            return Err(InvalidValue::reason(reason));
        }
        Ok(Self(text.to_ascii_lowercase().into()))
    }

    fn info() -> WordInfo {
        let pattern = "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}(/[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64})?$";
        WordInfo { pattern: Some(pattern), ..WordInfo::text("a protocol such as `websocket` or `spdy/3.1`") }
    }
}

/// Whether `text` is a token (RFC 9110 §5.6.2).
fn is_token(text: &str) -> bool {
    let is_tchar = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_tchar)
}

/// Methods that are often written in lower case by mistake.
const KNOWN_METHODS: &[&str] =
    &["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH"];
/// Pattern of a token, for editors.
const TOKEN_PATTERN: &str = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$";
/// Maximum length of a name; names are used as metric labels.
const NAME_BYTES_MAX: usize = 128;
/// Maximum length of a method.
const METHOD_BYTES_MAX: usize = 32;
/// Maximum length of a media type.
const CONTENT_TYPE_BYTES_MAX: usize = 1024;
/// Maximum length of a path in a rule.
const PATH_BYTES_MAX: usize = 4096;
/// Maximum length of a key.
const KEY_BYTES_MAX: usize = 64;
/// Maximum length of namespace and key of a metadata value.
const METADATA_BYTES_MAX: usize = 256;
/// Maximum length of a variable name.
const VARIABLE_BYTES_MAX: usize = 128;
/// Maximum length of a protocol name.
const PROTOCOL_BYTES_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::{ConfigName, LogTarget, MethodName, PathText, TimeZoneName, UpgradeName, VariableName};
    use crate::read::{FromScalar, InvalidValue};

    #[test]
    fn names_and_methods() {
        assert!(ConfigName::parse("users-v2").is_ok());
        for text in ["", "-a", "a b", "ü", &"a".repeat(129)] {
            assert!(ConfigName::parse(text).is_err(), "{text}");
        }
        assert!(MethodName::parse("PURGE").is_ok());
        assert!(MethodName::parse("get").is_err());
        assert!(MethodName::parse("G ET").is_err());
    }

    #[test]
    fn paths_begin_with_a_slash() {
        assert!(PathText::parse("/user/").is_ok());
        for text in ["", "user", "/a b", "/a?b=1", "/ü"] {
            assert!(PathText::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn time_zones_do_not_depend_on_the_system() {
        assert!(TimeZoneName::parse("Europe/Berlin").is_ok());
        assert!(TimeZoneName::parse("UTC").is_ok());
        let Err(InvalidValue::Reason { hint, .. }) = TimeZoneName::parse("Europe/Berln") else {
            panic!("refused")
        };
        assert_eq!(hint.as_deref(), Some("did you mean `Europe/Berlin`?"));
    }

    #[test]
    fn log_targets_are_absolute() {
        assert_eq!(LogTarget::parse("stderr"), Ok(LogTarget::Stderr));
        assert!(LogTarget::parse("access.log").is_err());
    }

    #[test]
    fn variables_are_words() {
        assert!(VariableName::parse("_A9").is_ok());
        for text in ["", "9A", "A-B", "A=B", "Ä"] {
            assert!(VariableName::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn protocols_are_tokens_and_never_http() {
        for (text, name) in [("websocket", "websocket"), ("SPDY/3.1", "spdy/3.1"), ("tcp", "tcp")] {
            assert_eq!(UpgradeName::parse(text), Ok(UpgradeName(name.into())));
        }
        for text in ["", "/", "a/", "/1", "a/b/c", "a b", "a,b", "w\u{fc}"] {
            assert_eq!(UpgradeName::parse(text), Err(InvalidValue::FORM), "{text}");
        }
        for text in ["h2c", "H2C", "HTTP/2.0", "tls/1.3"] {
            assert!(matches!(UpgradeName::parse(text), Err(InvalidValue::Reason { .. })), "{text}");
        }
    }
}
