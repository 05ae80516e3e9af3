//! Recorded opinions of external parsers, for machines that do not have them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::seen::{ParserObservation, SeenMessage};
use crate::place;

/// Opinion of a parser on bytes with an expected result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Opinion {
    /// The parser saw what was expected.
    Same,
    /// The parser saw a prefix of what was expected and refused the rest, for this reason.
    Refuses(String),
    /// The parser saw something else.
    Differs(ParserObservation),
}

/// Opinions of one parser, by [`key_of`].
#[derive(Clone, Debug, Default)]
pub(super) struct OpinionRecording {
    opinions: BTreeMap<u64, Opinion>,
}

impl Opinion {
    /// Compares `seen` with what was expected.
    pub(super) fn of(seen: ParserObservation, expected: &[SeenMessage]) -> Self {
        if seen.messages == expected {
            Self::Same
        } else if expected.starts_with(&seen.messages) && !seen.error.is_empty() {
            Self::Refuses(seen.error)
        } else {
            Self::Differs(seen)
        }
    }

    fn to_text(&self) -> String {
        match self {
            Self::Same => "same".to_owned(),
            Self::Refuses(why) => format!("refuses {why:?}"),
            Self::Differs(seen) => format!("differs {:?}", format!("{seen:?}")),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let quoted = |text: &str| Some(text.strip_prefix('"')?.strip_suffix('"')?.to_owned());
        match text.split_once(' ') {
            None if text == "same" => Some(Self::Same),
            Some(("refuses", why)) => Some(Self::Refuses(quoted(why)?)),
            Some(("differs", what)) => {
                Some(Self::Differs(ParserObservation { messages: Vec::new(), error: quoted(what)? }))
            }
            None | Some(_) => None,
        }
    }
}

impl OpinionRecording {
    /// Reads the recorded opinions of a parser.
    ///
    /// # Errors
    /// When there is no record, or it cannot be parsed.
    pub(super) fn read(name: &str) -> Result<Self> {
        let path = path_of(name);
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let mut record = Self::default();
        for line in text.lines() {
            let parsed = line.split_once(' ').and_then(|(key, opinion)| {
                Some((u64::from_str_radix(key, 16).ok()?, Opinion::parse(opinion)?))
            });
            let (key, opinion) =
                parsed.with_context(|| format!("{}: not understood: {line:?}", path.display()))?;
            record.opinions.insert(key, opinion);
        }
        Ok(record)
    }

    /// Writes the recorded opinions of a parser.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(super) fn write(&self, name: &str) -> Result<()> {
        let mut text = String::new();
        for (key, opinion) in &self.opinions {
            writeln!(text, "{key:016x} {}", opinion.to_text())?;
        }
        let path = path_of(name);
        std::fs::write(&path, text).with_context(|| path.display().to_string())
    }

    /// Returns the opinion with this key, if it was recorded.
    pub(super) fn opinion(&self, key: u64) -> Option<Opinion> {
        self.opinions.get(&key).cloned()
    }

    /// Adds an opinion.
    pub(super) fn add(&mut self, key: u64, opinion: Opinion) {
        self.opinions.insert(key, opinion);
    }
}

/// Returns a hash of bytes and the expected messages (FNV-1a).
pub(super) fn key_of(bytes: &[u8], expected: &[SeenMessage]) -> u64 {
    let expected = format!("{expected:?}");
    bytes
        .iter()
        .chain(expected.as_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn path_of(name: &str) -> PathBuf {
    place::tree().join("tests/differential/recorded").join(name.replace(' ', "-")).with_extension("txt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_verdicts_round_trip_through_the_file() {
        let seen = ParserObservation { messages: Vec::new(), error: "it says \"no\"\nand more".to_owned() };
        for opinion in [Opinion::Same, Opinion::Refuses("bad".to_owned())] {
            assert_eq!(Opinion::parse(&opinion.to_text()), Some(opinion));
        }
        let text = Opinion::Differs(seen).to_text();
        assert!(!text.contains('\n') && matches!(Opinion::parse(&text), Some(Opinion::Differs(_))), "{text}");
        assert_eq!(Opinion::parse("nothing"), None);
    }

    #[test]
    fn keys_distinguish_bytes_and_expectations() {
        let message = SeenMessage { method: "GET".into(), ..SeenMessage::default() };
        assert_ne!(key_of(b"a", &[]), key_of(b"b", &[]));
        assert_ne!(key_of(b"a", &[]), key_of(b"a", &[message]));
    }
}
