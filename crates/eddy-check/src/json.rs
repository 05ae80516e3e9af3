//! Converts user-defined values to JSON, with the types of YAML 1.2 (core schema).

use eddy_spec::problem::{ProblemReport, shown};
use eddy_spec::yaml::{YamlNode, YamlNodeKind};

/// Returns the value as JSON; reports values that JSON cannot represent.
pub fn json_of(node: &YamlNode<'_>, report: &mut ProblemReport) -> String {
    let mut writer = FilterJsonWriter { out: String::new(), is_full: false, report };
    writer.node(node, 0);
    let FilterJsonWriter { out, is_full, report } = writer;
    if is_full {
        report.error(node.place, format!("too large: at most {} KiB as JSON", JSON_BYTES_MAX >> 10));
        return "null".to_owned();
    }
    out
}

struct FilterJsonWriter<'r> {
    out: String,
    is_full: bool,
    report: &'r mut ProblemReport,
}

impl FilterJsonWriter<'_> {
    fn node(&mut self, node: &YamlNode<'_>, depth: usize) {
        if self.out.len() > JSON_BYTES_MAX {
            self.is_full = true;
            return;
        }
        if depth > DEPTH_MAX {
            let message = format!("nested too deeply for a filter: at most {DEPTH_MAX} levels");
            self.report.error(node.place, message);
            return;
        }
        match &node.form {
            YamlNodeKind::Text { text, is_plain: true } => match plain(text) {
                PlainScalar::Text => self.text(text),
                PlainScalar::Is(json) => self.out.push_str(&json),
                PlainScalar::NoNumber => {
                    let message = format!("`{}` is not a JSON number", shown(text));
                    self.report.error(node.place, message).hint("put it in quotes if a string is meant");
                }
            },
            YamlNodeKind::Text { text, is_plain: false } => self.text(text),
            YamlNodeKind::List(elements) => {
                self.out.push('[');
                for (element, number) in elements.iter().zip(0..) {
                    self.comma(number);
                    self.node(element, depth + 1);
                }
                self.out.push(']');
            }
            YamlNodeKind::Mapping { entries, .. } => {
                self.out.push('{');
                for (entry, number) in entries.iter().zip(0..) {
                    self.comma(number);
                    self.text(&entry.key.text);
                    self.out.push(':');
                    self.node(&entry.value, depth + 1);
                }
                self.out.push('}');
            }
            // The problem is already reported.
            YamlNodeKind::Refused => self.out.push_str("null"),
        }
    }

    fn comma(&mut self, number: usize) {
        if number > 0 {
            self.out.push(',');
        }
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(&serde_json::to_string(text).expect("a string is always written"));
    }
}

/// Type of a scalar without quotes.
#[derive(Debug, PartialEq, Eq)]
enum PlainScalar {
    /// A string.
    Text,
    /// A value with this JSON form.
    Is(String),
    /// A number that JSON cannot represent.
    NoNumber,
}

fn plain(text: &str) -> PlainScalar {
    let is = |json: &str| PlainScalar::Is(json.to_owned());
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return is("null"),
        "true" | "True" | "TRUE" => return is("true"),
        "false" | "False" | "FALSE" => return is("false"),
        _ => {}
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix).filter(|digits| is_digits(digits, radix)) {
            return u128::from_str_radix(digits, radix)
                .map_or(PlainScalar::NoNumber, |number| is(&number.to_string()));
        }
    }
    let (sign, number) = match text.as_bytes() {
        [b'-', ..] => ("-", &text[1..]),
        [b'+', ..] => ("", &text[1..]),
        _ => ("", text),
    };
    if matches!(number, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return PlainScalar::NoNumber;
    }
    decimal(number).map_or(PlainScalar::Text, |number| PlainScalar::Is(format!("{sign}{number}")))
}

