//! Formatting of field values for metadata and headers.

use eddy_protobuf::{Enumeration, FieldType, FieldValue, write_base64};

/// Field value with its type.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypedFieldValue<'v> {
    pub(super) value: FieldValue<'v>,
    pub(super) kind: FieldType,
    /// Names of the values, for an enum.
    pub(super) names: Option<&'v Enumeration>,
}

impl TypedFieldValue<'_> {
    /// Appends the value as ASCII JSON, with a string cut after `bytes_max` bytes.
    ///
    /// Integers are JSON numbers of any size; values without a JSON number representation are strings.
    pub(super) fn push_json(self, bytes_max: usize, out: &mut Vec<u8>) {
        match self.value {
            FieldValue::Text(text) => push_string(&cut(text, bytes_max), out),
            FieldValue::Bytes(bytes) => {
                out.push(b'"');
                write_base64(out, bytes.get(..bytes_max).unwrap_or(bytes));
                out.push(b'"');
            }
            FieldValue::Enum(number) if self.name_of(number).is_some() => {
                push_string(self.name_of(number).unwrap_or_default(), out);
            }
            FieldValue::Number(number) if !number.is_finite() => push_string(&self.plain(), out),
            FieldValue::Signed(_)
            | FieldValue::Unsigned(_)
            | FieldValue::Number(_)
            | FieldValue::Bool(_)
            | FieldValue::Enum(_)
            | FieldValue::Message(_) => out.extend_from_slice(self.plain().as_bytes()),
        }
    }

    /// Appends the value as a header value; returns whether it is at most `bytes_max` bytes long before escaping.
    ///
    /// In a string, bytes that a header cannot hold, `%`, and leading and trailing spaces are percent-encoded, so that
    /// different strings have different headers.
    pub(super) fn push_header(self, bytes_max: usize, out: &mut Vec<u8>) -> bool {
        match self.value {
            FieldValue::Text(text) => {
                let last = text.len().saturating_sub(1);
                for (at, byte) in text.iter().enumerate() {
                    let is_blank = *byte == b' ' && at != 0 && at != last;
                    if is_blank || byte.is_ascii_graphic() && *byte != b'%' {
                        out.push(*byte);
                    } else {
                        out.extend_from_slice(format!("%{byte:02X}").as_bytes());
                    }
                }
                text.len() <= bytes_max
            }
            FieldValue::Bytes(bytes) => {
                write_base64(out, bytes);
                bytes.len() <= bytes_max
            }
            FieldValue::Signed(_)
            | FieldValue::Unsigned(_)
            | FieldValue::Number(_)
            | FieldValue::Bool(_)
            | FieldValue::Enum(_)
            | FieldValue::Message(_) => {
                out.extend_from_slice(self.plain().as_bytes());
                true
            }
        }
    }

    /// Formats a value that is neither string nor bytes.
    fn plain(self) -> String {
        match self.value {
            FieldValue::Signed(number) => number.to_string(),
            FieldValue::Unsigned(number) => number.to_string(),
            FieldValue::Number(number) if number.is_nan() => "NaN".to_owned(),
            FieldValue::Number(number) if number.is_infinite() => {
                if number > 0.0 {
                    "Infinity".to_owned()
                } else {
                    "-Infinity".to_owned()
                }
            }
            #[expect(clippy::cast_possible_truncation, reason = "it was a float before it was widened")]
            FieldValue::Number(number) if self.kind == FieldType::Float => format!("{:?}", number as f32),
            FieldValue::Number(number) => format!("{number:?}"),
            FieldValue::Bool(value) => value.to_string(),
            FieldValue::Enum(number) => {
                self.name_of(number).map_or_else(|| number.to_string(), ToOwned::to_owned)
            }
            // Such fields are refused when the filter is created.
            FieldValue::Text(_) | FieldValue::Bytes(_) | FieldValue::Message(_) => String::new(),
        }
    }

    fn name_of(&self, number: i32) -> Option<&str> {
        self.names?.name_of(number)
    }
}

/// Returns the beginning of a text, cut at a character boundary. Invalid UTF-8 is replaced by U+FFFD.
fn cut(text: &[u8], bytes_max: usize) -> String {
    let cut = text.get(..bytes_max).unwrap_or(text);
    let mut shown = String::from_utf8_lossy(cut).into_owned();
    // A character that is cut in two is dropped.
    if cut.len() < text.len() && shown.ends_with(char::REPLACEMENT_CHARACTER) {
        shown.pop();
    }
    shown
}

/// Appends a JSON string in ASCII.
fn push_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for unit in text.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte @ (b'"' | b'\\')) => out.extend_from_slice(&[b'\\', byte]),
            Ok(byte @ 0x20..=0x7e) => out.push(byte),
            _ => out.extend_from_slice(format!("\\u{unit:04x}").as_bytes()),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: FieldType, value: FieldValue<'_>, json: &str, header: &str) {
        let shown = TypedFieldValue { value, kind, names: None };
        let (mut as_json, mut as_header) = (Vec::new(), Vec::new());
        shown.push_json(8, &mut as_json);
        let is_whole = shown.push_header(8, &mut as_header);
        assert_eq!(String::from_utf8(as_json).unwrap(), json);
        assert_eq!((String::from_utf8(as_header).unwrap().as_str(), is_whole), (header, true));
    }

    #[test]
    fn values_are_written_in_ascii() {
        check(FieldType::String, FieldValue::Text(b"a b"), r#""a b""#, "a b");
        check(FieldType::String, FieldValue::Text(b" %\r\n"), r#"" %\u000d\u000a""#, "%20%25%0D%0A");
        check(
            FieldType::String,
            FieldValue::Text("ä😀".as_bytes()),
            r#""\u00e4\ud83d\ude00""#,
            "%C3%A4%F0%9F%98%80",
        );
        check(FieldType::String, FieldValue::Text(b"\xff\"\\"), r#""\ufffd\"\\""#, "%FF\"\\");
        check(FieldType::String, FieldValue::Text(b""), r#""""#, "");
        check(FieldType::Bytes, FieldValue::Bytes(b"\0\x01"), r#""AAE=""#, "AAE=");
        check(FieldType::Int64, FieldValue::Signed(i64::MIN), "-9223372036854775808", "-9223372036854775808");
        check(
            FieldType::Uint64,
            FieldValue::Unsigned(u64::MAX),
            "18446744073709551615",
            "18446744073709551615",
        );
        check(FieldType::Float, FieldValue::Number(f64::from(0.1_f32)), "0.1", "0.1");
        check(FieldType::Double, FieldValue::Number(1e300), "1e300", "1e300");
        check(FieldType::Double, FieldValue::Number(f64::NEG_INFINITY), r#""-Infinity""#, "-Infinity");
        check(FieldType::Bool, FieldValue::Bool(true), "true", "true");
        check(FieldType::Int32, FieldValue::Enum(7), "7", "7");
    }

    #[test]
    fn a_long_value_is_truncated_at_a_character_and_is_not_a_header() {
        for (text, json) in [("123456789", r#""12345678""#), ("1234567ä", r#""1234567""#)] {
            let shown = TypedFieldValue {
                value: FieldValue::Text(text.as_bytes()),
                kind: FieldType::String,
                names: None,
            };
            let mut out = Vec::new();
            shown.push_json(8, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), json);
            assert!(!shown.push_header(8, &mut Vec::new()));
        }
    }
}
