//! Environment and clock that modules see.

use std::sync::Arc;

use super::clock::{SystemClock, WasiClock};

/// Environment and clock that modules see: by default a clock and randomness, no arguments, no environment. There are
/// never files, sockets or other processes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Sandbox {
    /// Environment variables as names and values. Entries with `=` in the name, or with a zero byte, are omitted.
    pub environment: Vec<(String, String)>,
    /// Clock.
    pub clock: Arc<dyn WasiClock>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self { environment: Vec::new(), clock: Arc::new(SystemClock::default()) }
    }
}
