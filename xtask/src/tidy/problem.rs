//! A problem that a rule reports.

use std::fmt;

/// A violation of a rule, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Path of the file, relative to the root.
    pub path: String,
    /// Line number from 1; 0 for the file as a whole.
    pub line: usize,
    /// Description of the problem and its remedy.
    pub message: String,
}

impl Problem {
    /// Creates a problem at a line.
    pub fn at(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }

    /// Creates a problem of a file as a whole.
    pub fn of(path: &str, message: impl Into<String>) -> Self {
        Self::at(path, 0, message)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}
