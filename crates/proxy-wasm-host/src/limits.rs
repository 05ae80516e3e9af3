//! Resource limits of a VM.

use std::time::Duration;

use wasm_sandbox::Bounds;

/// Resource limits of a VM.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WasmVmLimits {
    /// Maximum number of ticks of [`Engine::tick`](crate::Engine::tick) during a call before it is stopped. A call has
    /// at least this many tick periods less one.
    pub call_ticks_max: u64,
    /// Maximum number of ticks for instantiation, for the module's start functions, for `on_vm_start` and for
    /// `on_configure`, each by itself.
    pub start_ticks_max: u64,
    /// Length of a tick, if calls are stopped by the CPU time of their thread instead of by wall-clock time. A call is
    /// then not charged while the system suspends its thread, and may use as much CPU time as its ticks are long, and
    /// two ticks more. `None` (default) counts wall-clock ticks.
    pub cpu_tick: Option<Duration>,
    /// Maximum memory of a VM, within the engine's limit.
    ///
    /// # Units
    /// Bytes.
    pub memory_bytes_max: usize,
    /// Maximum number of elements per table, within the engine's limit.
    pub table_elements_max: usize,
    /// Maximum number of contexts at a time, plugins and streams together.
    pub contexts_max: usize,
    /// Maximum size of a map passed in either direction.
    ///
    /// # Units
    /// Bytes.
    pub map_bytes_max: usize,
    /// Maximum number of pairs of a map passed in either direction.
    pub map_pairs_max: usize,
    /// Maximum size of a value, body or message passed in either direction.
    ///
    /// # Units
    /// Bytes.
    pub value_bytes_max: usize,
    /// Maximum length of a log message or printed line; longer ones are cut.
    ///
    /// # Units
    /// Bytes.
    pub line_bytes_max: usize,
    /// Maximum output per call; more is dropped, and the number of dropped bytes is logged.
    ///
    /// # Units
    /// Bytes.
    pub printed_bytes_max: usize,
}

impl Default for WasmVmLimits {
    /// 10 ticks per call and 1,000 at the start, 64 MiB of memory, 100,000 table elements, 100,000 contexts, maps of 1
    /// MiB and 1,024 pairs, values of 16 MiB, lines of 8 KiB and 64 KiB of output.
    fn default() -> Self {
        Self {
            call_ticks_max: 10,
            start_ticks_max: 1_000,
            cpu_tick: None,
            memory_bytes_max: 64 << 20,
            table_elements_max: 100_000,
            contexts_max: 100_000,
            map_bytes_max: 1 << 20,
            map_pairs_max: 1_024,
            value_bytes_max: 16 << 20,
            line_bytes_max: 8 << 10,
            printed_bytes_max: 64 << 10,
        }
    }
}

impl WasmVmLimits {
    /// Returns the limits of the store.
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds {
            memory_bytes_max: self.memory_bytes_max,
            table_elements_max: self.table_elements_max,
            line_bytes_max: self.line_bytes_max,
            printed_bytes_max: self.printed_bytes_max,
            cpu_tick: self.cpu_tick,
        }
    }
}
