//! What is counted for each listener, rule, cluster and worker.
//!
//! Aligned to cache lines, so that two workers never write to the same one.

use std::sync::Arc;

use eddy_filter::Phase;
use eddy_http::{ABUSE_LABELS, GRPC_END_LABELS, GrpcEnd, Http2Fault};
use eddy_io::{HandshakeFault, HandshakeFaultKind};
use eddy_upstream::InUse;

use crate::exchange::FailureKind;
use crate::fault::{FAULT_LABELS, Fault};
use crate::stats::counter::{Gauge, Histogram, WorkerCounter};

/// What one worker counts of one listener.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct ListenerSeries {
    /// Connections accepted, or sessions of datagrams begun.
    pub accepted: WorkerCounter,
    /// Connections open now, or sessions of datagrams.
    pub connections: Gauge,
    /// Connections closed for want of a header of the PROXY protocol.
    pub unannounced: WorkerCounter,
    /// Exchanges ended, by class of the status: 1xx to 5xx.
    pub requests: [WorkerCounter; 5],
    /// Exchanges ended by a fault, by [`Fault::index`].
    pub faults: FaultCounters,
    /// Tunnels opened.
    pub tunnels_opened: WorkerCounter,
    /// Tunnels open now.
    pub tunnels: Gauge,
    /// How long exchanges took, from the end of the request's head to the last byte of the answer; those that became a
    /// tunnel are left out.
    pub duration: Histogram,
    /// Bytes of bodies taken from clients, and of tunnels, connections and datagrams that were passed on.
    pub bytes_in: WorkerCounter,
    /// Bytes of bodies given to clients, and of tunnels, connections and datagrams that were passed on.
    pub bytes_out: WorkerCounter,
    /// Handshakes of TLS with clients, where it is served over TLS.
    pub handshakes: HandshakeSeries,
    /// What is spoken over HTTP/2.
    pub http2: Http2Series,
    /// Calls of gRPC.
    pub grpc_calls: GrpcSeries,
    /// Datagrams, where they are passed on.
    pub datagrams: DatagramSeries,
}

/// Datagrams that are passed on; their bytes count with those of connections.
#[derive(Debug, Default)]
pub struct DatagramSeries {
    /// Passed on from clients.
    pub taken: WorkerCounter,
    /// Passed on to clients.
    pub given: WorkerCounter,
    /// Not passed on, by [`DatagramLoss`].
    pub lost: [WorkerCounter; DATAGRAM_LOSS_LABELS.len()],
}

/// Why a datagram was not passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramLoss {
    /// There is no room for another session.
    Sessions,
    /// eddy is short of memory, descriptors or ports.
    Overload,
    /// The cluster has no endpoint, or none that has room.
    NoEndpoint,
    /// There is no way to the endpoint, or it takes no datagrams at its port.
    Refused,
    /// The socket takes no more for the moment.
    Full,
    /// The kernel refuses it for another reason, such as its length.
    Unsendable,
}

/// The metric label of each [`DatagramLoss`].
pub(crate) const DATAGRAM_LOSS_LABELS: [&str; 6] =
    ["sessions", "overload", "no_endpoint", "refused", "full", "unsendable"];

impl DatagramSeries {
    /// Counts one that was not passed on.
    pub fn lose(&self, loss: DatagramLoss) {
        self.lost[loss as usize].increment();
    }
}

/// Calls of gRPC that have ended, by [`GrpcEnd::index`].
#[derive(Debug, Default)]
pub struct GrpcSeries([WorkerCounter; GRPC_END_LABELS.len()]);

impl GrpcSeries {
    /// Counts one.
    pub fn count(&self, end: GrpcEnd) {
        if let Some(counter) = self.0.get(end.index()) {
            counter.increment();
        }
    }

    /// How many ended in the way with this index.
    pub fn value(&self, index: usize) -> u64 {
        self.0.get(index).map_or(0, WorkerCounter::value)
    }
}

/// What is spoken over HTTP/2.
#[derive(Debug, Default)]
pub struct Http2Series {
    /// Connections on which it is spoken.
    pub connections: WorkerCounter,
    /// Exchanges begun.
    pub requests: WorkerCounter,
    /// Connections that ended because the client breaks the protocol.
    pub broken: WorkerCounter,
    /// Connections that ended because the client asks for too much, by [`Abuse`].
    pub abuses: [WorkerCounter; ABUSE_LABELS.len()],
}

impl Http2Series {
    /// Counts a connection that ended for a fault of the client.
    pub(crate) fn failed(&self, fault: Http2Fault) {
        match fault {
            Http2Fault::Protocol(_) => self.broken.increment(),
            Http2Fault::Abuse(abuse) => self.abuses[abuse as usize].increment(),
        }
    }
}

/// What came of handshakes of TLS.
#[derive(Debug, Default)]
pub struct HandshakeSeries {
    /// Ended well, from the beginning.
    pub full: WorkerCounter,
    /// Ended well, by taking up a session of before.
    pub resumed: WorkerCounter,
    /// Came to nothing, by [`HandshakeFailure`].
    pub failed: [WorkerCounter; HANDSHAKE_FAILURE_LABELS.len()],
}

