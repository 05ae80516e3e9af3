//! Context that every phase of an exchange works on.

use std::rc::Rc;
use std::time::Duration;

use crate::downstream::Downstream;
use crate::exchange::phase::ExchangePhase;
use crate::exchange::state::Exchange;
use crate::fault::Fault;
use crate::resolved::{Route, WorkerListener, WorkerPlan};
use crate::upstream::WorkerCluster;
use crate::worker::Worker;
use eddy_ids::Millis;

/// Context of every phase.
pub(crate) struct ExchangeCx<'a> {
    pub(crate) worker: &'a Rc<Worker>,
    pub(crate) down: &'a mut Downstream,
    pub(crate) exchange: &'a mut Exchange,
    /// Plan that the exchange began with and ends on.
    pub(crate) plan: Rc<WorkerPlan>,
    /// Listener of that plan.
    pub(crate) listener: Rc<WorkerListener>,
    /// Rule, action and cluster, as far as they are known.
    pub(crate) route: Route,
}

impl ExchangeCx<'_> {
    /// Returns the cluster of an attempt that was made or is in progress.
    pub(crate) fn attempted_cluster(&self) -> Rc<WorkerCluster> {
        self.route.cluster.clone().expect("an attempt is made at a cluster")
    }

    /// Sets a deadline for the exchange; the earliest one applies.
    pub(crate) fn set_due(&mut self, timeout: Duration) {
        let deadline = self.worker.timers.now().deadline(Millis::of(timeout));
        self.exchange.due.sooner(deadline, Fault::ExchangeTimeout);
    }

    /// Ends the exchange with the local reply of a fault.
    pub(crate) fn fail(&mut self, fault: Fault) -> ExchangePhase {
        self.exchange.fault = Some(fault);
        ExchangePhase::Reply
    }
}
