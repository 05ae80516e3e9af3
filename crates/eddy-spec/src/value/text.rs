//! Names, tokens, paths and other strings.

use eddy_config::LogTarget;
use eddy_ids::Shared;
use jiff::tz::TimeZoneDatabase;

use crate::problem::{COMPARISON, closest};
use crate::read::{FromScalar, Misfit, WordInfo};

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

impl FromScalar for ConfigName {
    fn parse(text: &str) -> Result<Self, Misfit> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:/-".contains(&byte);
        let begins_well =
            text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !begins_well || !text.bytes().all(is_allowed) {
            let reason = "is not a name: a name consists of letters, digits and `_.:/-`, and begins with a letter, digit or `_`";
            return Err(Misfit::reason(reason));
        }
        if text.len() > NAME_BYTES_MAX {
            return Err(Misfit::reason(format!(
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
    fn parse(text: &str) -> Result<Self, Misfit> {
        if text.len() > BYTES_MAX {
            return Err(Misfit::reason(format!("is too long: at most {BYTES_MAX} bytes")));
        }
        Ok(Self(text.to_owned()))
    }

    fn info() -> WordInfo {
        WordInfo { limit: Some(format!("at most {BYTES_MAX} bytes")), ..WordInfo::text("a string") }
    }
}

impl FromScalar for FieldName {
    fn parse(text: &str) -> Result<Self, Misfit> {
        if !is_token(text) {
            let reason =
                "is not a header name: a header name consists of letters, digits and punctuation such as `-`";
            return Err(Misfit::reason(reason));
        }
        Ok(Self(text.to_ascii_lowercase()))
    }

    fn info() -> WordInfo {
        WordInfo { pattern: Some(TOKEN_PATTERN), ..WordInfo::text("a header name such as `x-request-id`") }
    }
}

impl FromScalar for ParameterName {
    fn parse(text: &str) -> Result<Self, Misfit> {
        if text.is_empty() { Err(Misfit::FORM) } else { Ok(Self(text.to_owned())) }
    }

    fn info() -> WordInfo {
        WordInfo { pattern: Some("."), ..WordInfo::text("the name of a query parameter") }
    }
}

impl FromScalar for MethodName {
    fn parse(text: &str) -> Result<Self, Misfit> {
        if !is_token(text) || text.len() > METHOD_BYTES_MAX {
            return Err(Misfit::FORM);
        }
        let upper = text.to_ascii_uppercase();
        if upper != text && KNOWN_METHODS.contains(&&*upper) {
            return Err(Misfit::reason_with_hint(
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
    fn parse(text: &str) -> Result<Self, Misfit> {
        if !text.starts_with('/') {
            return Err(Misfit::reason_with_hint(
                "is not a path: a path begins with `/`",
                format!("write `/{text}`"),
            ));
        }
        if let Some(bad) = text.chars().find(|c| !c.is_ascii_graphic()) {
            let hint = "percent-encode other characters, a space as `%20`";
            let reason = format!("is not a path: it contains `{}`", bad.escape_default());
            return Err(Misfit::reason_with_hint(reason, hint));
        }
        if text.contains(['?', '#']) {
            let hint = "match on `query`; a fragment is never sent";
            return Err(Misfit::reason_with_hint("is not a path: a path contains no `?` and no `#`", hint));
        }
        if text.len() > PATH_BYTES_MAX {
            return Err(Misfit::reason(format!("is too long for a path: at most {PATH_BYTES_MAX} bytes")));
        }
        Ok(Self(text.to_owned()))
    }

    fn info() -> WordInfo {
        WordInfo { pattern: Some("^/[!-~]*$"), ..WordInfo::text("a path such as `/user/`") }
    }
}

impl FromScalar for Pseudonym {
    fn parse(text: &str) -> Result<Self, Misfit> {
        if is_token(text) { Ok(Self(text.into())) } else { Err(Misfit::FORM) }
    }

    fn info() -> WordInfo {
        WordInfo { pattern: Some(TOKEN_PATTERN), ..WordInfo::text("a word such as `eddy`") }
    }
}

impl FromScalar for ContentType {
    fn parse(text: &str) -> Result<Self, Misfit> {
        let is_printable = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
        let has_parts = text.split_once('/').is_some_and(|(kind, rest)| is_token(kind) && !rest.is_empty());
        let fits = is_printable && has_parts && text.trim() == text && text.len() <= CONTENT_TYPE_BYTES_MAX;
        if fits { Ok(Self(text.into())) } else { Err(Misfit::FORM) }
    }

    fn info() -> WordInfo {
        let pattern = Some("^[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!-~]([ -~]*[!-~])?$");
        WordInfo { pattern, ..WordInfo::text("a media type such as `application/json`") }
    }
}

impl FromScalar for TimeZoneName {
    fn parse(text: &str) -> Result<Self, Misfit> {
        let zones = TimeZoneDatabase::bundled();
        if let Ok(zone) = zones.get(text) {
            // The canonical spelling, if there is one.
            return Ok(Self(zone.iana_name().unwrap_or(text).into()));
        }
        let names: Vec<String> = zones.available().map(|name| name.as_str().to_owned()).collect();
        let mut budget = names.len() * COMPARISON;
        let meant = closest(text, names.iter().map(String::as_str), &mut budget);
        let hint = meant.map(|meant| format!("did you mean `{meant}`?"));
        Err(Misfit::Reason {
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
    fn parse(text: &str) -> Result<Self, Misfit> {
        match text {
            "stdout" => Ok(Self::Stdout),
            "stderr" => Ok(Self::Stderr),
            _ if text.starts_with('/') && !text.contains('\0') => Ok(Self::File(text.into())),
            _ => Err(Misfit::form("write an absolute path, which does not depend on the working directory")),
        }
    }

    fn info() -> WordInfo {
        let what = "`stdout`, `stderr` or the path of a file such as `/var/log/eddy/access.log`";
        WordInfo { pattern: Some("^(stdout|stderr|/.+)$"), ..WordInfo::text(what) }
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

#[cfg(test)]
mod tests {
    use super::{ConfigName, LogTarget, MethodName, PathText, TimeZoneName};
    use crate::read::{FromScalar, Misfit};

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
    fn time_zones_are_known_without_the_system() {
        assert!(TimeZoneName::parse("Europe/Berlin").is_ok());
        assert!(TimeZoneName::parse("UTC").is_ok());
        let Err(Misfit::Reason { hint, .. }) = TimeZoneName::parse("Europe/Berln") else { panic!("refused") };
        assert_eq!(hint.as_deref(), Some("did you mean `Europe/Berlin`?"));
    }

    #[test]
    fn log_targets_are_absolute() {
        assert_eq!(LogTarget::parse("stderr"), Ok(LogTarget::Stderr));
        assert!(LogTarget::parse("access.log").is_err());
    }
}
