//! Collects problems while a configuration is read and checked: bounded, and sorted at the end.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use super::suggest::{COMPARISON, closest};
use super::{Problem, Severity, SourceText};
use crate::Leniency;

/// Position in a source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceSpan {
    /// Index of the source text.
    pub source: u32,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Number of characters, all on that line.
    pub length: u32,
}

/// Problems found so far.
#[derive(Debug)]
pub struct ProblemReport {
    found: Vec<PendingProblem>,
    /// Receives the hint of a problem that is not shown.
    spare: PendingProblem,
    /// Hashes of all problems so far, shown or not: a problem that is reported twice counts once.
    known: HashSet<u64>,
    hasher: RandomState,
    /// Errors so far, shown or not.
    errors: usize,
    /// Warnings so far, shown or not.
    warnings: usize,
    /// Remaining budget for suggestions of what was meant.
    guesses_left: usize,
    /// Whether objections are warnings.
    is_lenient: bool,
}

/// A problem whose position is not yet resolved to a file name.
#[derive(Debug)]
pub struct PendingProblem {
    place: SourceSpan,
    severity: Severity,
    message: String,
    hint: Option<String>,
    /// Whether it is only counted.
    is_hidden: bool,
}

impl Default for ProblemReport {
    /// Returns an empty report.
    fn default() -> Self {
        Self {
            found: Vec::new(),
            spare: PendingProblem::hidden(),
            known: HashSet::new(),
            hasher: RandomState::new(),
            errors: 0,
            warnings: 0,
            guesses_left: GUESSES_MAX,
            is_lenient: false,
        }
    }
}

impl ProblemReport {
    /// Creates an empty report.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs `read`, during which objections have the severity that `leniency` specifies.
    pub fn with<T>(&mut self, leniency: Leniency, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.is_lenient, leniency == Leniency::Lenient);
        let done = read(self);
        self.is_lenient = before;
        done
    }

    /// Whether objections are warnings.
    pub fn is_lenient(&self) -> bool {
        self.is_lenient
    }

    /// Reports an objection at `place`: an error, or a warning if leniency was requested, because the item in question
    /// can be ignored.
    pub fn objection(&mut self, place: SourceSpan, message: impl Into<String>) -> &mut PendingProblem {
        self.note(place, self.objection_severity(), message.into())
    }

    /// Reports an objection whose message is built only if it is shown; problems are distinguished by `place` alone.
    pub(crate) fn objection_with(
        &mut self,
        place: SourceSpan,
        message: impl FnOnce() -> String,
    ) -> &mut PendingProblem {
        self.note_with(place, self.objection_severity(), message)
    }

    /// Reports an error whose message is built only if it is shown; problems are distinguished by `place` alone.
    pub(crate) fn error_with(
        &mut self,
        place: SourceSpan,
        message: impl FnOnce() -> String,
    ) -> &mut PendingProblem {
        self.note_with(place, Severity::Error, message)
    }

    /// Reports an error at `place`; the returned problem can be given a hint.
    pub fn error(&mut self, place: SourceSpan, message: impl Into<String>) -> &mut PendingProblem {
        self.note(place, Severity::Error, message.into())
    }

    /// Reports a warning at `place`; the returned problem can be given a hint.
    pub fn warning(&mut self, place: SourceSpan, message: impl Into<String>) -> &mut PendingProblem {
        self.note(place, Severity::Warning, message.into())
    }

    /// Whether an error was reported.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Returns the candidate that `written` was probably meant to be.
    ///
    /// # Cost
    /// Bounded for the whole report, including candidates that are skipped: in a file with thousands of bad names, the
    /// last ones get no suggestions.
    pub fn closest<'c>(
        &mut self,
        written: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<&'c str> {
        closest(written, candidates, &mut self.guesses_left)
    }

    /// Returns the problems in the order of the files, without duplicates and with resolved positions, followed by the
    /// number of those that are not shown.
    pub fn into_problems(mut self, sources: &[SourceText]) -> Vec<Problem> {
        self.found.sort_by(|a, b| (a.place, a.severity, &a.message).cmp(&(b.place, b.severity, &b.message)));
        self.found.dedup_by(|a, b| a.place == b.place && a.message == b.message);
        let last_place = self.found.last().map_or_else(SourceSpan::default, |found| found.place);
        let listed = self.found.into_iter().map(|found| found.into_problem(sources));
        let unlisted =
            [(self.errors, Severity::Error, "errors"), (self.warnings, Severity::Warning, "warnings")]
                .into_iter()
                .filter(|(count, ..)| *count > PROBLEMS_MAX)
                .map(|(count, severity, what)| {
                    let count = count - PROBLEMS_MAX;
                    let message = format!("{count} more {what} are not shown");
                    let found = PendingProblem::new(last_place, severity, message);
                    Problem { count, ..found.into_problem(sources) }
                });
        listed.chain(unlisted).collect()
    }

    fn objection_severity(&self) -> Severity {
        if self.is_lenient { Severity::Warning } else { Severity::Error }
    }

    fn note(&mut self, place: SourceSpan, severity: Severity, message: String) -> &mut PendingProblem {
        let hash = self.hasher.hash_one((place, severity, &*message));
        self.add(hash, place, severity, || message)
    }

    fn note_with(
        &mut self,
        place: SourceSpan,
        severity: Severity,
        message: impl FnOnce() -> String,
    ) -> &mut PendingProblem {
        let hash = self.hasher.hash_one((place, severity));
        self.add(hash, place, severity, message)
    }

    fn add(
        &mut self,
        hash: u64,
        place: SourceSpan,
        severity: Severity,
        message: impl FnOnce() -> String,
    ) -> &mut PendingProblem {
        if !self.count(hash, severity) {
            self.spare = PendingProblem::hidden();
            return &mut self.spare;
        }
        self.found.push(PendingProblem::new(place, severity, message()));
        self.found.last_mut().expect("a problem was added")
    }

    /// Counts a problem unless it is already known; returns whether it is to be shown.
    fn count(&mut self, hash: u64, severity: Severity) -> bool {
        if !self.known.insert(hash) {
            return false;
        }
        let count = match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        *count += 1;
        *count <= PROBLEMS_MAX
    }
}

