//! Settings of an engine.

use std::path::PathBuf;

/// Settings of an [`Engine`](super::Engine).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineSettings {
    /// Allocation strategy for instance memory.
    pub allocation: Allocation,
    /// Maximum linear memory per instance.
    ///
    /// # Units
    /// Bytes; memory grows in whole pages of 64 KiB.
    pub memory_bytes_max: usize,
    /// Maximum number of elements per table of an instance.
    pub table_elements_max: usize,
    /// Maximum stack size of a module's function calls.
    ///
    /// # Units
    /// Bytes of stack. A thread that calls into modules needs as much, plus some for the host.
    pub stack_bytes_max: usize,
    /// Cache folder for compiled code, which makes later starts fast. Only this program may write to it, because files
    /// in it are executed. `None` disables the cache.
    pub cache_folder: Option<PathBuf>,
}

/// Allocation strategy for instance memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// A pool, reserved once for a maximum number of instances at a time; creating an instance takes microseconds. Each
    /// slot needs some gigabytes of address space, not of memory.
    Pooled {
        /// Maximum number of instances at a time.
        instances_max: u32,
    },
    /// Memory is requested from the system for each instance.
    OnDemand,
}

impl Default for EngineSettings {
    /// 1,000 pooled instances of up to 64 MiB and 100,000 table elements, 512 KiB of stack, no cache.
    fn default() -> Self {
        Self {
            allocation: Allocation::Pooled { instances_max: 1_000 },
            memory_bytes_max: 64 << 20,
            table_elements_max: 100_000,
            stack_bytes_max: 512 << 10,
            cache_folder: None,
        }
    }
}
