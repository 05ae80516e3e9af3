//! When an exchange has waited for long enough, and for what.

use crate::fault::Fault;

/// The first of several deadlines, and what it means when it passes.
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
