//! Rules that values must satisfy.

use regex_automata::dfa::{Automaton, dense};
use regex_automata::{Anchored, Input};

use crate::schema::FieldType;
use crate::wire::unzigzag;

/// Condition on a field.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RuleTest {
    /// The field is present wherever its message is; without presence, it does not have the default.
    Present,
    /// A string or bytes are UTF-8, whether the schema requires it or not.
    Utf8,
    /// A string or bytes have a length in bytes within a range.
    Bytes {
        /// Minimum.
        min: usize,
        /// Maximum.
        max: usize,
    },
    /// A string has a number of characters within a range.
    Characters {
        /// Minimum.
        min: usize,
        /// Maximum.
        max: usize,
    },
    /// An integer or enum number is in a range.
    Integer {
        /// Minimum.
        min: i128,
        /// Maximum.
        max: i128,
    },
    /// A `float` or `double` is in a range, and not NaN.
    Number {
        /// Minimum.
        min: f64,
        /// Maximum.
        max: f64,
    },
    /// A part of a string matches a regular expression; `^` and `$` anchor it.
    Pattern(String),
}

/// A compiled rule.
#[derive(Debug)]
pub(super) enum CompiledRuleTest {
    Utf8,
    Bytes { min: usize, max: usize },
    Characters { min: usize, max: usize },
    Integer { min: i128, max: i128 },
    Number { min: f64, max: f64 },
    Pattern(Box<dense::DFA<Vec<u32>>>),
}

impl CompiledRuleTest {
    /// Whether bytes satisfy the rule.
    pub(super) fn holds_for_bytes(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Utf8 => bytes.is_ascii() || std::str::from_utf8(bytes).is_ok(),
            Self::Bytes { min, max } => (*min..=*max).contains(&bytes.len()),
            Self::Characters { min, max } => {
                std::str::from_utf8(bytes).is_ok_and(|text| (*min..=*max).contains(&text.chars().count()))
            }
            Self::Pattern(pattern) => {
                let input = Input::new(bytes).anchored(Anchored::No).earliest(true);
                matches!(pattern.try_search_fwd(&input), Ok(Some(_)))
            }
            Self::Integer { .. } | Self::Number { .. } => true,
        }
    }

    /// Whether a number satisfies the rule.
    #[expect(clippy::cast_possible_truncation, reason = "32 bits on the wire are the low half of a varint")]
    pub(super) fn holds_for_number(&self, kind: FieldType, raw: u64) -> bool {
        match self {
            Self::Integer { min, max } => (*min..=*max).contains(&integer(kind, raw)),
            Self::Number { min, max } => {
                let value = match kind {
                    FieldType::Float => f64::from(f32::from_bits(raw as u32)),
                    _ => f64::from_bits(raw),
                };
                value >= *min && value <= *max
            }
            _ => true,
        }
    }
}

/// Returns the integer of a value on the wire.
#[expect(clippy::cast_possible_truncation, reason = "32 bits on the wire are the low half of a varint")]
pub(super) fn integer(kind: FieldType, raw: u64) -> i128 {
    match kind {
        FieldType::Int32 | FieldType::Sfixed32 | FieldType::Enum(_) => i128::from(raw as i32),
        FieldType::Uint32 | FieldType::Fixed32 => i128::from(raw as u32),
        FieldType::Sint32 => i128::from(unzigzag(u64::from(raw as u32))),
        FieldType::Sint64 => i128::from(unzigzag(raw)),
        FieldType::Int64 | FieldType::Sfixed64 => i128::from(raw.cast_signed()),
        _ => i128::from(raw),
    }
}

/// Compiles a pattern, or returns an error text.
pub(super) fn compile(pattern: &str) -> Result<CompiledRuleTest, String> {
    let config = dense::Config::new()
        .dfa_size_limit(Some(PATTERN_BYTES_MAX))
        .determinize_size_limit(Some(PATTERN_BYTES_MAX))
        .start_kind(regex_automata::dfa::StartKind::Unanchored);
    let dfa = dense::Builder::new().configure(config).build(pattern);
    dfa.map(|dfa| CompiledRuleTest::Pattern(Box::new(dfa))).map_err(|error| {
        let mut problem = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            problem = cause.to_string();
            source = cause.source();
        }
        problem
    })
}

/// Maximum size of an automaton, and of the memory to build it.
const PATTERN_BYTES_MAX: usize = 4 << 20;
