//! What this side keeps of an instance while the module runs.

use std::sync::Arc;
use std::time::Instant;

use eddy_filter::{Host, Level, Metric};
use wasmtime::{Caller, Memory, StoreLimits};

/// What the functions that a module calls work with.
pub(super) struct Inside {
    pub(super) host: Arc<dyn Host>,
    /// The worker whose instance it is.
    pub(super) worker: u16,
    pub(super) memory: Option<Memory>,
    pub(super) limits: StoreLimits,
    /// Where the module's own clock begins.
    pub(super) begun: Instant,
    /// The metrics that the module has defined; its number of one is the index and one.
    pub(super) metrics: Vec<Counted>,
    /// What it printed last: why it ended, where it has ended.
    pub(super) printed: String,
}

/// A metric that a module adds to.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub(super) metric: Metric,
    /// Not empty in a histogram.
    pub(super) bounds: Vec<u64>,
}

impl Inside {
    /// The module's memory and this.
    pub(super) fn split<'c>(caller: &'c mut Caller<'_, Self>) -> (&'c mut [u8], &'c mut Self) {
        match caller.data().memory {
            Some(memory) => memory.data_and_store_mut(caller),
            // Nothing of the module runs before its memory is known, unless it has a start function.
            None => (&mut [], caller.data_mut()),
        }
    }

    /// Keeps what a module printed, and puts it into the log.
    pub(super) fn print(&mut self, level: Level, text: &[u8]) {
        let shown = String::from_utf8_lossy(text);
        if self.printed.len() + shown.len() <= PRINTED_BYTES_MAX {
            self.printed.push_str(&shown);
        }
        let line = shown.trim_end();
        if !line.is_empty() {
            // A record that there is no room for is counted there.
            let _ = self.host.log(0, level, line.as_bytes());
        }
    }

    /// What was printed since the last time.
    pub(super) fn take_printed(&mut self) -> String {
        std::mem::take(&mut self.printed)
    }
}

/// Of what a module prints in one call, this much is kept to tell why it failed.
const PRINTED_BYTES_MAX: usize = 4096;
