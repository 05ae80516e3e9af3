//! Errors of building a bundle.

use std::io;
use std::path::Path;

use eddy_spec::problem::{Problem, SourceText};
use thiserror::Error;

/// Why Go filters could not be linked into a library.
#[derive(Debug, Error)]
pub(crate) enum BundleFailure {
    /// The Go code or the modules of the filters are wrong.
    #[error("the Go code of the filters does not build")]
    Code {
        /// Problems reported by the Go command, with their positions.
        problems: Vec<Problem>,
        /// Source files that the problems refer to.
        sources: Vec<SourceText>,
    },
    /// Another failure.
    #[error("{message}")]
    Other {
        /// Description of the failure.
        message: String,
        /// Advice to the user.
        hint: Option<String>,
    },
}

impl BundleFailure {
    pub(crate) fn new(message: impl Into<String>, hint: Option<&str>) -> Self {
        Self::Other { message: message.into(), hint: hint.map(str::to_owned) }
    }

    /// Adds advice to a failure of the Go command, to its first problem.
    pub(super) fn with_hint(mut self, advice: Option<String>) -> Self {
        let Some(advice) = advice else { return self };
        match &mut self {
            Self::Code { problems, .. } => {
                if let Some(first) = problems.first_mut() {
                    first.hint = Some(advice);
                }
            }
            Self::Other { hint, .. } => *hint = Some(advice),
        }
        self
    }

    /// Returns the failure of an operation on a file or folder.
    pub(super) fn of_io(what: &str, path: &Path, error: &io::Error) -> Self {
        Self::new(format!("cannot {what} \"{}\": {error}", path.display()), None)
    }
}
