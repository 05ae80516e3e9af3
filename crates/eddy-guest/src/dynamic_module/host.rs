//! The gateway as modules reach it: its host functions, and the filter whose hook is in progress on a thread.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use eddy_filter::{FilterLogLevel, HostApi};

use crate::native::host::installed;

thread_local! {
    /// The host's number of the filter whose hook is in progress; 0 for none.
    static CURRENT: Cell<u32> = const { Cell::new(0) };
}

/// Whether filters of this process are created only to check that they can be.
static IS_TRIAL: AtomicBool = AtomicBool::new(false);

/// Ends the entry into a filter when dropped.
pub(super) struct FilterEntry {
    outer: u32,
}

/// Records that a hook of this filter begins.
pub(super) fn enter(filter: u32) -> FilterEntry {
    FilterEntry { outer: CURRENT.replace(filter) }
}

impl Drop for FilterEntry {
    fn drop(&mut self) {
        CURRENT.set(self.outer);
    }
}

/// Returns the host of all guests, once it is installed.
pub(super) fn host() -> Option<&'static Arc<dyn HostApi>> {
    installed()
}

/// Records whether filters are created only to check that they can be.
pub(super) fn set_trial(is_trial: bool) {
    IS_TRIAL.store(is_trial, Relaxed);
}

/// Whether filters are created only to check that they can be.
pub(super) fn is_trial() -> bool {
    IS_TRIAL.load(Relaxed)
}

/// Writes a message of the filter whose hook is in progress to eddy's log.
pub(super) fn log(level: FilterLogLevel, text: &[u8]) {
    if let Some(host) = host() {
        let text = text.get(..text.len().min(LOG_BYTES_MAX)).unwrap_or_default();
        // Messages beyond the filter's log limit are dropped.
        let _ = host.log(CURRENT.get(), level, text);
    }
}

/// Writes an error of the filter whose hook is in progress to eddy's log.
pub(super) fn log_error(text: &str) {
    log(FilterLogLevel::Error, text.as_bytes());
}

/// Maximum length of a module's log message in bytes; the rest is cut.
const LOG_BYTES_MAX: usize = 16 * 1024;
