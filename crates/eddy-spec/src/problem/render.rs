//! Shows problems to people (with the line they are in) and to programs (JSON).

use std::collections::HashMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::report::is_unshowable;
use super::{Problem, Severity, SourceText};
use crate::ObjectStatus;

/// Whether colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    Never,
    /// ANSI escape sequences, for a terminal.
    Always,
}

/// Renders `problems`, each with its line of `sources` and a marker below the text in question.
///
/// # Cost
/// One pass over the sources that have problems, however long their lines, as long as the problems are in order.
pub fn render(problems: &[Problem], sources: &[SourceText], colour: Colour) -> String {
    let paint = Paint::new(colour);
    // If two sources have the same name, the first is used.
    let by_path: HashMap<&str, &SourceText> = if problems.is_empty() {
        HashMap::new()
    } else {
        sources.iter().rev().map(|it| (&*it.path, it)).collect()
    };
    let mut lines: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut cursor = Cursor::default();
    let mut out = String::new();
    for problem in problems {
        let source = by_path.get(&*problem.path).filter(|_| problem.line > 0);
        let line = source.and_then(|source| {
            let lines = lines.entry(&source.path).or_insert_with(|| source.text.split('\n').collect());
            lines.get(problem.line as usize - 1).copied()
        });
        let excerpt = line.map(|line| Excerpt::of(line, problem, &mut cursor));
        render_one(&mut out, problem, excerpt, &paint);
    }
    out
}

/// Returns `problems` as a JSON document: an object with the list `problems`, whose members are the fields of
/// [`Problem`], and, if there are `objects`, their list, whose members are the fields of [`ObjectStatus`].
pub fn to_json(problems: &[Problem], objects: &[ObjectStatus]) -> String {
    #[derive(Serialize)]
    struct ProblemDocument<'p> {
        problems: &'p [Problem],
        #[serde(skip_serializing_if = "<[ObjectStatus]>::is_empty")]
        objects: &'p [ObjectStatus],
    }
    serde_json::to_string_pretty(&ProblemDocument { problems, objects })
        .expect("plain data is always written")
}

fn render_one(out: &mut String, problem: &Problem, excerpt: Option<Excerpt>, paint: &Paint) {
    let Paint { bold, blue, off, .. } = paint;
    let mark = paint.of(problem.severity);
    // Writing to a string never fails.
    let _ = writeln!(out, "{mark}{}{off}{bold}: {}{off}", problem.severity, problem.message);
    let number = if problem.line > 0 { problem.line.to_string() } else { String::new() };
    let margin = " ".repeat(number.len());
    let _ = write!(out, "{margin}{blue}-->{off} {}", problem.path);
    if problem.line > 0 {
        let _ = write!(out, ":{}:{}", problem.line, problem.column);
    }
    out.push('\n');
    if let Some(Excerpt { text, mark_start, mark_length }) = excerpt {
        let indent = " ".repeat(mark_start);
        let carets = "^".repeat(mark_length);
        let _ = writeln!(out, "{margin} {blue}|{off}");
        let _ = writeln!(out, "{blue}{number} |{off} {text}");
        let _ = writeln!(out, "{margin} {blue}|{off} {indent}{mark}{carets}{off}");
    }
    if let Some(hint) = &problem.hint {
        let _ = writeln!(out, "{margin} {blue}={off} {bold}hint:{off} {hint}");
    }
    out.push('\n');
}

/// The displayed part of a line, and the position of the marker below it.
struct Excerpt {
    text: String,
    mark_start: usize,
    mark_length: usize,
}

impl Excerpt {
    fn of<'s>(line: &'s str, problem: &Problem, cursor: &mut Cursor<'s>) -> Self {
        let column = (problem.column as usize).saturating_sub(1);
        let skipped = column.saturating_sub(EXCERPT_CHARS_MAX / 2);
        let rest = cursor.skip(line.trim_end_matches('\r'), skipped);
        let cut: String = rest.chars().take(EXCERPT_CHARS_MAX).collect();
        // Every character is shown as one character, so that the marker is below the right text.
        let text: String = cut.chars().map(|c| if is_unshowable(c) { ' ' } else { c }).collect();
        let mark_start = column - skipped;
        let room = text.chars().count().saturating_sub(mark_start).max(1);
        Self { text, mark_start, mark_length: (problem.length as usize).clamp(1, room) }
    }
}

