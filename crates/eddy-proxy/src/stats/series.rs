//! What is counted for each listener, rule, cluster and worker.
//!
//! Aligned to cache lines, so that two workers never write to the same one.

use std::sync::Arc;

use crate::fault::{FAULT_LABELS, Fault};
use crate::stats::counter::{Counter, Gauge, Histogram};

/// What one worker counts of one listener.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct ListenerSeries {
    /// Connections accepted.
    pub accepted: Counter,
    /// Connections open now.
    pub connections: Gauge,
    /// Exchanges ended, by class of the status: 1xx to 5xx.
    pub requests: [Counter; 5],
    /// Exchanges ended by a fault, by [`Fault::index`].
    pub faults: [Counter; FAULT_LABELS.len()],
    /// How long exchanges took, from the end of the request's head to the last byte of the answer.
    pub duration: Histogram,
    /// Bytes of bodies taken from clients.
    pub bytes_in: Counter,
    /// Bytes of bodies given to clients.
    pub bytes_out: Counter,
}

/// What one worker counts of one rule.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct RuleSeries {
    /// Exchanges that the rule won.
    pub requests: Counter,
}

/// What one worker counts of one cluster.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct ClusterSeries {
    /// Attempts, by class of the status that the endpoint gave: 1xx to 5xx.
    pub responses: [Counter; 5],
    /// Attempts that gave no response.
    pub failures: Counter,
    /// Attempts beside the first of an exchange.
    pub retries: Counter,
    /// Retries that the budget refused.
    pub retries_refused: Counter,
    /// Links established.
    pub connects: Counter,
    /// Links that could not be established.
    pub connects_failed: Counter,
    /// Links open now.
    pub links: Gauge,
    /// Links that wait for an exchange now.
    pub links_idle: Gauge,
    /// Endpoints left out now because they failed.
    pub ejected: Gauge,
    /// How long endpoints took to begin their answer.
    pub first_byte: Histogram,
}

/// What one worker counts of itself.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct WorkerSeries {
    /// Exchanges going on.
    pub exchanges: Gauge,
    /// Connections open.
    pub connections: Gauge,
    /// Requests refused for overload.
    pub shed: Counter,
    /// Idle connections closed to make room.
    pub idle_closed: Counter,
    /// Times `accept` failed, such as for lack of descriptors.
    pub accepts_failed: Counter,
    /// Connections accepted in place of a worker that had fallen silent.
    pub accepts_for_others: Counter,
    /// Access records dropped because their target was too slow.
    pub records_dropped: Counter,
    /// Requests or answers that the egress assert stopped.
    pub egress_stopped: Counter,
    /// How late the worker's last tick came, milliseconds.
    pub lag_ms: Gauge,
    /// Sessions that ended by a panic.
    pub panics: Counter,
}

/// What the access log's thread counts.
#[derive(Debug, Default)]
pub struct SinkSeries {
    /// Records that the target did not take.
    pub records_lost: Counter,
}

/// What one worker counts under one plan, index by index as in the plan.
#[derive(Debug, Default)]
pub struct PlanSeries {
    /// By listener.
    pub listeners: Vec<Arc<ListenerSeries>>,
    /// By listener, then by the rule's index in its router.
    pub rules: Vec<Vec<Arc<RuleSeries>>>,
    /// By cluster.
    pub clusters: Vec<Arc<ClusterSeries>>,
}

impl ListenerSeries {
    /// Counts an exchange that ended with `status`, because of `fault` if one.
    pub fn count(&self, status: u16, fault: Option<Fault>) {
        count_status(&self.requests, status);
        if let Some(counter) = fault.and_then(|fault| self.faults.get(fault.index())) {
            counter.increment();
        }
    }
}

/// Counts a status by its class.
pub(crate) fn count_status(classes: &[Counter; 5], status: u16) {
    if let Some(counter) = classes.get(usize::from(status / 100).wrapping_sub(1)) {
        counter.increment();
    }
}
