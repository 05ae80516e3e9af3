//! Spare file descriptor for the moment when the process runs out of them.

use std::fs::File;
use std::io;

/// Holds one descriptor open, to be released when another one is needed.
#[derive(Debug)]
pub(super) struct Reserve {
    spare: Option<File>,
}

impl Reserve {
    /// Opens the spare descriptor.
    ///
    /// # Errors
    /// When no descriptor is left, or `/dev/null` is missing.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { spare: Some(File::open("/dev/null")?) })
    }

    /// Closes the spare descriptor; false when it is closed already.
    pub(super) fn release(&mut self) -> bool {
        self.spare.take().is_some()
    }

    /// Opens the spare descriptor again, if possible.
    pub(super) fn refill(&mut self) {
        if self.spare.is_none() {
            self.spare = File::open("/dev/null").ok();
        }
    }
}