/// Why a handshake came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandshakeFailure {
    /// The other side left.
    Closed,
    /// It took too long.
    Timeout,
    /// Requests line up, and it had waited for too long.
    Overload,
    /// Both sides have no version, suite, group, protocol or name in common.
    Incompatible,
    /// The other side's certificate is missing, or is not taken.
    Certificate,
    /// An endpoint's certificate is for another name.
    Name,
    /// No authority that is taken has issued an endpoint's certificate.
    Authority,
    /// An endpoint's certificate holds no longer, or not yet.
    Expired,
    /// The other side ended it by an alert: most often it doesn't take the certificate.
    Alert,
    /// The other side breaks the protocol, or speaks another one.
    Protocol,
}

/// The metric label of each [`HandshakeFailure`].
pub(crate) const HANDSHAKE_FAILURE_LABELS: [&str; 10] = [
    "closed",
    "timeout",
    "overload",
    "incompatible",
    "certificate",
    "name",
    "authority",
    "expired",
    "alert",
    "protocol",
];

impl HandshakeFailure {
    /// The failure that a fault of a client is.
    pub(crate) fn of_client(fault: &HandshakeFault) -> Self {
        let failure = Self::of_endpoint(fault.kind());
        // Where its certificate is not taken, why is the client's business.
        let is_of_certificate = matches!(failure, Self::Name | Self::Authority | Self::Expired);
        if is_of_certificate { Self::Certificate } else { failure }
    }

    /// The failure that a fault of an endpoint is.
    pub(crate) fn of_endpoint(kind: HandshakeFaultKind) -> Self {
        match kind {
            HandshakeFaultKind::Closed => Self::Closed,
            HandshakeFaultKind::Incompatible => Self::Incompatible,
            HandshakeFaultKind::Certificate => Self::Certificate,
            HandshakeFaultKind::Name => Self::Name,
            HandshakeFaultKind::Authority => Self::Authority,
            HandshakeFaultKind::Expired => Self::Expired,
            HandshakeFaultKind::Alert => Self::Alert,
            HandshakeFaultKind::Protocol => Self::Protocol,
        }
    }
}

/// A counter for each [`Fault::index`].
#[derive(Debug)]
pub struct FaultCounters([WorkerCounter; FAULT_LABELS.len()]);

impl Default for FaultCounters {
    fn default() -> Self {
        Self(std::array::from_fn(|_| WorkerCounter::default()))
    }
}

impl FaultCounters {
    /// The counter of a fault.
    pub fn get(&self, index: usize) -> Option<&WorkerCounter> {
        self.0.get(index)
    }
}

/// What one worker counts of one rule.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct RuleSeries {
    /// Exchanges that the rule won.
    pub requests: WorkerCounter,
}

/// What one worker counts of one cluster.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct ClusterSeries {
    /// Attempts, by class of the status that the endpoint gave: 1xx to 5xx.
    pub responses: [WorkerCounter; 5],
    /// Attempts that gave no response.
    pub failures: WorkerCounter,
    /// Attempts beside the first of an exchange.
    pub retries: WorkerCounter,
    /// Retries that the budget refused.
    pub retries_refused: WorkerCounter,
    /// Attempts sent beside others that had not answered.
    pub hedges: WorkerCounter,
    /// Those of them that answered first.
    pub hedges_won: WorkerCounter,
    /// Exchanges that went on at another cluster, because this one could not serve them.
    pub left: WorkerCounter,
    /// Links established.
    pub connects: WorkerCounter,
    /// Links that could not be established.
    pub connects_failed: WorkerCounter,
    /// Handshakes of TLS with endpoints, where these are spoken to over TLS.
    pub handshakes: HandshakeSeries,
    /// Links of HTTP/2 established, which exchanges share.
    pub http2_links: WorkerCounter,
    /// Those that ended because the endpoint broke the protocol.
    pub http2_links_broken: WorkerCounter,
    /// Requests sent on them.
    pub http2_requests: WorkerCounter,
    /// Links open now.
    pub links: Gauge,
    /// Links that wait for an exchange now.
    pub links_idle: Gauge,
    /// Endpoints left out now because they failed.
    pub ejected: Gauge,
    /// Endpoints left out now because health checks find them not well.
    pub unwell: Gauge,
    /// How long endpoints took to begin their answer.
    pub first_byte: Histogram,
}

