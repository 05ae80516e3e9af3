//! A problem as callers see it: where it is, what is wrong, what to do.

use std::fmt;
use std::sync::Arc;

use eddy_tls::{WrittenPath, WrittenPlace};
use serde::Serialize;

/// A text that was read, and the name its problems are reported under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// The file it came from, as the user named it.
    pub path: Arc<str>,
    /// The whole text.
    pub text: Arc<str>,
    /// Whether another source asks for it: it is no configuration of its own, but a piece of that one.
    pub is_included: bool,
}

/// Something in a configuration that is wrong or looks wrong.
///
/// `Display` writes `file:line:column: error: message`, and a hint on a line of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file, as the user named it.
    pub path: Arc<str>,
    /// Line, counted from 1; 0 when the problem is the file as a whole.
    pub line: u32,
    /// Column in characters, counted from 1; 0 when `line` is 0.
    pub column: u32,
    /// How many characters of the line are meant; at least 1 when there is a line.
    pub length: u32,
    /// Whether the configuration can be used.
    pub severity: Severity,
    /// What is wrong: lower case, no full stop.
    pub message: String,
    /// What to do about it, when there is something to say.
    pub hint: Option<String>,
    /// Number of problems that this one stands for: 1, or more where it says how many are not shown.
    #[serde(skip)]
    pub count: usize,
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The configuration can't be used.
    Error,
    /// The configuration can be used, but probably says something else than what was meant.
    Warning,
}

impl SourceText {
    /// A text under the name `path`.
    pub fn new(path: &str, text: &str) -> Self {
        Self { path: path.into(), text: text.into(), is_included: false }
    }

    /// The same text as a piece of another source that asks for it.
    pub fn included(self) -> Self {
        Self { is_included: true, ..self }
    }
}

impl Problem {
    /// A problem with what TLS needs, at the place where it is named.
    pub fn about(
        named: &WrittenPath,
        severity: Severity,
        message: impl fmt::Display,
        hint: Option<String>,
    ) -> Self {
        let message = format!("`{}`: {message}", named.path.display());
        Self { message, ..Self::at(&named.place, severity, String::new(), hint) }
    }

    /// A problem at a place that was written down.
    pub fn at(place: &WrittenPlace, severity: Severity, message: String, hint: Option<String>) -> Self {
        Self {
            path: Arc::clone(&place.file),
            line: place.line,
            column: place.column,
            length: place.length,
            severity,
            message,
            hint,
            count: 1,
        }
    }

    /// Number of `problems`, those that are not shown included.
    pub fn total(problems: &[Self]) -> usize {
        problems.iter().map(|problem| problem.count).sum()
    }

    /// Number of errors among `problems`, those that are not shown included.
    pub fn errors(problems: &[Self]) -> usize {
        let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
        errors.map(|problem| problem.count).sum()
    }

    /// An error of a file as a whole, such as one that can't be read.
    pub fn of_file(path: &str, message: String, hint: Option<String>) -> Self {
        Self {
            path: path.into(),
            line: 0,
            column: 0,
            length: 0,
            severity: Severity::Error,
            message,
            hint,
            count: 1,
        }
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
