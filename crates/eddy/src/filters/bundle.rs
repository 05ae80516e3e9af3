//! Where the library lies that holds the filters of Go packages.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The library with the filters of exactly these packages: a process has room for one Go runtime, so all packages of a
/// configuration share a library.
///
/// # Errors
/// Why there is none, and what to do.
pub(super) fn bundle_of(packages: &BTreeSet<&Path>) -> Result<PathBuf, String> {
    let shown: Vec<String> = packages.iter().map(|package| package.display().to_string()).collect();
    Err(format!(
        "the packages {} are not built into a library yet; build it with `eddy filter build` and name it as `library`",
        shown.join(", ")
    ))
}
