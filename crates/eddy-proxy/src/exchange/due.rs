//! The next deadline of an exchange and the fault that it causes.

use crate::fault::Fault;

/// Earliest of several deadlines, and the fault when it passes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub(crate) at_ms: u64,
    pub(crate) fault: Fault,
}

impl Due {
    /// Takes another deadline into account.
    pub(crate) fn sooner(&mut self, at_ms: u64, fault: Fault) {
        if at_ms < self.at_ms {
            *self = Self { at_ms, fault };
        }
    }
}
