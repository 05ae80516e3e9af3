//! Standard error of the gateway process, turned to a file in memory that the parent reads when the process has died.
//!
//! eddy itself writes its records elsewhere, so what comes here is said by others: filters that print, and the runtimes
//! of guests when they give up. The latter happens too late for this process to pass it on; the parent has the file.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{OFlags, fcntl_setfl, ftruncate};

use crate::control::{Channel, ToParent, memory_file};

/// The file, and how much of it was passed on to the log.
#[derive(Debug)]
pub(super) struct StderrCapture {
    file: File,
    relayed: u64,
}

impl StderrCapture {
    /// Turns standard error to a new file and gives it to the parent.
    ///
    /// # Errors
    /// What the kernel says of memory files and descriptors; standard error is then what it was.
    pub(super) fn begin(parent: &Channel) -> io::Result<Self> {
        let file = memory_file("eddy-last-words", &[])?;
        // Several threads write at once, and the file is cut short now and then.
        fcntl_setfl(&file, OFlags::APPEND)?;
        parent.send(&ToParent::LastWords, &[file.as_fd()])?;
        rustix::stdio::dup2_stderr(&file)?;
        Ok(Self { file: file.into(), relayed: 0 })
    }

    /// Passes whole lines that have come on to the log.
    pub(super) fn relay(&mut self) {
        let Ok(length) = self.file.metadata().map(|metadata| metadata.len()) else { return };
        if length <= self.relayed {
            return;
        }
        let wanted = usize::try_from(length - self.relayed).unwrap_or(BATCH_BYTES_MAX).min(BATCH_BYTES_MAX);
        let mut bytes = vec![0; wanted];
        if self.file.read_exact_at(&mut bytes, self.relayed).is_err() {
            return;
        }
        // A line without an end is passed on once it is too long to wait for.
        let end = bytes.iter().rposition(|&byte| byte == b'\n').map(|at| at + 1);
        let used = end.unwrap_or(if wanted == BATCH_BYTES_MAX { wanted } else { 0 });
        self.relayed += used as u64;
        let text = String::from_utf8_lossy(bytes.get(..used).unwrap_or_default());
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        for line in lines.iter().take(LINES_MAX) {
            tracing::warn!("standard error: {line}");
        }
        if lines.len() > LINES_MAX {
            tracing::warn!(lines = lines.len() - LINES_MAX, "more lines on standard error were left out");
        }
        if self.relayed == length && length > FILE_BYTES_MAX && ftruncate(&self.file, 0).is_ok() {
            self.relayed = 0;
        }
    }
}

/// Bytes taken at once.
const BATCH_BYTES_MAX: usize = 64 * 1024;
/// Lines of them that become records.
const LINES_MAX: usize = 20;
/// A file that is larger is cut to nothing when all of it was passed on.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
