//! What an engine is made with.

use std::path::PathBuf;

/// What an [`Engine`](super::Engine) is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineSettings {
    /// Where memory of instances comes from.
    pub allocation: Allocation,
    /// How much memory of its own an instance may have, at most.
    ///
    /// # Units
    ///
    /// Bytes; whole pages of 64 KiB are given.
    pub memory_bytes_max: usize,
    /// How many elements a table of an instance may have, at most.
    pub table_elements_max: usize,
    /// How deep functions of a module may call each other.
    ///
    /// # Units
    ///
    /// Bytes of stack. The thread that enters modules needs as much, and some for the host.
    pub stack_bytes_max: usize,
    /// A folder for compiled code, which makes later starts fast. Only this program may write to it: what lies there is
    /// run. None keeps nothing.
    pub cache_folder: Option<PathBuf>,
}

/// Where memory of instances comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// Reserved once for so many instances at a time; an instance takes microseconds. Each needs some gigabytes of
    /// addresses, not of memory.
    Pooled {
        /// How many instances there may be at a time.
        instances_max: u32,
    },
    /// Asked of the system for each instance.
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
