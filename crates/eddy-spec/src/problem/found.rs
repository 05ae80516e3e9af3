//! A problem as callers see it: position, message and hint.

use std::fmt;

use eddy_ids::Shared;
use eddy_model::{SourcePosition, WrittenPath};
use serde::Serialize;

/// A source text, and the name under which its problems are reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// File name as given by the user.
    pub path: Shared<str>,
    /// Complete text.
    pub text: Shared<str>,
    /// Whether another source includes it: it is not a configuration of its own, but a part of that one.
    pub is_included: bool,
}

/// An error or a probable mistake in a configuration.
///
/// `Display` writes `file:line:column: error: message`, and a hint on a line of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// File name as given by the user.
    pub path: Shared<str>,
    /// Line, counted from 1; 0 if the problem concerns the file as a whole.
    pub line: u32,
    /// Column in characters, counted from 1; 0 when `line` is 0.
    pub column: u32,
    /// Number of characters of the line that the problem concerns; at least 1 if there is a line.
    pub length: u32,
    /// Whether the configuration can still be used.
    pub severity: Severity,
    /// Message: lower case, no full stop.
    pub message: String,
    /// Suggested fix, if there is one.
    pub hint: Option<String>,
    /// Number of problems that this one stands for: 1, or more if it reports how many are not shown.
    #[serde(skip)]
    pub count: usize,
}

/// Severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The configuration cannot be used.
    Error,
    /// The configuration can be used, but probably does not mean what was intended.
    Warning,
}

impl SourceText {
    /// Creates a source text with the name `path`.
    pub fn new(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into(), is_included: false }
    }

    /// Returns the same text as a part of another source that includes it.
    pub fn included(self) -> Self {
        Self { is_included: true, ..self }
    }
}

impl Problem {
    /// Creates a problem with a file that TLS needs, at the position where the file is named.
    pub fn about(
        named: &WrittenPath,
        severity: Severity,
        message: impl fmt::Display,
        hint: Option<String>,
    ) -> Self {
        let message = format!("`{}`: {message}", named.path.display());
        Self::at(&named.place, severity, message, hint)
    }

    /// Creates a problem at a recorded position.
    pub fn at(place: &SourcePosition, severity: Severity, message: String, hint: Option<String>) -> Self {
        Self {
            path: Shared::clone(&place.file),
            line: place.line,
            column: place.column,
            length: place.length,
            severity,
            message,
            hint,
            count: 1,
        }
    }

    /// Returns the number of `problems`, including those that are not shown.
    pub fn total(problems: &[Self]) -> usize {
        problems.iter().map(|problem| problem.count).sum()
    }

    /// Returns the number of errors among `problems`, including those that are not shown.
    pub fn errors(problems: &[Self]) -> usize {
        let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
        errors.map(|problem| problem.count).sum()
    }

    /// Creates an error that concerns a file as a whole, such as one that cannot be read.
    pub fn of_file(path: &str, message: String, hint: Option<String>) -> Self {
        let place = SourcePosition { file: path.into(), line: 0, column: 0, length: 0 };
        Self::at(&place, Severity::Error, message, hint)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}: {}", self.severity, self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}
