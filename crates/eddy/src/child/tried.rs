//! What was read last, so that it is seen whether there is anything new.

use std::sync::Arc;

use eddy_config::version_of;
use eddy_source::{CompanionsLook, FileSource, Rejected};

use super::load::Loaded;

/// What was read last, in force or not: its version, how many problems it has, and what the files looked like that it
/// names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tried {
    pub(super) version: Arc<str>,
    pub(super) problems: usize,
    pub(super) companions: CompanionsLook,
}

impl Tried {
    /// Notes what was read, and has the files watched that it names.
    pub(super) fn of(read: &Result<Loaded, Rejected>, source: &FileSource) -> Self {
        match read {
            Ok(loaded) => Self {
                version: version_of(&loaded.sources),
                problems: 0,
                companions: source.accompany(loaded.companions()),
            },
            Err(rejected) => Self {
                version: version_of(&rejected.sources),
                problems: rejected.problems.len(),
                companions: source.look_at_companions(),
            },
        }
    }
}
