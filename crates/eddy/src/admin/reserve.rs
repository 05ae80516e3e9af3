//! A descriptor kept for the moment when the process has no more.

use std::fs::File;
use std::io;

/// Holds one descriptor open so that it can be given up for another.
#[derive(Debug)]
pub(super) struct Reserve {
    spare: Option<File>,
}

impl Reserve {
    /// Takes a descriptor while there are some.
    ///
    /// # Errors
    /// When there is none left, or no `/dev/null`.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { spare: Some(File::open("/dev/null")?) })
    }

    /// Gives the descriptor up; false when it is given up already.
    pub(super) fn release(&mut self) -> bool {
        self.spare.take().is_some()
    }

    /// Takes one again, if there is one.
    pub(super) fn refill(&mut self) {
        if self.spare.is_none() {
            self.spare = File::open("/dev/null").ok();
        }
    }
}
