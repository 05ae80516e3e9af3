//! Counters of each listener, rule, cluster and worker.
//!
//! Aligned to cache lines, so that two workers never write to the same one.

use std::sync::Arc;

use eddy_filter::Phase;
use eddy_http::{ABUSE_LABELS, GRPC_END_LABELS, GrpcEnd, Http2Fault};
use eddy_ids::{BySlot, FilterId, Millis, WorkerTime};
use eddy_io::{HandshakeFault, HandshakeFaultKind};
use eddy_upstream::InUse;

use crate::fault::{FAULT_LABELS, Fault};
use crate::stats::counter::{Gauge, Histogram, WorkerCounter};

/// Counters of one listener on one worker.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct ListenerSeries {
    /// Connections accepted, or datagram sessions begun.
    pub(crate) accepted: WorkerCounter,
    /// Open connections or datagram sessions.
    pub(crate) connections: Gauge,
    /// Connections closed because they did not begin with a PROXY header.
    pub(crate) unannounced: WorkerCounter,
    /// Exchanges ended, by status class: 1xx to 5xx.
    pub(crate) requests: [WorkerCounter; 5],
    /// Exchanges ended by a fault, by [`Fault::index`].
    pub(crate) faults: FaultCounters,
    /// Tunnels opened.
    pub(crate) tunnels_opened: WorkerCounter,
    /// Open tunnels.
    pub(crate) tunnels: Gauge,
    /// Duration of exchanges, from the end of the request head to the last byte of the response, without those that
    /// became a tunnel.
    pub(crate) duration: Histogram,
    /// Bytes received from clients: request bodies, tunnels, forwarded connections and datagrams.
    pub(crate) bytes_in: WorkerCounter,
    /// Bytes sent to clients: response bodies, tunnels, forwarded connections and datagrams.
    pub(crate) bytes_out: WorkerCounter,
    /// TLS handshakes with clients, if the listener uses TLS.
    pub(crate) handshakes: HandshakeSeries,
    /// HTTP/2 traffic.
    pub(crate) http2: Http2Series,
    /// gRPC calls.
    pub(crate) grpc_calls: GrpcSeries,
    /// Forwarded datagrams.
    pub(crate) datagrams: DatagramSeries,
}

/// Forwarded datagrams; their bytes count with those of connections.
#[derive(Debug, Default)]
pub(crate) struct DatagramSeries {
    /// Datagrams forwarded from clients.
    pub(crate) taken: WorkerCounter,
    /// Datagrams forwarded to clients.
    pub(crate) given: WorkerCounter,
    /// Datagrams not forwarded, by [`DatagramLoss`].
    pub(crate) lost: [WorkerCounter; DATAGRAM_LOSS_LABELS.len()],
}

/// Reason why a datagram was not forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DatagramLoss {
    /// The maximum number of sessions is reached.
    Sessions,
    /// eddy is short of memory, descriptors or ports.
    Overload,
    /// The cluster has no endpoint, or none with free capacity.
    NoEndpoint,
    /// The endpoint is unreachable, or accepts no datagrams at its port.
    Refused,
    /// The socket accepts no more at the moment.
    Full,
    /// The kernel rejects the datagram for another reason, such as its length.
    Unsendable,
}

/// Metric label of each [`DatagramLoss`].
pub(crate) const DATAGRAM_LOSS_LABELS: [&str; 6] =
    ["sessions", "overload", "no_endpoint", "refused", "full", "unsendable"];

impl DatagramSeries {
    /// Counts a datagram that was not forwarded.
    pub(crate) fn lose(&self, loss: DatagramLoss) {
        self.lost[loss as usize].increment();
    }
}

/// gRPC calls that have ended, by [`GrpcEnd::index`].
#[derive(Debug, Default)]
pub(crate) struct GrpcSeries([WorkerCounter; GRPC_END_LABELS.len()]);

impl GrpcSeries {
    pub(crate) fn count(&self, end: GrpcEnd) {
        self.0[end.index()].increment();
    }

    /// Returns the number of calls whose end has this index.
    pub(crate) fn value(&self, index: usize) -> u64 {
        self.0[index].value()
    }
}

