//! Which file a library came from, so that a changed one is noticed.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A file as it was: another one at its path, or the same one written anew, has another identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    modified_ns: i128,
}

impl FileIdentity {
    /// The identity of what lies at this path now.
    ///
    /// # Errors
    /// What the kernel says of `stat`.
    pub fn of(path: &Path) -> io::Result<Self> {
        let status = fs::metadata(path)?;
        Ok(Self {
            device: status.dev(),
            inode: status.ino(),
            size: status.size(),
            modified_ns: i128::from(status.mtime()) * 1_000_000_000 + i128::from(status.mtime_nsec()),
        })
    }

    /// Whether both are one file to the loader of libraries, changed or not.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}
