//! What modules get of the world.

use std::sync::Arc;

use super::clock::{SystemClock, WasiClock};

/// What modules get of the world: by default a clock and randomness, no arguments, no environment. There are never files,
/// sockets or other processes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Sandbox {
    /// The environment, as names and values; `=` and zero bytes in names and zero bytes in values make an entry vanish.
    pub environment: Vec<(String, String)>,
    /// The time.
    pub clock: Arc<dyn WasiClock>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self { environment: Vec::new(), clock: Arc::new(SystemClock::default()) }
    }
}