/// Counters of HTTP/2.
#[derive(Debug, Default)]
pub(crate) struct Http2Series {
    /// HTTP/2 connections.
    pub(crate) connections: WorkerCounter,
    /// Exchanges begun.
    pub(crate) requests: WorkerCounter,
    /// Connections ended because the client violated the protocol.
    pub(crate) broken: WorkerCounter,
    /// Connections ended because of excessive client demands, by [`eddy_http::Abuse`].
    pub(crate) abuses: [WorkerCounter; ABUSE_LABELS.len()],
}

impl Http2Series {
    /// Counts a connection that ended because of a client fault.
    pub(crate) fn failed(&self, fault: Http2Fault) {
        match fault {
            Http2Fault::Protocol(_) => self.broken.increment(),
            Http2Fault::Abuse(abuse) => self.abuses[abuse as usize].increment(),
        }
    }
}

/// TLS handshakes, by outcome.
#[derive(Debug, Default)]
pub(crate) struct HandshakeSeries {
    /// Successful full handshakes.
    pub(crate) full: WorkerCounter,
    /// Successful handshakes that resumed a session.
    pub(crate) resumed: WorkerCounter,
    /// Failed handshakes, by [`HandshakeFailure`].
    pub(crate) failed: [WorkerCounter; HANDSHAKE_FAILURE_LABELS.len()],
}

/// Reason why a handshake failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandshakeFailure {
    /// The peer closed the connection.
    Closed,
    /// The handshake timed out.
    Timeout,
    /// Requests are queued for admission, and the handshake had waited too long.
    Overload,
    /// Both sides have no version, cipher suite, group, protocol or name in common.
    Incompatible,
    /// The peer's certificate is missing or was rejected.
    Certificate,
    /// The endpoint's certificate is for another name.
    Name,
    /// The endpoint's certificate was not issued by a trusted authority.
    Authority,
    /// The endpoint's certificate has expired, or is not valid yet.
    Expired,
    /// The peer ended the handshake with an alert: most often it rejects the certificate.
    Alert,
    /// The peer violates the protocol, or speaks another one.
    Protocol,
}

/// Metric label of each [`HandshakeFailure`].
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
    /// Returns the failure for a fault of a client.
    pub(crate) fn of_client(fault: &HandshakeFault) -> Self {
        let failure = Self::of_endpoint(fault.kind());
        // A client certificate's problem is the client's concern, so the reasons are not distinguished.
        let is_of_certificate = matches!(failure, Self::Name | Self::Authority | Self::Expired);
        if is_of_certificate { Self::Certificate } else { failure }
    }

    /// Returns the failure for a fault of an endpoint.
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

/// One counter for each [`Fault::index`].
#[derive(Debug)]
pub(crate) struct FaultCounters([WorkerCounter; FAULT_LABELS.len()]);

impl Default for FaultCounters {
    fn default() -> Self {
        Self(std::array::from_fn(|_| WorkerCounter::default()))
    }
}

impl FaultCounters {
    pub(crate) fn count(&self, fault: Fault) {
        self.0[fault.index()].increment();
    }

    /// Returns the number of faults with this index.
    pub(crate) fn value(&self, index: usize) -> u64 {
        self.0[index].value()
    }
}

/// Counters of one rule on one worker.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct RuleSeries {
    /// Exchanges that matched the rule.
    pub(crate) requests: WorkerCounter,
}

/// Counters of one cluster on one worker.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct ClusterSeries {
    /// Attempts, by status class of the endpoint's response: 1xx to 5xx.
    pub(crate) responses: [WorkerCounter; 5],
    /// Attempts without a response.
    pub(crate) failures: WorkerCounter,
    /// Attempts after the first of an exchange.
    pub(crate) retries: WorkerCounter,
    /// Retries refused by the retry budget.
    pub(crate) retries_refused: WorkerCounter,
    /// Hedged attempts, sent while others had not been answered.
    pub(crate) hedges: WorkerCounter,
    /// Hedged attempts that were answered first.
    pub(crate) hedges_won: WorkerCounter,
    /// Exchanges that failed over to another cluster because this one could not serve them.
    pub(crate) left: WorkerCounter,
    /// Links established.
    pub(crate) connects: WorkerCounter,
    /// Links that could not be established.
    pub(crate) connects_failed: WorkerCounter,
    /// TLS handshakes with endpoints, if the cluster uses TLS.
    pub(crate) handshakes: HandshakeSeries,
    /// Shared HTTP/2 links established.
    pub(crate) http2_links: WorkerCounter,
    /// HTTP/2 links that ended because the endpoint violated the protocol.
    pub(crate) http2_links_broken: WorkerCounter,
    /// Requests sent on HTTP/2 links.
    pub(crate) http2_requests: WorkerCounter,
    /// Open links.
    pub(crate) links: Gauge,
    /// Idle links.
    pub(crate) links_idle: Gauge,
    /// Endpoints that are currently ejected.
    pub(crate) ejected: Gauge,
    /// Endpoints that health checks currently consider unhealthy.
    pub(crate) unhealthy: Gauge,
    /// Time from sending a request to the first byte of its response.
    pub(crate) first_byte: Histogram,
}

