//! Why there is no bundle.

use std::io;
use std::path::Path;

use eddy_config::{Problem, SourceText};
use thiserror::Error;

/// Why Go filters could not be linked into a library.
#[derive(Debug, Error)]
pub(crate) enum BundleFailure {
    /// The code of the filters is wrong, or their modules.
    #[error("the Go code of the filters does not build")]
    Code {
        /// What the Go command said, each in its place.
        problems: Vec<Problem>,
        /// The files that are named there.
        sources: Vec<SourceText>,
    },
    /// Something else than the code is in the way.
    #[error("{message}")]
    Other {
        /// What.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
}

impl BundleFailure {
    pub(crate) fn new(message: impl Into<String>, hint: Option<&str>) -> Self {
        Self::Other { message: message.into(), hint: hint.map(str::to_owned) }
    }

    /// A file or folder that cannot be worked with.
    pub(super) fn of_io(what: &str, path: &Path, error: &io::Error) -> Self {
        Self::new(format!("cannot {what} \"{}\": {error}", path.display()), None)
    }
}
