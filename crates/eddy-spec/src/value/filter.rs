//! Scalar values in filter configurations.

use std::path::PathBuf;

use eddy_builtin::{OriginPattern, RequestFraction};

use crate::read::{FromScalar, InvalidValue, WordInfo, WordKind};

/// Path of a file or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePath(pub PathBuf);

/// A user name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UserName(pub String);

/// A CORS origin pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginText(pub OriginPattern);

/// A value, or `*` for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrAll<T>(pub Option<T>);

impl FromScalar for FilePath {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        if text.is_empty() || text.contains('\0') || text.len() > PATH_BYTES_MAX {
            return Err(InvalidValue::FORM);
        }
        Ok(Self(PathBuf::from(text)))
    }

    fn info() -> WordInfo {
        WordInfo { pattern: Some("."), ..WordInfo::text("a path such as `./filters/auth`") }
    }
}

impl FromScalar for UserName {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        if text.contains(':') || text.chars().any(char::is_control) {
            return Err(InvalidValue::reason(
                "is not a user name: colons and control characters are not allowed",
            ));
        }
        if text.is_empty() || text.len() > USER_BYTES_MAX {
            return Err(InvalidValue::reason(format!(
                "is not a user name: a user name has 1 to {USER_BYTES_MAX} bytes"
            )));
        }
        Ok(Self(text.to_owned()))
    }

    fn info() -> WordInfo {
        WordInfo { pattern: Some("^[^:]{1,256}$"), ..WordInfo::text("a user name") }
    }
}

impl FromScalar for OriginText {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        if text.len() > ORIGIN_BYTES_MAX {
            return Err(InvalidValue::reason(format!("is too long: at most {ORIGIN_BYTES_MAX} bytes")));
        }
        OriginPattern::parse(text).map(Self).map_err(|error| InvalidValue::reason(error.to_string()))
    }

    fn info() -> WordInfo {
        WordInfo {
            pattern: Some(r"^(\*|null|~.*|[A-Za-z][A-Za-z0-9+.-]*://[A-Za-z0-9*._:\[\]-]+)$"),
            ..WordInfo::text("an origin such as `https://example.com`")
        }
    }
}

impl<T: FromScalar> FromScalar for OrAll<T> {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        if text == "*" { Ok(Self(None)) } else { T::parse(text).map(|value| Self(Some(value))) }
    }

    fn info() -> WordInfo {
        T::info()
    }
}

impl FromScalar for RequestFraction {
    const IS_PLAIN: bool = true;

    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let text = text
            .strip_suffix('%')
            .map_or(Ok(text), |text| Err(InvalidValue::form(format!("write `{text}`"))))?;
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(part) || part.len() > 4 || whole.len() > 9 {
            return Err(InvalidValue::form("write a number with at most four decimal places"));
        }
        let millionths = |text: &str| text.parse::<u32>().map_err(|_| InvalidValue::FORM);
        let share =
            millionths(whole)?.saturating_mul(10_000).saturating_add(millionths(&format!("{part:0<4}"))?);
        if share > 1_000_000 {
            return Err(InvalidValue::Range);
        }
        Ok(Self(share))
    }

    fn info() -> WordInfo {
        WordInfo {
            kind: WordKind::Decimal,
            limit: Some("0 to 100".to_owned()),
            ..WordInfo::text("a percentage such as `0.5`")
        }
    }
}

/// Maximum length of a path.
const PATH_BYTES_MAX: usize = 4096;
/// Maximum length of a user name.
const USER_BYTES_MAX: usize = 256;
/// Maximum length of an origin pattern.
const ORIGIN_BYTES_MAX: usize = 4096;

#[cfg(test)]
mod tests {
    use eddy_builtin::RequestFraction;

    use super::{OriginText, UserName};
    use crate::read::{FromScalar, InvalidValue};

    #[test]
    fn percentages_are_exact() {
        for (text, share) in
            [("0", 0), ("100", 1_000_000), ("0.1", 1000), ("12.3456", 123_456), ("5.0", 50_000)]
        {
            assert_eq!(RequestFraction::parse(text).map(|percent| percent.0), Ok(share), "{text}");
        }
        assert_eq!(RequestFraction::parse("100.0001"), Err(InvalidValue::Range));
        for text in ["", ".", "1.", ".5", "-1", "1e1", "5%", "0.00001"] {
            assert!(RequestFraction::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn user_names_cannot_contain_a_colon() {
        assert!(UserName::parse("ä b").is_ok());
        for text in ["", "a:b", "a\nb"] {
            assert!(UserName::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn origins_are_as_browsers_send_them() {
        for text in
            ["*", "null", "https://example.com", "https://*.example.com:8443", "~https://[a-z]+\\.test"]
        {
            assert!(OriginText::parse(text).is_ok(), "{text}");
        }
        for text in ["", "example.com", "https://", "https://a/", "https://a*.b", "https://*", "~("] {
            assert!(OriginText::parse(text).is_err(), "{text}");
        }
    }
}
