//! Filter metadata in access log entries.

use eddy_config::RecordedMetadata;
use eddy_filter::DynamicMetadata;
use serde::de::IgnoredAny;

/// Additional values of an entry.
#[derive(Clone, Copy)]
pub(crate) struct AccessMetadata<'a> {
    pub(crate) recorded: &'a [RecordedMetadata],
    pub(crate) metadata: &'a DynamicMetadata,
}

impl<'a> AccessMetadata<'a> {
    /// Returns the configured values by key; `None` for those that are not set.
    pub(super) fn values(self) -> impl Iterator<Item = (&'a str, Option<&'a [u8]>)> {
        self.recorded.iter().map(move |recorded| {
            let value = self.metadata.get(recorded.space.as_bytes(), recorded.key.as_bytes());
            (&*recorded.name, value)
        })
    }
}

/// Appends a value that a filter declares to be JSON, in ASCII and on one line. Appends nothing and returns `false`
/// when it is invalid or too long.
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
            // Whitespace between tokens: inside a string these would be invalid JSON.
            '\t' | '\n' | '\r' => out.push(b' '),
            // Part of a string, as other characters are invalid elsewhere.
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                }
            }
        }
    }
    true
}

/// Maximum length in bytes of a value that is written unchanged.
const VALUE_BYTES_MAX: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_valid_json_is_written_verbatim() {
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
