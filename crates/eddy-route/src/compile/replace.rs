//! Search for an expression in a path and replacement of each match by a text.

use std::fmt;

use regex_automata::nfa::thompson::pikevm::{self, PikeVM};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input};

use crate::compile::pattern::{
    NFA_BYTES_MAX, PatternScratch, SIMULATED_BYTES_MAX, nfa_config, parse_whole, slot,
};
use crate::error::RouteProblem;
use crate::rule::PathReplace;

/// A search and its replacement.
pub(crate) struct Replace {
    machine: PikeVM,
    pieces: Vec<ReplacementPiece>,
}

/// A part of the replacement of a match.
#[derive(Debug, PartialEq)]
enum ReplacementPiece {
    Text(Box<str>),
    /// Text of a group; 0 for the whole match.
    Group(usize),
}

impl Replace {
    pub(crate) fn build(spec: &PathReplace) -> Result<Self, RouteProblem> {
        let too_large = || RouteProblem::RegexTooLarge { pattern: spec.expression.clone() };
        let hir = parse_whole(&spec.expression)?;
        let groups = hir.properties().explicit_captures_len();
        let config = nfa_config(WhichCaptures::All, NFA_BYTES_MAX);
        let nfa =
            thompson::Compiler::new().configure(config).build_from_hir(&hir).map_err(|_| too_large())?;
        if nfa.memory_usage() > SIMULATED_BYTES_MAX {
            return Err(too_large());
        }
        let machine = PikeVM::new_from_nfa(nfa).map_err(|_| too_large())?;
        let fault = |reason| RouteProblem::Rewrite { rewrite: spec.by.clone(), reason };
        let pieces = pieces(&spec.by).map_err(fault)?;
        if pieces.iter().any(|piece| matches!(piece, ReplacementPiece::Group(number) if *number > groups)) {
            return Err(fault("the expression has no group with this number"));
        }
        Ok(Self { machine, pieces })
    }

    /// Appends the path with each match replaced to `out`; stops after at most `bytes_max` bytes and one replacement.
    pub(crate) fn write(
        &self,
        path: &[u8],
        bytes_max: usize,
        scratch: &mut PatternScratch,
        out: &mut Vec<u8>,
    ) {
        let slots = self.machine.get_nfa().group_info().slot_len();
        let (cache, found) = scratch.machine(&self.machine, slots);
        // `at` is the start of the next search, `kept` the length of the path written so far.
        let (mut at, mut kept) = (0, 0);
        let mut last_end = None;
        while at <= path.len() && out.len() <= bytes_max {
            let Some((start, end)) = find(&self.machine, cache, path, at, found) else { break };
            if start == end && last_end == Some(start) {
                // An empty match directly after a match does not count; the search continues after the next byte.
                at = start + 1;
                continue;
            }
            out.extend_from_slice(&path[kept..start]);
            for piece in &self.pieces {
                match piece {
                    ReplacementPiece::Text(text) => out.extend_from_slice(text.as_bytes()),
                    ReplacementPiece::Group(number) => {
                        let group = slot(found, number * 2).zip(slot(found, number * 2 + 1));
                        // A group that took no part in the match is empty.
                        out.extend_from_slice(group.map_or(&[], |(start, end)| &path[start..end]));
                    }
                }
            }
            (kept, last_end) = (end, Some(end));
            at = if start == end { end + 1 } else { end };
        }
        out.extend_from_slice(&path[kept..]);
    }
}

impl fmt::Debug for Replace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Replace").field("pieces", &self.pieces).finish_non_exhaustive()
    }
}

/// Returns the first match at or after `at`.
fn find(
    machine: &PikeVM,
    cache: &mut pikevm::Cache,
    path: &[u8],
    at: usize,
    found: &mut [Option<NonMaxUsize>],
) -> Option<(usize, usize)> {
    found.fill(None);
    let input = Input::new(path).range(at..).anchored(Anchored::No);
    machine.search_slots(cache, &input, found)?;
    slot(found, 0).zip(slot(found, 1))
}

/// Parses `\1` and similar references.
fn pieces(text: &str) -> Result<Vec<ReplacementPiece>, &'static str> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(next) = rest.next() {
        if next != '\\' {
            plain.push(next);
            continue;
        }
        match rest.next() {
            Some('\\') => plain.push('\\'),
            Some(digit) if digit.is_ascii_digit() => {
                if !plain.is_empty() {
                    pieces.push(ReplacementPiece::Text(std::mem::take(&mut plain).into()));
                }
                pieces.push(ReplacementPiece::Group(digit as usize - '0' as usize));
            }
            _ => return Err("a \"\\\" must be followed by a digit or another \"\\\""),
        }
    }
    if !plain.is_empty() {
        pieces.push(ReplacementPiece::Text(plain.into()));
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::{PatternScratch, Replace};
    use crate::rule::PathReplace;

    fn check(path: &str, expression: &str, by: &str, expected: &str) {
        let spec = PathReplace { expression: expression.to_owned(), by: by.to_owned() };
        let mut out = Vec::new();
        Replace::build(&spec).unwrap().write(path.as_bytes(), 100, &mut PatternScratch::default(), &mut out);
        assert_eq!(out.escape_ascii().to_string(), expected, "{path} {expression} {by}");
    }

    #[test]
    fn every_match_is_replaced() {
        check("/aaa/b", "a", "x", "/xxx/b");
        check("/aaa/b", "a+", "x", "/x/b");
        check("/aaa/b", "^/a", "/x", "/xaa/b");
        check("/service/foo/v1/api", "^/service/([^/]+)(/.*)$", r"\2/instance/\1", "/v1/api/instance/foo");
        check("/xxx/one/yyy/one/zzz", "one", "two", "/xxx/two/yyy/two/zzz");
        check("/xxx/one/yyy/one/zzz", "^(.*?)one(.*)$", r"\1two\2", "/xxx/two/yyy/one/zzz");
        check("/aaa/XxX/bbb", "(?i)/xxx/", "/yyy/", "/aaa/yyy/bbb");
        check("abc", "b*", "-", "-a-c-");
        check("abc", "", "-", "-a-b-c-");
        check("/a", "(b)?/", r"<\1\0\\>", r"</\\>a");
        check("/a", "c", "x", "/a");
    }

    #[test]
    fn the_written_result_is_limited() {
        let spec = PathReplace { expression: "a".to_owned(), by: "x".repeat(60) };
        let mut out = Vec::new();
        let path = "a".repeat(50);
        Replace::build(&spec).unwrap().write(path.as_bytes(), 100, &mut PatternScratch::default(), &mut out);
        assert!(out.len() <= 100 + 60 + 50);
    }

    #[test]
    fn invalid_expressions_and_replacements_are_refused() {
        for (expression, by) in [("(a)", r"\2"), ("a", r"\x"), ("a", "\\"), ("(", "")] {
            let spec = PathReplace { expression: expression.to_owned(), by: by.to_owned() };
            assert!(Replace::build(&spec).is_err(), "{expression} {by}");
        }
    }
}
