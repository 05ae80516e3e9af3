//! What this side keeps of an instance while the module runs.

use std::sync::Arc;

use eddy_filter::{FilterLogLevel, HostApi, Metric};
use wasm_sandbox::{Confined, Confinement, Output, OutputLine};
use wasmtime::Caller;

/// What the functions that a module calls work with.
pub(super) struct Inside {
    pub(super) host: Arc<dyn HostApi>,
    /// The host's number of the filter that is entered; 0 where several are.
    pub(super) filter: u32,
    /// The worker whose instance it is.
    pub(super) worker: u16,
    pub(super) confinement: Confinement,
    /// The metrics that the module has defined; its number of one is the index and one.
    pub(super) metrics: Vec<GuestMetric>,
    /// What it printed in this call: why it ended, where it has ended.
    pub(super) printed: String,
}

/// A metric that a module adds to.
#[derive(Clone, Debug)]
pub(super) struct GuestMetric {
    pub(super) metric: Metric,
    /// Not empty in a histogram.
    pub(super) bounds: Vec<u64>,
}

impl Inside {
    /// The module's memory and this.
    pub(super) fn split<'c>(caller: &'c mut Caller<'_, Self>) -> (&'c mut [u8], &'c mut Self) {
        match caller.data().confinement.memory {
            Some(memory) => memory.data_and_store_mut(caller),
            // Nothing of the module runs before its memory is known, unless it has a start function.
            None => (&mut [], caller.data_mut()),
        }
    }

    /// A call is over.
    #[inline]
    pub(super) fn end_call(&mut self) {
        let dropped = self.confinement.end_call();
        if dropped > 0 {
            let text = format!("{dropped} bytes that the module printed were dropped");
            self.log(FilterLogLevel::Warn, text.as_bytes());
        }
        self.printed.clear();
    }

    /// What was printed in a call that failed; nothing more will come.
    pub(super) fn take_printed(&mut self) -> String {
        for line in self.confinement.take_rest() {
            self.print(&line);
        }
        std::mem::take(&mut self.printed)
    }

    /// Keeps what a module printed, and puts it into the log.
    fn print(&mut self, line: &OutputLine) {
        let text = String::from_utf8_lossy(&line.text);
        if self.printed.len() + text.len() < PRINTED_BYTES_MAX {
            self.printed.push_str(&text);
            self.printed.push('\n');
        }
        let text = text.trim_end();
        if !text.is_empty() {
            let level =
                if line.output == Output::Stderr { FilterLogLevel::Error } else { FilterLogLevel::Info };
            self.log(level, text.as_bytes());
        }
    }

    fn log(&self, level: FilterLogLevel, text: &[u8]) {
        // A record that there is no room for is counted there.
        let _ = self.host.log(self.filter, level, text);
    }
}

impl Confined for Inside {
    fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    fn confinement_mut(&mut self) -> &mut Confinement {
        &mut self.confinement
    }

    fn handle_lines(&mut self) {
        for line in self.confinement.take_lines() {
            self.print(&line);
        }
    }
}

/// Of what a module prints in one call, this much is kept to tell why it failed.
const PRINTED_BYTES_MAX: usize = 4096;
