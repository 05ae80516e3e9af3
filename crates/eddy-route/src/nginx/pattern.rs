//! Regular expressions as in NGINX: unanchored unless they contain anchors.

use std::ops::Range;

use regex_syntax::hir::{Hir, HirKind, Look, Repetition};

use super::pcre::translate;
use super::variable::Variables;
use crate::compile::{Groups, Pattern, PatternScratch, RegexMatchMode, parse};
use crate::error::RouteProblem;

/// Whether letter case is significant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LetterCase {
    /// Case-sensitive.
    Counts,
    /// Case-insensitive for ASCII letters.
    Ignored,
}

/// An expression that is searched for anywhere in a value.
///
/// It works on bytes, `$` also matches before a final line end, and the groups are those of the leftmost match.
#[derive(Debug)]
pub struct SearchPattern {
    pattern: Pattern,
    /// Expression in the syntax of the Rust parser.
    syntax: Box<str>,
    case: LetterCase,
    /// Number and name of the named groups.
    names: Vec<(usize, Box<str>)>,
    /// Number and variable of the named groups.
    slots: Vec<(usize, u32)>,
    groups: usize,
}

impl SearchPattern {
    /// Parses and compiles an expression.
    ///
    /// # Errors
    /// The problem: the expression is malformed, too large, or uses features that take more than one pass to match
    /// (look-around, backreferences, possessive repetition).
    pub fn parse(text: &str, case: LetterCase) -> Result<Self, RouteProblem> {
        let fault = |reason| RouteProblem::Regex { pattern: text.to_owned(), reason };
        let syntax = translate(text).map_err(fault)?;
        let mode = match case {
            LetterCase::Counts => RegexMatchMode::Unanchored,
            LetterCase::Ignored => RegexMatchMode::UnanchoredCaseless,
        };
        let hir = parse(&syntax, text, mode)?;
        let groups = hir.properties().explicit_captures_len();
        let wanted = if groups > 0 { Groups::Captured } else { Groups::Ignored };
        let pattern = Pattern::of_syntax(text, ends_before_line_end(&hir), mode, wanted)?;
        let names = pattern
            .group_names()
            .into_iter()
            .filter_map(|(number, name)| Some((number, name?.into())))
            .collect();
        Ok(Self { pattern, syntax: syntax.into(), case, names, slots: Vec::new(), groups })
    }

    /// Returns the expression as written.
    pub fn text(&self) -> &str {
        self.pattern.text()
    }

    /// Returns the expression in the syntax of Rust's `regex` crate, which works on bytes: `(?-u)`.
    pub fn syntax(&self) -> &str {
        &self.syntax
    }

    /// Returns whether letter case is significant.
    pub fn letter_case(&self) -> LetterCase {
        self.case
    }

    /// Returns the names of its groups, each with its number.
    pub fn names(&self) -> impl Iterator<Item = (usize, &str)> {
        self.names.iter().map(|(number, name)| (*number, &**name))
    }

    /// Defines variables for its named groups.
    ///
    /// # Errors
    /// The name of a group that is also a built-in variable of NGINX.
    pub fn bind(&mut self, variables: &mut Variables) -> Result<(), String> {
        for (number, name) in &self.names {
            let slot = variables.define(name).ok_or_else(|| name.to_string())?;
            self.slots.push((*number, slot));
        }
        Ok(())
    }

    /// Returns number and variable of the named groups.
    pub(crate) fn slots(&self) -> &[(usize, u32)] {
        &self.slots
    }

    /// Whether the expression matches anywhere in the value.
    pub(crate) fn is_in(&self, value: &[u8], scratch: &mut PatternScratch) -> bool {
        self.pattern.matches(value, scratch)
    }

