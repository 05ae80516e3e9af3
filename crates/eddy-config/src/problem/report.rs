//! Collects problems while a configuration is read and checked; bounded, sorted at the end.

use std::borrow::Cow;

use super::{Problem, Severity, SourceText, closest};

/// Where something is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    /// Index of the source text.
    pub(crate) source: u32,
    /// Line, from 1.
    pub(crate) line: u32,
    /// Column in characters, from 1.
    pub(crate) column: u32,
    /// Characters meant, all on that line.
    pub(crate) length: u32,
}

/// The problems found so far.
#[derive(Debug)]
pub(crate) struct Report {
    found: Vec<Found>,
    /// Where the hint of a problem beyond the limit goes.
    spare: Found,
    /// How many there were, those beyond the limit counted.
    errors: usize,
    /// How many there were, those beyond the limit counted.
    warnings: usize,
    /// Comparisons that are still spent on guessing what was meant.
    comparisons_left: usize,
    /// Whether objections are warnings.
    is_lenient: bool,
}

/// A problem whose place is not yet spelled out.
#[derive(Debug, Default)]
pub(crate) struct Found {
    place: Place,
    is_warning: bool,
    message: String,
    hint: Option<String>,
}

impl Report {
    /// A report without problems.
    pub(crate) fn new() -> Self {
        Self {
            found: Vec::new(),
            spare: Found::default(),
            errors: 0,
            warnings: 0,
            comparisons_left: COMPARISONS_MAX,
            is_lenient: false,
        }
    }

    /// Makes objections warnings from now on.
    pub(crate) fn be_lenient(&mut self) {
        self.is_lenient = true;
    }

    /// Makes objections errors again.
    pub(crate) fn be_strict(&mut self) {
        self.is_lenient = false;
    }

    /// Whether objections are warnings.
    pub(crate) fn is_lenient(&self) -> bool {
        self.is_lenient
    }

    /// Notes what can be passed over at `place`: an error, or a warning where leniency was asked for.
    pub(crate) fn objection(&mut self, place: Place, message: impl Into<String>) -> &mut Found {
        self.note(Found { place, is_warning: self.is_lenient, message: message.into(), hint: None })
    }

    /// Notes an error at `place`; a hint may be added to what is returned.
    pub(crate) fn error(&mut self, place: Place, message: impl Into<String>) -> &mut Found {
        self.note(Found { place, is_warning: false, message: message.into(), hint: None })
    }

    /// Notes a warning at `place`; a hint may be added to what is returned.
    pub(crate) fn warning(&mut self, place: Place, message: impl Into<String>) -> &mut Found {
        self.note(Found { place, is_warning: true, message: message.into(), hint: None })
    }

    /// Whether an error was noted.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// The candidate that `written` was probably meant to be.
    ///
    /// # Cost
    /// Bounded for the whole report: a file with thousands of bad names gets no guesses for the last of them.
    pub(crate) fn closest<'c>(
        &mut self,
        written: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<&'c str> {
        closest(written, candidates, &mut self.comparisons_left)
    }

    /// The problems in the order of the files, each told once, places spelled out.
    pub(crate) fn into_problems(mut self, sources: &[SourceText]) -> Vec<Problem> {
        self.found
            .sort_by(|a, b| (a.place, a.is_warning, &a.message).cmp(&(b.place, b.is_warning, &b.message)));
        self.found.dedup_by(|a, b| a.place == b.place && a.message == b.message);
        let last_place = self.found.last().map_or_else(Place::default, |found| found.place);
        for (count, is_warning, what) in [(self.errors, false, "errors"), (self.warnings, true, "warnings")] {
            if let Some(untold @ 1..) = count.checked_sub(PROBLEMS_MAX) {
                let message = format!("{untold} more {what} are not shown");
                self.found.push(Found { place: last_place, is_warning, message, hint: None });
            }
        }
        self.found.into_iter().map(|found| found.into_problem(sources)).collect()
    }

    fn note(&mut self, found: Found) -> &mut Found {
        let count = if found.is_warning { &mut self.warnings } else { &mut self.errors };
        *count += 1;
        if *count > PROBLEMS_MAX {
            self.spare = found;
            return &mut self.spare;
        }
        self.found.push(found);
        self.found.last_mut().unwrap_or(&mut self.spare)
    }
}

impl Found {
    /// Adds what to do about it.
    pub(crate) fn hint(&mut self, hint: impl Into<String>) {
        self.hint = Some(hint.into());
    }

    fn into_problem(self, sources: &[SourceText]) -> Problem {
        let source = sources.get(self.place.source as usize);
        Problem {
            path: source.map_or_else(|| "".into(), |source| source.path.clone()),
            line: self.place.line,
            column: self.place.column,
            length: self.place.length,
            severity: if self.is_warning { Severity::Warning } else { Severity::Error },
            message: self.message,
            hint: self.hint,
        }
    }
}

/// `text` as a message may show it: control characters escaped, long text cut.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    let is_fine = text.len() <= SHOWN_CHARS_MAX && !text.contains(is_unshowable);
    if is_fine {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for (count, character) in text.chars().enumerate() {
        if count == SHOWN_CHARS_MAX {
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

/// Control characters and the marks that turn the direction of writing: they would let a text disguise itself.
pub(super) fn is_unshowable(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Most errors, and most warnings, told at once.
const PROBLEMS_MAX: usize = 1000;
/// Most comparisons spent on guessing what was meant, in all.
const COMPARISONS_MAX: usize = 50_000;
/// Most characters of a value that a message repeats.
const SHOWN_CHARS_MAX: usize = 60;

#[cfg(test)]
mod tests {
    use super::{PROBLEMS_MAX, Place, Report};
    use crate::problem::Severity;

    #[test]
    fn many_warnings_hide_no_error() {
        let mut report = Report::new();
        for line in 1..=3000 {
            report.warning(Place { line, ..Place::default() }, "odd").hint("look");
        }
        assert!(!report.has_errors());
        report.error(Place { line: 1, ..Place::default() }, "wrong").hint("mend");
        assert!(report.has_errors());
        let problems = report.into_problems(&[]);
        assert_eq!(problems.iter().filter(|problem| problem.severity == Severity::Error).count(), 1);
        assert_eq!(problems.len(), PROBLEMS_MAX + 2);
        assert_eq!(problems[PROBLEMS_MAX + 1].message, "2000 more warnings are not shown");
        assert_eq!(problems[0].hint.as_deref(), Some("mend"));
    }
}