/// Position in a line from which the search for the next excerpt continues, so that a file without line breaks is not
/// searched from its beginning for each of its problems.
#[derive(Default)]
struct Cursor<'s> {
    line: &'s str,
    chars: usize,
    bytes: usize,
    /// Characters skipped so far.
    #[cfg(test)]
    work: usize,
}

impl<'s> Cursor<'s> {
    /// Returns the rest of `line` after its first `chars` characters.
    fn skip(&mut self, line: &'s str, chars: usize) -> &'s str {
        if !std::ptr::eq(self.line, line) || chars < self.chars {
            (self.line, self.chars, self.bytes) = (line, 0, 0);
        }
        let rest = &line[self.bytes..];
        let wanted = chars - self.chars;
        let mut passed = 0;
        let bytes: usize = rest.chars().take(wanted).inspect(|_| passed += 1).map(char::len_utf8).sum();
        self.chars += passed;
        self.bytes += bytes;
        #[cfg(test)]
        {
            self.work += passed;
        }
        &rest[bytes..]
    }
}

/// The escape sequences in use; empty without colour.
struct Paint {
    red: &'static str,
    yellow: &'static str,
    blue: &'static str,
    bold: &'static str,
    off: &'static str,
}

impl Paint {
    fn new(colour: Colour) -> Self {
        match colour {
            Colour::Never => Self { red: "", yellow: "", blue: "", bold: "", off: "" },
            Colour::Always => Self {
                red: "\x1b[1;31m",
                yellow: "\x1b[1;33m",
                blue: "\x1b[1;34m",
                bold: "\x1b[1m",
                off: "\x1b[0m",
            },
        }
    }

    fn of(&self, severity: Severity) -> &'static str {
        match severity {
            Severity::Error => self.red,
            Severity::Warning => self.yellow,
        }
    }
}

/// Maximum number of characters of a line that are shown.
const EXCERPT_CHARS_MAX: usize = 160;

#[cfg(test)]
mod tests {
    use super::{Colour, Cursor, Excerpt, render, to_json};
    use crate::problem::{Problem, Severity, SourceText};

    fn problem() -> Problem {
        Problem {
            path: "eddy.yaml".into(),
            line: 2,
            column: 3,
            length: 4,
            severity: Severity::Error,
            message: "unknown key `adress`".to_owned(),
            hint: Some("did you mean `address`?".to_owned()),
            count: 1,
        }
    }

    #[test]
    fn the_line_is_shown_with_a_mark() {
        let source = SourceText::new("eddy.yaml", "admin:\n\tűadress: 1\r\n");
        let text = render(&[problem()], &[source], Colour::Never);
        let expected = "error: unknown key `adress`\n --> eddy.yaml:2:3\n  |\n2 |  űadress: 1\n  |   ^^^^\n  = hint: did you mean `address`?\n\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_missing_source_still_shows_the_message() {
        let text = render(&[problem()], &[], Colour::Never);
        assert_eq!(
            text,
            "error: unknown key `adress`\n --> eddy.yaml:2:3\n  = hint: did you mean `address`?\n\n"
        );
    }

    #[test]
    fn a_long_line_is_scanned_once_for_all_its_problems() {
        let line: String = (0..20_000).map(|number| format!("ű{number:05}, ")).collect();
        let mut cursor = Cursor::default();
        for number in 0..20_000_u32 {
            let problem = Problem { line: 1, column: number * 8 + 1, ..problem() };
            let Excerpt { text, mark_start, .. } = Excerpt::of(&line, &problem, &mut cursor);
            let marked: String = text.chars().skip(mark_start).take(6).collect();
            assert_eq!(marked, format!("ű{number:05}"));
        }
        assert!(cursor.work <= line.chars().count(), "{} characters passed", cursor.work);
        // Back to the beginning, and to another line.
        let problem = Problem { column: 1, ..problem() };
        assert!(Excerpt::of(&line, &problem, &mut cursor).text.starts_with("ű00000, "));
        assert!(Excerpt::of("short", &problem, &mut cursor).text.starts_with("short"));
    }

    #[test]
    fn colour_is_used_only_if_requested() {
        assert!(render(&[problem()], &[], Colour::Always).contains("\x1b[1;31merror"));
    }

    #[test]
    fn json_and_plain_text() {
        assert!(to_json(&[problem()], &[]).contains("\"severity\": \"error\""));
        assert_eq!(
            problem().to_string(),
            "eddy.yaml:2:3: error: unknown key `adress`\n  hint: did you mean `address`?"
        );
        let whole = Problem::of_file("x.yaml", "is empty".to_owned(), None);
        assert_eq!(whole.to_string(), "x.yaml: error: is empty");
    }
}
