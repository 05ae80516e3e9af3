//! What a module may do, as it is configured.

use std::path::PathBuf;
use std::time::Duration;

/// A module and what it may do. Filters whose settings are equal share a library, and with it instances.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WasmSettings {
    /// The file.
    pub module: PathBuf,
    /// Names the machine among those of the module.
    pub vm_id: String,
    /// What an instance gets when it starts.
    pub vm_config: String,
    /// How far a fault reaches.
    pub isolation: Isolation,
    /// Largest memory of an instance.
    pub memory_bytes: u64,
    /// Longest time of one call.
    pub cpu: Duration,
    /// The environment that the module sees.
    pub env: Vec<(String, String)>,
}

/// How far a fault of a module reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// To all exchanges of its worker: each worker has one instance.
    Worker,
    /// To one exchange: each has an instance of its own.
    Stream,
}
