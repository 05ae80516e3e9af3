//! What presses on all workers alike.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What presses on the whole gateway, as the monitor sees it.
#[derive(Debug, Default)]
pub(crate) struct Pressure {
    /// Memory is above its limit.
    pub(crate) memory: AtomicBool,
    /// The control group has used up its share of the processors.
    pub(crate) throttled: AtomicBool,
}

impl Pressure {
    /// Whether nothing new should be taken on.
    pub(crate) fn is_high(&self) -> bool {
        self.memory.load(Relaxed)
    }

    /// Whether the control group withholds the processors.
    pub(crate) fn is_throttled(&self) -> bool {
        self.throttled.load(Relaxed)
    }
}