impl PendingProblem {
    fn new(place: SourceSpan, severity: Severity, message: String) -> Self {
        Self { place, severity, message, hint: None, is_hidden: false }
    }

    /// Returns a problem that is only counted.
    fn hidden() -> Self {
        Self { is_hidden: true, ..Self::new(SourceSpan::default(), Severity::Error, String::new()) }
    }

    /// Adds a hint how to fix the problem.
    pub fn hint(&mut self, hint: impl Into<String>) {
        self.hint = Some(hint.into());
    }

    /// Adds a hint how to fix the problem, built only if the problem is shown.
    pub(crate) fn hint_with(&mut self, hint: impl FnOnce() -> String) {
        if !self.is_hidden {
            self.hint = Some(hint());
        }
    }

    fn into_problem(self, sources: &[SourceText]) -> Problem {
        let source = sources.get(self.place.source as usize);
        Problem {
            path: source.map_or_else(|| "".into(), |source| source.path.clone()),
            line: self.place.line,
            column: self.place.column,
            length: self.place.length,
            severity: self.severity,
            message: self.message,
            hint: self.hint,
            count: 1,
        }
    }
}

/// Returns `text` as a message may show it: control characters are escaped and long texts are cut.
pub fn shown(text: &str) -> Cow<'_, str> {
    let is_fine = text.len() <= QUOTED_CHARS_MAX && !text.contains(is_unshowable);
    if is_fine {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == QUOTED_CHARS_MAX {
            out.push('…');
            break;
        }
        if is_unshowable(character) {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

/// Whether `character` is a control character or changes the writing direction, by which a text could disguise itself.
pub(super) fn is_unshowable(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Maximum number of errors, and of warnings, that are shown.
const PROBLEMS_MAX: usize = 1000;
/// Total budget for suggestions: a comparison costs [`COMPARISON`], a candidate that is skipped costs 1.
const GUESSES_MAX: usize = 50_000 * COMPARISON;
/// Maximum number of characters of a value that a message repeats.
const QUOTED_CHARS_MAX: usize = 60;

#[cfg(test)]
mod tests {
    use super::{PROBLEMS_MAX, ProblemReport, SourceSpan};
    use crate::problem::{Problem, Severity};

    #[test]
    fn many_warnings_hide_no_error() {
        let mut report = ProblemReport::new();
        for line in 1..=3000 {
            report.warning(SourceSpan { line, ..SourceSpan::default() }, "odd").hint("look");
        }
        assert!(!report.has_errors());
        report.error(SourceSpan { line: 1, ..SourceSpan::default() }, "wrong").hint("mend");
        assert!(report.has_errors());
        let problems = report.into_problems(&[]);
        assert_eq!(problems.iter().filter(|problem| problem.severity == Severity::Error).count(), 1);
        assert_eq!(problems.len(), PROBLEMS_MAX + 2);
        assert_eq!(problems[PROBLEMS_MAX + 1].message, "2000 more warnings are not shown");
        assert_eq!(problems[0].hint.as_deref(), Some("mend"));
        assert_eq!((Problem::total(&problems), Problem::errors(&problems)), (3001, 1));
    }

    #[test]
    fn only_shown_problems_are_formatted() {
        let mut report = ProblemReport::new();
        let (mut messages, mut hints) = (0, 0);
        for line in 1..=500_000 {
            let place = SourceSpan { line, ..SourceSpan::default() };
            let message = || {
                messages += 1;
                "odd".to_owned()
            };
            report.error_with(place, message).hint_with(|| {
                hints += 1;
                "look".to_owned()
            });
        }
        let problems = report.into_problems(&[]);
        assert_eq!((messages, hints), (PROBLEMS_MAX, PROBLEMS_MAX));
        assert_eq!(problems[PROBLEMS_MAX].message, "499000 more errors are not shown");
        assert_eq!(Problem::errors(&problems), 500_000);
    }

    #[test]
    fn a_problem_that_is_reported_twice_counts_once() {
        let mut report = ProblemReport::new();
        for line in (1..=1500).chain(1..=1500) {
            report.error(SourceSpan { line, ..SourceSpan::default() }, "wrong").hint("mend");
        }
        // One position may have several problems.
        report.error(SourceSpan { line: 1, ..SourceSpan::default() }, "also wrong");
        assert_eq!(Problem::errors(&report.into_problems(&[])), 1501);
    }
}
