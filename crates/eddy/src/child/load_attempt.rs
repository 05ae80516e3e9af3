//! Result of the last load, to detect whether the files contain anything new.

use eddy_ids::Shared;
use eddy_source::{CompanionsSnapshot, FileSource, Rejected};
use eddy_spec::version_of;

use super::loaded::Loaded;

/// Result of the last load, whether in force or not: version, number of problems, and state of the companion files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LoadAttempt {
    pub(super) version: Shared<str>,
    pub(super) problems: usize,
    pub(super) companions: CompanionsSnapshot,
}

impl LoadAttempt {
    /// Records a valid configuration and starts watching its companion files.
    pub(super) fn of_valid(loaded: &Loaded, source: &FileSource) -> Self {
        let companions = source.accompany(loaded.companions());
        Self { version: version_of(&loaded.sources), problems: 0, companions }
    }

    /// Records a load and starts watching the companion files of a valid configuration.
    pub(super) fn of(read: &Result<Loaded, Rejected>, source: &FileSource) -> Self {
        match read {
            Ok(loaded) => Self::of_valid(loaded, source),
            Err(rejected) => Self {
                version: version_of(&rejected.sources),
                problems: rejected.problems.len(),
                companions: source.snapshot_companions(),
            },
        }
    }
}
