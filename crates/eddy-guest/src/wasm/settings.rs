//! Configured settings of a module.

use std::path::PathBuf;
use std::time::Duration;

/// Settings of a module. Filters with equal settings share a library and thus its instances.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WasmSettings {
    /// Module file.
    pub module: PathBuf,
    /// VM ID, which groups shared data.
    pub vm_id: String,
    /// VM configuration, passed to an instance when it starts.
    pub vm_config: String,
    /// Scope of a failure.
    pub isolation: Isolation,
    /// Maximum memory per instance in bytes.
    pub memory_bytes: u64,
    /// Maximum CPU time per call.
    pub cpu: Duration,
    /// Maximum CPU time of each step of a start.
    pub start_cpu: Duration,
    /// Environment variables that the module sees.
    pub env: Vec<(String, String)>,
}

/// Scope of a module's failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// All exchanges of a worker: each worker has one instance.
    Worker,
    /// One exchange: each has an instance of its own.
    Stream,
}