/// Counters of one worker.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct WorkerSeries {
    /// Exchanges in progress.
    pub(crate) exchanges: Gauge,
    /// Bytes spliced in the kernel.
    pub(crate) spliced: WorkerCounter,
    /// Open connections.
    pub(crate) connections: Gauge,
    /// Requests refused because of overload.
    pub(crate) shed: WorkerCounter,
    /// Idle connections closed to make room for others.
    pub(crate) idle_closed: WorkerCounter,
    /// Number of times that `accept` failed, for example for lack of descriptors.
    pub(crate) accepts_failed: WorkerCounter,
    /// Connections accepted in place of a worker that had stalled.
    pub(crate) accepts_for_stalled: WorkerCounter,
    /// Access log entries dropped because their target was too slow or a service did not accept them.
    pub(crate) records_dropped: WorkerCounter,
    /// Access log entries that a service has accepted.
    pub(crate) records_sent: WorkerCounter,
    /// Batches of access log entries that could not be sent, and are retried.
    pub(crate) record_batches_failed: WorkerCounter,
    /// Requests or responses stopped by the egress check.
    pub(crate) egress_stopped: WorkerCounter,
    /// Requests that were also routed by a plain scan of all rules.
    pub(crate) route_checks: WorkerCounter,
    /// Requests for which the index and the plain scan found different rules.
    pub(crate) route_mismatches: WorkerCounter,
    /// Mirror copies that were sent and answered.
    pub(crate) mirrors_sent: WorkerCounter,
    /// Mirror copies that were not answered.
    pub(crate) mirrors_failed: WorkerCounter,
    /// Mirror copies that were not sent: the body was too large, or too many were in progress.
    pub(crate) mirrors_dropped: WorkerCounter,
    /// Lateness of the worker's last tick, in milliseconds.
    pub(crate) lag_ms: Gauge,
    /// Time in which the worker was runnable while other programs had the processors, in microseconds.
    pub(crate) processor_wait_us: WorkerCounter,
    /// Slices of work on the event loop besides traffic: plans put in force, sweeps, reports.
    pub(crate) slices: WorkerCounter,
    /// Longest processor time of a slice, in microseconds.
    pub(crate) slice_us_max: Gauge,
    /// Sessions that ended with a panic.
    pub(crate) panics: WorkerCounter,
}

/// Counters of one filter on one worker.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct FilterSeries {
    /// Number of calls, by phase; exact.
    pub(crate) calls: [WorkerCounter; 8],
    /// Time in the filter by phase, for one crossing in 64.
    pub(crate) nanos: [Histogram<64>; 8],
    /// Bytes of edits. Edits of neighbouring filters in one crossing count for the first of them.
    pub(crate) edit_bytes: WorkerCounter,
    /// Number of failures, by kind.
    pub(crate) faults: [WorkerCounter; FILTER_FAULT_LABELS.len()],
    /// Exchanges that are paused by the filter at present.
    pub(crate) paused: Gauge,
    /// Time at which a failure was last logged, by kind, in milliseconds of the worker's clock.
    reported_ms: [Gauge; FILTER_FAULT_LABELS.len()],
    /// Failures since then, by kind.
    unreported: [WorkerCounter; FILTER_FAULT_LABELS.len()],
}