    /// Matches as [`Self::is_in`] does, and returns the groups from the first one on; `groups` is cleared.
    pub(crate) fn find(
        &self,
        value: &[u8],
        scratch: &mut PatternScratch,
        groups: &mut Vec<Range<usize>>,
    ) -> bool {
        if !self.pattern.matches(value, scratch) {
            return false;
        }
        groups.clear();
        if self.groups > 0 && self.pattern.find_groups(value, scratch) {
            groups.extend((1..=self.groups).map(|number| scratch.group(number)));
        }
        true
    }
}

/// Returns the expression with each `$` also matching before a final line end.
fn ends_before_line_end(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Look(Look::End) => {
            let line_end = Hir::repetition(Repetition {
                min: 0,
                max: Some(1),
                greedy: false,
                sub: Box::new(Hir::literal(b"\n".as_slice())),
            });
            Hir::concat(vec![line_end, Hir::look(Look::End)])
        }
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(ends_before_line_end(&repetition.sub)),
            ..repetition.clone()
        }),
        HirKind::Capture(capture) => {
            let mut capture = capture.clone();
            *capture.sub = ends_before_line_end(&capture.sub);
            Hir::capture(capture)
        }
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(ends_before_line_end).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(ends_before_line_end).collect()),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => hir.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::{LetterCase, SearchPattern};
    use crate::compile::PatternScratch;

    fn check(pattern: &str, value: &str, expected: Option<&[&str]>) {
        let pattern = SearchPattern::parse(pattern, LetterCase::Counts).unwrap();
        let (mut scratch, mut groups) = (PatternScratch::default(), vec![7..9, 0..1]);
        let is_found = pattern.find(value.as_bytes(), &mut scratch, &mut groups);
        let found = is_found.then(|| groups.into_iter().map(|group| &value[group]).collect::<Vec<_>>());
        assert_eq!(found.as_deref(), expected, "{} {value}", pattern.text());
        assert_eq!(pattern.is_in(value.as_bytes(), &mut scratch), expected.is_some());
    }

    #[test]
    fn expressions_match_anywhere_in_the_text() {
        check("b", "abc", Some(&[]));
        check("^b", "abc", None);
        check("^/a/(.*)$", "/a/b/c", Some(&["b/c"]));
        check("/([^/]+)/(x)?", "/ab/cd", Some(&["ab", ""]));
        check("(a|ab)(c|bcd)?", "xabcd", Some(&["a", "bcd"]));
        check("[.]php$", "/x.php\n", Some(&[]));
        check("[.]php$", "/x.php\n\n", None);
        check("^/(.*)$", "/x\n", Some(&["x"]));
        check("^/a$|^/b", "/bc", Some(&[]));
    }

    #[test]
    fn syntax_of_pcre_is_translated() {
        check(r"^/\Qa.b\E/(\p{L}+)$", "/a.b/ab", Some(&["ab"]));
        check(r"^/\Qa.b\E/(\p{L}+)$", "/axb/ab", None);
        check(r"^/(\p{L}+)$", "/a1", None);
        check("^/([[{]+)$", "/[{", Some(&["[{"]));
        check("^/([*+]+)$", "/+*", Some(&["+*"]));
    }

    #[test]
    fn case_insensitivity_is_ascii_only() {
        let pattern = SearchPattern::parse("^/é/[a-c]$", LetterCase::Ignored).unwrap();
        let mut scratch = PatternScratch::default();
        assert!(pattern.is_in("/é/B".as_bytes(), &mut scratch));
        assert!(!pattern.is_in("/É/B".as_bytes(), &mut scratch));
    }

    #[test]
    fn expressions_that_need_backtracking_are_refused() {
        for text in ["(?!x)", "(?<=x)y", r"(a)\1", "a++", "(?>a)", "[a", "x{9}{999}{99}"] {
            assert!(SearchPattern::parse(text, LetterCase::Counts).is_err(), "{text}");
        }
    }

    #[test]
    fn groups_can_be_named() {
        let pattern = SearchPattern::parse("^(?<a>x)(y)(?P<b>z)", LetterCase::Counts).unwrap();
        assert_eq!(pattern.names().collect::<Vec<_>>(), [(1, "a"), (3, "b")]);
    }
}
