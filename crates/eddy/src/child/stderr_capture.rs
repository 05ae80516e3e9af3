//! Redirects standard error of the gateway process to a memory file, which the parent reads when the process has died.
//!
//! eddy itself logs elsewhere, so the file contains the output of others: of filters, and of guest runtimes when they
//! crash. The latter is too late for this process to relay; the parent has the file.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{OFlags, fcntl_setfl, ftruncate};

use crate::control::{Channel, ToParent, memory_file};

/// Memory file, and the number of its bytes that were relayed to the log.
#[derive(Debug)]
pub(super) struct StderrCapture {
    file: File,
    relayed: u64,
}

impl StderrCapture {
    /// Redirects standard error to a new file and sends the file to the parent.
    ///
    /// # Errors
    /// Errors of memory files and descriptors; standard error is unchanged then.
    pub(super) fn begin(parent: &Channel) -> io::Result<Self> {
        let file = memory_file("eddy-last-words", &[])?;
        // Append mode, because several threads write at once and the file is truncated at times.
        fcntl_setfl(&file, OFlags::APPEND)?;
        parent.send(&ToParent::CrashMessage, &[file.as_fd()])?;
        rustix::stdio::dup2_stderr(&file)?;
        Ok(Self { file: file.into(), relayed: 0 })
    }

    /// Logs the new whole lines.
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
        // An unfinished line is logged once it fills a batch.
        let end = bytes.iter().rposition(|&byte| byte == b'\n').map(|at| at + 1);
        let used = end.unwrap_or(if wanted == BATCH_BYTES_MAX { wanted } else { 0 });
        self.relayed += used as u64;
        let text = String::from_utf8_lossy(bytes.get(..used).unwrap_or_default());
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        for line in lines.iter().take(LINES_MAX) {
            tracing::warn!("standard error: {line}");
        }
        if lines.len() > LINES_MAX {
            tracing::warn!(lines = lines.len() - LINES_MAX, "further lines of standard error were omitted");
        }
        if self.relayed == length && length > FILE_BYTES_MAX && ftruncate(&self.file, 0).is_ok() {
            self.relayed = 0;
        }
    }
}

/// Maximum bytes read at once.
const BATCH_BYTES_MAX: usize = 64 * 1024;
/// Maximum lines logged per batch.
const LINES_MAX: usize = 20;
/// Size above which the file is truncated once all of it was logged.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
