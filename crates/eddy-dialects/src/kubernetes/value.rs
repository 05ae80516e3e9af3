//! Scalars of objects, validated as strictly as by an API server.

use eddy_ids::Shared;
use eddy_spec::problem::{ProblemReport, shown};
use eddy_spec::read::{FromNode, FromScalar, InvalidValue, ValueSchema, WordInfo, note_kind};
use eddy_spec::yaml::{YamlNode, YamlNodeKind};

/// String. One that YAML would read as a number or boolean must be quoted, as in Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ApiText(pub(crate) Shared<str>);

/// Key of a label or annotation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Label(pub(crate) Shared<str>);

/// Port, by number or name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PortOrName {
    /// Port number.
    Number(u16),
    /// Port name.
    Name(Shared<str>),
}

impl FromNode for ApiText {
    fn read(node: &YamlNode<'_>, report: &mut ProblemReport) -> Option<Self> {
        let YamlNodeKind::Text { text, is_plain } = &node.form else {
            note_kind(node, Self::shape, report);
            return None;
        };
        if *is_plain && is_no_text(text) {
            let message = format!("expected a string, found `{}` without quotes", shown(text));
            report.objection(node.place, message).hint(format!("write \"{}\"", shown(text)));
        }
        Some(Self(text.as_ref().into()))
    }

    fn shape() -> ValueSchema {
        ValueSchema::Word(WordInfo::text("a string"))
    }

    fn fits(node: &YamlNode<'_>) -> bool {
        matches!(node.form, YamlNodeKind::Text { .. })
    }
}

impl FromScalar for Label {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        if text.is_empty() { Err(InvalidValue::FORM) } else { Ok(Self(text.into())) }
    }

    fn info() -> WordInfo {
        WordInfo::text("a name such as `app`")
    }
}

impl FromNode for PortOrName {
    fn read(node: &YamlNode<'_>, report: &mut ProblemReport) -> Option<Self> {
        let YamlNodeKind::Text { text, is_plain } = &node.form else {
            note_kind(node, Self::shape, report);
            return None;
        };
        let is_number = *is_plain && text.bytes().all(|byte| byte.is_ascii_digit());
        match text.parse::<u16>() {
            Ok(number @ 1..) if is_number => Some(Self::Number(number)),
            Ok(_) | Err(_) if is_number => {
                report.error(node.place, format!("`{}` is out of range: expected 1 to 65535", shown(text)));
                None
            }
            Ok(_) | Err(_) => Some(Self::Name(text.as_ref().into())),
        }
    }

    fn shape() -> ValueSchema {
        ValueSchema::Word(WordInfo::text("a port by number or name"))
    }

    fn fits(node: &YamlNode<'_>) -> bool {
        matches!(node.form, YamlNodeKind::Text { .. })
    }
}

/// Whether an unquoted scalar is a number or boolean in Kubernetes' YAML, where `yes` and `on` are booleans too.
fn is_no_text(text: &str) -> bool {
    is_flag(text) || is_number(text)
}

fn is_flag(text: &str) -> bool {
    let is_one_case = {
        let rest = text.get(1..).unwrap_or_default();
        rest.bytes().all(|byte| byte.is_ascii_lowercase())
            || text.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    let words = ["true", "false", "yes", "no", "on", "off", "y", "n"];
    is_one_case && words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn is_number(text: &str) -> bool {
    let bare = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = |text: &str, radix: u32| {
        text.chars().next().is_some_and(|first| first.is_digit(radix))
            && text.chars().all(|digit| digit.is_digit(radix) || digit == '_')
    };
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(rest) = bare.strip_prefix(prefix) {
            return digits(rest, radix);
        }
    }
    if matches!(bare, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return true;
    }
    let has_digit_first = bare.bytes().find(|byte| *byte != b'.').is_some_and(|byte| byte.is_ascii_digit());
    has_digit_first && (digits(bare, 10) || bare.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::is_no_text;

    #[test]
    fn numbers_and_booleans_are_not_strings() {
        for text in
            ["1", "-1", "1.5", "1e3", ".5", "0x1F", "0o17", "1_000", ".inf", "true", "Yes", "OFF", "n"]
        {
            assert!(is_no_text(text), "{text}");
        }
        for text in
            ["", "a", "v1", "1.2.3", "1a", "tRue", "truly", "-", "0x", ".", "e3", "inf", "127.0.0.1", "10s"]
        {
            assert!(!is_no_text(text), "{text}");
        }
    }
}
