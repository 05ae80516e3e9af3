//! What filters have noted of an exchange, in its record.

use eddy_config::RecordedMetadata;
use eddy_filter::DynamicMetadata;
use serde::de::IgnoredAny;

/// Values that a record has beside its own.
#[derive(Clone, Copy)]
pub(crate) struct AccessMetadata<'a> {
    pub(crate) recorded: &'a [RecordedMetadata],
    pub(crate) metadata: &'a DynamicMetadata,
}

impl<'a> AccessMetadata<'a> {
    /// By their keys, the values that there are to be, and that there are.
    pub(super) fn values(self) -> impl Iterator<Item = (&'a str, Option<&'a [u8]>)> {
        self.recorded.iter().map(move |recorded| {
            let value = self.metadata.get(recorded.space.as_bytes(), recorded.key.as_bytes());
            (&*recorded.name, value)
        })
    }
}

/// Appends a value that a filter calls JSON, in ASCII and on one line; nothing, and `false`, if it is none or too long.
///
/// # Cost
/// Two passes over the value.
pub(super) fn push_json(value: &[u8], out: &mut Vec<u8>) -> bool {
    let text = std::str::from_utf8(value).ok().filter(|text| text.len() <= VALUE_BYTES_MAX);
    let Some(text) = text.filter(|text| serde_json::from_str::<IgnoredAny>(text).is_ok()) else {
        return false;
    };
    for character in text.chars() {
        match character {
            ' '..='~' => out.push(u8::try_from(character).unwrap_or(b' ')),
            // It stands between values: in a text it would be no JSON.
            '\t' | '\n' | '\r' => out.push(b' '),
            // It stands in a text, as nowhere else can be one.
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                }
            }
        }
    }
    true
}

/// Longest value that is written as it is, bytes.
const VALUE_BYTES_MAX: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_stays_as_it_is() {
        let check = |value: &str, expected: Option<&str>| {
            let mut out = Vec::new();
            let is_json = push_json(value.as_bytes(), &mut out);
            assert_eq!(is_json.then_some(std::str::from_utf8(&out).unwrap()), expected, "{value}");
        };
        check("\"acme\"", Some("\"acme\""));
        check("[1,\n2]", Some("[1, 2]"));
        check("\"\u{e4}\u{7f}\u{1f600}\"", Some(r#""\u00e4\u007f\ud83d\ude00""#));
        check("{\"a\":null}", Some("{\"a\":null}"));
        for value in ["", "acme", "\"a\nb\"", "1 2", "\"a", "{\"a\":1},\"b\":2"] {
            check(value, None);
        }
        check(&format!("\"{}\"", "a".repeat(VALUE_BYTES_MAX)), None);
        assert!(!push_json(b"\"\xff\"", &mut Vec::new()));
    }
}
