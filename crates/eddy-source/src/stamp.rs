//! Metadata of a file that changes with its content.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Metadata that identifies one version of a file, after following symbolic links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    /// Seconds and nanoseconds of the last change of the content (mtime).
    modified: [i64; 2],
    /// Seconds and nanoseconds of the last change of the content or inode (ctime); programs cannot set it.
    changed: [i64; 2],
}

impl Stamp {
    /// Returns the current stamp of the file at `path`; `None` when it is missing or can't be reached.
    pub(crate) fn of_path(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata| Self::of(&metadata))
    }

    /// Returns the stamp in `metadata`.
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.size(),
            modified: [metadata.mtime(), metadata.mtime_nsec()],
            changed: [metadata.ctime(), metadata.ctime_nsec()],
        }
    }
}
