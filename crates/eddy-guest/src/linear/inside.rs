//! Host state of an instance, used by host functions while the module runs.

use std::sync::Arc;

use eddy_filter::{FilterLogLevel, HostApi, Metric};
use wasm_sandbox::{Confined, Confinement, Output, OutputLine};
use wasmtime::Caller;

/// Store data of an instance, used by host functions.
pub(super) struct Inside {
    pub(super) host: Arc<dyn HostApi>,
    /// The host's number of the entered filter; 0 if several are entered.
    pub(super) filter: u32,
    /// Worker of the instance.
    pub(super) worker: u16,
    pub(super) confinement: Confinement,
    /// Metrics defined by the module; the module's number of a metric is its index plus one.
    pub(super) metrics: Vec<GuestMetric>,
    /// Output of the current call: explains why the call failed, if it did.
    pub(super) printed: String,
}

/// Metric updated by a module.
#[derive(Clone, Debug)]
pub(super) struct GuestMetric {
    pub(super) metric: Metric,
    /// Bounds; not empty for a histogram.
    pub(super) bounds: Vec<u64>,
}

impl Inside {
    /// Returns the module's memory and the store data.
    pub(super) fn split<'c>(caller: &'c mut Caller<'_, Self>) -> (&'c mut [u8], &'c mut Self) {
        match caller.data().confinement.memory {
            Some(memory) => memory.data_and_store_mut(caller),
            // The module does not run before its memory is known, unless it has a start function.
            None => (&mut [], caller.data_mut()),
        }
    }

    /// Ends a call.
    #[inline]
    pub(super) fn end_call(&mut self) {
        let dropped = self.confinement.printed.end_call();
        if dropped > 0 {
            let text = format!("{dropped} bytes of module output were dropped");
            self.log(FilterLogLevel::Warn, text.as_bytes());
        }
        self.printed.clear();
    }

    /// Takes the output of a failed call; no more will come.
    pub(super) fn take_printed(&mut self) -> String {
        for line in self.confinement.printed.take_rest() {
            self.print(&line);
        }
        std::mem::take(&mut self.printed)
    }

    /// Keeps a line that the module printed, and logs it.
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
        // Dropped log messages are counted by the host.
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
        for line in self.confinement.printed.take_lines() {
            self.print(&line);
        }
    }
}

/// Maximum output of a call that is kept to explain a failure.
const PRINTED_BYTES_MAX: usize = 4096;
