//! Identity of a library file, for detecting changes.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Identity of a file: another file at its path, or a modified file, has another identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    modified_ns: i128,
}

impl FileIdentity {
    /// Returns the current identity of the file at a path.
    ///
    /// # Errors
    /// The error of `stat`.
    pub fn of(path: &Path) -> io::Result<Self> {
        let status = fs::metadata(path)?;
        Ok(Self {
            device: status.dev(),
            inode: status.ino(),
            size: status.size(),
            modified_ns: i128::from(status.mtime()) * 1_000_000_000 + i128::from(status.mtime_nsec()),
        })
    }

    /// Whether both are one file to the dynamic loader, modified or not.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}
