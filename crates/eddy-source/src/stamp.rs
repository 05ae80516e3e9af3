//! What a file looks like from outside; another look means other content.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The look of a file, whatever links lead to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    bytes: u64,
    /// Seconds and nanoseconds of the last change of the content.
    modified: [i64; 2],
    /// The same of the content or the inode; nobody can set it back.
    changed: [i64; 2],
}

impl Stamp {
    /// The look of the file at `path` now; `None` when there is none or it can't be reached.
    pub(crate) fn of_path(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().map(|metadata| Self::of(&metadata))
    }

    /// The look that `metadata` describes.
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
