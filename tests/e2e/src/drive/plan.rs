//! Plan of a request case from a strict parser: how many responses to expect and where to cut it.

use crate::corpus::FramingCase;
use crate::wire::{ParseOutcome, Segments, WireRequest, read_request};

/// A request case as a strict parser reads it.
#[derive(Clone, Debug, Default)]
pub struct RequestCasePlan {
    /// Complete messages at the front.
    pub messages: Vec<WireRequest>,
    /// Whether the case ends in the middle of a message.
    pub is_cut: bool,
    /// Whether a strict parser rejects the case.
    pub is_invalid: bool,
}

/// Set of ways to cut a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cuts {
    /// The uncut case only.
    None,
    /// Uncut, in two at each byte (for a long case: at some bytes), and byte by byte.
    All,
}

impl RequestCasePlan {
    /// Parses a request case.
    pub fn of(case: &FramingCase) -> Self {
        let mut plan = Self::default();
        let mut rest = skip_empty_line(&case.raw);
        while !rest.is_empty() {
            match read_request(rest) {
                ParseOutcome::Whole { message, length } => {
                    plan.messages.push(*message);
                    rest = skip_empty_line(&rest[length..]);
                }
                ParseOutcome::Partial { .. } => {
                    plan.is_cut = true;
                    break;
                }
                ParseOutcome::Bad(_) => {
                    plan.is_invalid = true;
                    break;
                }
            }
        }
        plan
    }

    /// Returns the method of the request that response number `index` answers.
    pub fn method(&self, index: usize, case: &FramingCase) -> String {
        let bytes = self.messages.get(index).map_or_else(
            || case.raw.split(|byte| *byte == b' ').next().unwrap_or_default(),
            |message| message.method.as_slice(),
        );
        String::from_utf8_lossy(bytes).into_owned()
    }
}

impl Cuts {
    /// Returns the ways to cut `raw`.
    pub fn of(self, raw: &[u8]) -> Vec<Segments> {
        if self == Self::None {
            return vec![Segments::Whole];
        }
        let length = raw.len();
        if length <= EACH_BYTE_MAX {
            return Segments::all(length).collect();
        }
        // A long case repeats the same byte: cuts at both ends and at some positions in between are enough.
        let step = (length / 32).max(1);
        let places = (1..EDGE).chain((EDGE..length - EDGE).step_by(step)).chain(length - EDGE..length);
        [Segments::Whole].into_iter().chain(places.map(Segments::CutAt)).collect()
    }
}

/// Skips one empty line before a request (RFC 9112 §2.2).
fn skip_empty_line(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\r\n").unwrap_or(bytes)
}

const EACH_BYTE_MAX: usize = 600;
const EDGE: usize = 80;