/// What one worker counts of itself.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct WorkerSeries {
    /// Exchanges going on.
    pub exchanges: Gauge,
    /// Bytes moved inside of the kernel.
    pub spliced: WorkerCounter,
    /// Connections open.
    pub connections: Gauge,
    /// Requests refused for overload.
    pub shed: WorkerCounter,
    /// Idle connections closed to make room.
    pub idle_closed: WorkerCounter,
    /// Times `accept` failed, such as for lack of descriptors.
    pub accepts_failed: WorkerCounter,
    /// Connections accepted in place of a worker that had fallen silent.
    pub accepts_for_others: WorkerCounter,
    /// Access records dropped because their target was too slow, or a service did not take them.
    pub records_dropped: WorkerCounter,
    /// Access records that a service has taken.
    pub records_sent: WorkerCounter,
    /// Batches of access records that could not be sent, and are tried again.
    pub record_batches_failed: WorkerCounter,
    /// Requests or answers that the egress assert stopped.
    pub egress_stopped: WorkerCounter,
    /// Requests routed by the plain scan as well.
    pub route_checks: WorkerCounter,
    /// Those for which the index and the plain scan found different rules.
    pub route_mismatches: WorkerCounter,
    /// Copies of requests that were sent and answered.
    pub mirrors_sent: WorkerCounter,
    /// Copies of requests that were not answered.
    pub mirrors_failed: WorkerCounter,
    /// Copies of requests that were not sent: the body was too large, or too many were under way.
    pub mirrors_dropped: WorkerCounter,
    /// How late the worker's last tick came, milliseconds.
    pub lag_ms: Gauge,
    /// Time in which the worker could have run and other programs had the processors, microseconds.
    pub processor_wait_us: WorkerCounter,
    /// Sessions that ended by a panic.
    pub panics: WorkerCounter,
}

/// What one worker counts of one filter.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct FilterSeries {
    /// Times it was entered, by phase; exact.
    pub calls: [WorkerCounter; 8],
    /// Time in it by phase, of one crossing in 64.
    pub nanos: [Histogram<64>; 8],
    /// Bytes of changes it made, those of its neighbours in a crossing counted to the first of them.
    pub edit_bytes: WorkerCounter,
    /// Times it failed, by kind.
    pub faults: [WorkerCounter; FILTER_FAULT_LABELS.len()],
    /// Exchanges that wait for it now.
    pub paused: Gauge,
    /// By kind, when a failure was last written to the log, on the worker's clock.
    reported_ms: [Gauge; FILTER_FAULT_LABELS.len()],
    /// By kind, failures since then.
    unreported: [WorkerCounter; FILTER_FAULT_LABELS.len()],
}

/// The metric label of each kind of failure of a filter.
pub(crate) const FILTER_FAULT_LABELS: [&str; 6] = ["fault", "edit", "timeout", "body", "memory", "cpu"];

/// How often failures of one kind of a filter are written to the log by a worker, milliseconds.
const REPORT_EVERY_MS: u64 = 1000;

impl FilterSeries {
    /// Counts that it was entered in a phase.
    #[inline]
    pub(crate) fn entered(&self, phase: Phase, nanos: Option<u32>) {
        self.calls[phase as usize].increment();
        if let Some(nanos) = nanos {
            self.nanos[phase as usize].observe(nanos.into());
        }
    }

    /// Counts a failure; where it is to be written to the log, answers with how many of its kind were not since the last
    /// one.
    pub(crate) fn failed(&self, kind: FailureKind, now_ms: u64) -> Option<u64> {
        self.faults[kind as usize].increment();
        let (last, unreported) = (&self.reported_ms[kind as usize], &self.unreported[kind as usize]);
        let reported_ms = last.value();
        if reported_ms != 0 && now_ms.saturating_sub(reported_ms) < REPORT_EVERY_MS {
            unreported.increment();
            return None;
        }
        last.set(now_ms.max(1));
        let count = unreported.value();
        unreported.reset();
        Some(count)
    }
}

/// What the access log's thread counts.
#[derive(Debug, Default)]
pub struct SinkSeries {
    /// Records that the target did not take.
    pub records_lost: WorkerCounter,
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
    /// By cluster, what is in use of it by all workers, where that is limited.
    pub in_use: Vec<Option<Arc<InUse>>>,
    /// By filter, as in the configuration.
    pub filters: Vec<Arc<FilterSeries>>,
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
pub(crate) fn count_status(classes: &[WorkerCounter; 5], status: u16) {
    if let Some(counter) = classes.get(usize::from(status / 100).wrapping_sub(1)) {
        counter.increment();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_of_each_kind_is_reported_and_later_ones_are_counted() {
        let series = FilterSeries::default();
        assert_eq!(series.failed(FailureKind::Fault, 5), Some(0));
        for _ in 0..1000 {
            assert_eq!(series.failed(FailureKind::Fault, 6), None);
        }
        assert_eq!(series.failed(FailureKind::Memory, 6), Some(0));
        assert_eq!(series.failed(FailureKind::Memory, 7), None);
        assert_eq!(series.failed(FailureKind::Cpu, 7), Some(0));
        let later = 5 + REPORT_EVERY_MS;
        assert_eq!(series.failed(FailureKind::Fault, later), Some(1000));
        assert_eq!(series.failed(FailureKind::Memory, later), None);
        assert_eq!(series.failed(FailureKind::Memory, later + 1), Some(2));
        let counts = series.faults.each_ref().map(WorkerCounter::value);
        assert_eq!(counts, [1002, 0, 0, 0, 4, 1]);
    }
}