/// Converts an unsigned number to JSON's form: digits before and after a point, no leading zeros.
fn decimal(text: &str) -> Option<String> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            is_digits(digits, 10).then_some((mantissa, Some(exponent)))?
        }
        None => (text, None),
    };
    let (whole, part) = match mantissa.split_once('.') {
        Some((whole, part)) => (whole, Some(part)),
        None => (mantissa, None),
    };
    let fits = |digits: &str| digits.is_empty() || is_digits(digits, 10);
    let has_digits = !whole.is_empty() || part.is_some_and(|part| !part.is_empty());
    if !has_digits || !fits(whole) || !part.is_none_or(fits) {
        return None;
    }
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        rest => rest,
    };
    let part = match part {
        Some("") => ".0".to_owned(),
        Some(part) => format!(".{part}"),
        None => String::new(),
    };
    let exponent = exponent.map_or_else(String::new, |exponent| format!("e{exponent}"));
    Some(format!("{whole}{part}{exponent}"))
}

fn is_digits(text: &str, radix: u32) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_digit(radix))
}

/// Maximum nesting depth of lists and mappings.
const DEPTH_MAX: usize = 32;
/// Maximum size of the JSON in bytes.
const JSON_BYTES_MAX: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use eddy_spec::problem::ProblemReport;
    use eddy_spec::yaml::parse;
    use proptest::prelude::*;

    use super::{PlainScalar, json_of, plain};

    fn check(yaml: &str, expected: &str) {
        let mut report = ProblemReport::new();
        let root = parse(yaml, 0, &mut report).root.unwrap();
        assert_eq!(json_of(&root, &mut report), expected, "{yaml}");
        assert!(!report.has_errors(), "{yaml}");
        serde_json::from_str::<serde_json::Value>(expected).unwrap();
    }

    #[test]
    fn types_are_those_of_yaml_1_2() {
        check(
            "{a: 1, b: 'x', c: [true, null, ~, False], d: {}}",
            r#"{"a":1,"b":"x","c":[true,null,null,false],"d":{}}"#,
        );
        check("[yes, no, on, 1_000, 1:30, 2026-11-20]", r#"["yes","no","on","1_000","1:30","2026-11-20"]"#);
        check("['1', \"true\", '~']", r#"["1","true","~"]"#);
        check("[0x1F, 0o17, +7, -0, 007, 99999999999999999999]", "[31,15,7,-0,7,99999999999999999999]");
        check("[1.5, .5, 1., -1e3, 1.5E-7, +.5e+1]", "[1.5,0.5,1.0,-1e3,1.5e-7,0.5e+1]");
        check(
            "[e1, ., -a, +, 0x, 1e, 1e+, 1.2.3, 0b1]",
            r#"["e1",".","-a","+","0x","1e","1e+","1.2.3","0b1"]"#,
        );
        check("\"\\n\\u00e9\\\"\"", r#""\n\u00e9\"""#.replace("\\u00e9", "é").as_str());
        check("{1: a, true: b, 'x y': c}", r#"{"1":"a","true":"b","x y":"c"}"#);
    }

    #[test]
    fn values_that_json_cannot_represent_are_refused() {
        for yaml in [".inf", "-.INF", ".nan", &format!("{}1{}", "[".repeat(40), "]".repeat(40))] {
            let mut report = ProblemReport::new();
            let root = parse(yaml, 0, &mut report).root.unwrap();
            json_of(&root, &mut report);
            assert!(report.has_errors(), "{yaml}");
        }
    }

    #[test]
    fn the_size_of_the_json_is_limited() {
        let mut report = ProblemReport::new();
        let yaml = format!(
            "[{}]",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, ".repeat(20_000)
        );
        let root = parse(&yaml, 0, &mut report).root.unwrap();
        assert_eq!(json_of(&root, &mut report), "null");
        assert!(report.has_errors());
    }

    proptest! {
        #[test]
        fn numbers_are_valid_json(text in "[-+.0-9eExo]{0,12}") {
            if let PlainScalar::Is(json) = plain(&text) {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok() || json.contains('e'), "{}", json);
            }
        }
    }
}