/// Metric label of each kind of filter failure.
pub(crate) const FILTER_FAULT_LABELS: [&str; 6] = ["fault", "edit", "timeout", "body", "memory", "cpu"];

/// Minimum interval between log messages of a worker about one kind of failure of a filter.
const REPORT_INTERVAL_MIN: Millis = Millis::new(1000);

impl FilterSeries {
    #[inline]
    pub(crate) fn entered(&self, phase: Phase, nanos: Option<u32>) {
        self.calls[phase as usize].increment();
        if let Some(nanos) = nanos {
            self.nanos[phase as usize].observe(nanos.into());
        }
    }

    /// Counts a failure. If it should be logged, returns the number of failures of its kind that were not logged since
    /// the last one.
    pub(crate) fn failed(&self, kind: FailureKind, now: WorkerTime) -> Option<u64> {
        self.faults[kind as usize].increment();
        let (last, unreported) = (&self.reported_ms[kind as usize], &self.unreported[kind as usize]);
        let reported = WorkerTime::from_millis(last.value());
        if reported != WorkerTime::ZERO && now - reported < REPORT_INTERVAL_MIN {
            unreported.increment();
            return None;
        }
        last.set(now.as_millis().max(1));
        let count = unreported.value();
        unreported.reset();
        Some(count)
    }
}

/// Counters of the access log's thread.
#[derive(Debug, Default)]
pub(crate) struct SinkSeries {
    /// Entries that the target did not accept.
    pub(crate) records_lost: WorkerCounter,
}

/// Counters of one worker under one plan, indexed as in the plan.
#[derive(Debug, Default)]
pub(crate) struct PlanSeries {
    /// Indexed by listener.
    pub(crate) listeners: Vec<Arc<ListenerSeries>>,
    /// Indexed by listener, then by rule index in its router.
    pub(crate) rules: Vec<Vec<Arc<RuleSeries>>>,
    /// Indexed by cluster.
    pub(crate) clusters: Vec<Arc<ClusterSeries>>,
    /// Indexed by cluster: usage by all workers, when the cluster has limits.
    pub(crate) in_use: Vec<Option<Arc<InUse>>>,
    /// Indexed by filter, as in the configuration.
    pub(crate) filters: BySlot<FilterId, Arc<FilterSeries>>,
}

impl ListenerSeries {
    /// Counts an exchange that ended with `status`, and its fault if there was one.
    pub(crate) fn count(&self, status: u16, fault: Option<Fault>) {
        count_status(&self.requests, status);
        if let Some(fault) = fault {
            self.faults.count(fault);
        }
    }
}

/// Counts a status by its class.
pub(crate) fn count_status(classes: &[WorkerCounter; 5], status: u16) {
    if let Some(counter) = classes.get(usize::from(status / 100).wrapping_sub(1)) {
        counter.increment();
    }
}

/// Kind of a filter failure, for the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The filter reported a failure, or panicked.
    Fault = 0,
    /// It requested an impossible edit.
    Edit = 1,
    /// It did not resume in time.
    Timeout = 2,
    /// It buffered more of a body than its limit.
    Body = 3,
    /// It reached its memory limit.
    Memory = 4,
    /// It reached its CPU time limit.
    Cpu = 5,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_of_each_kind_is_reported_and_later_ones_are_counted() {
        let series = FilterSeries::default();
        let at = WorkerTime::from_millis;
        assert_eq!(series.failed(FailureKind::Fault, at(5)), Some(0));
        for _ in 0..1000 {
            assert_eq!(series.failed(FailureKind::Fault, at(6)), None);
        }
        assert_eq!(series.failed(FailureKind::Memory, at(6)), Some(0));
        assert_eq!(series.failed(FailureKind::Memory, at(7)), None);
        assert_eq!(series.failed(FailureKind::Cpu, at(7)), Some(0));
        let later = at(5) + REPORT_INTERVAL_MIN;
        assert_eq!(series.failed(FailureKind::Fault, later), Some(1000));
        assert_eq!(series.failed(FailureKind::Memory, later), None);
        assert_eq!(series.failed(FailureKind::Memory, later + Millis::new(1)), Some(2));
        let counts = series.faults.each_ref().map(WorkerCounter::value);
        assert_eq!(counts, [1002, 0, 0, 0, 4, 1]);
    }
}
