//! The next deadline of an exchange and the fault that it causes.

use eddy_ids::WorkerTime;

use crate::fault::Fault;

/// Earliest of several deadlines, and the fault when it passes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub(crate) at: WorkerTime,
    pub(crate) fault: Fault,
}

impl Default for Due {
    /// The deadline of an exchange, which is never reached until it is set.
    fn default() -> Self {
        Self { at: WorkerTime::NEVER, fault: Fault::ExchangeTimeout }
    }
}

impl Due {
    /// Takes another deadline into account.
    pub(crate) fn sooner(&mut self, at: WorkerTime, fault: Fault) {
        if at < self.at {
            *self = Self { at, fault };
        }
    }
}
