//! Counters as Prometheus text (exposition format 0.0.4).

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, PoisonError};

use eddy_filter::Phase;
use eddy_http::{ABUSE_LABELS, GRPC_END_LABELS};
use eddy_ids::Shared;
use eddy_model::LimitKind;
use eddy_upstream::InUse;

use crate::fault::FAULT_LABELS;
use crate::stats::counter::{BUCKETS, Gauge, Histogram, WorkerCounter};
use crate::stats::registry::{SeriesByName, Stats};
use crate::stats::series::{
    ClusterSeries, DATAGRAM_LOSS_LABELS, FILTER_FAULT_LABELS, FilterSeries, HANDSHAKE_FAILURE_LABELS,
    HandshakeSeries, Http2Series, ListenerSeries, WorkerSeries,
};

const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

impl Stats {
    /// Appends every series, summed over the workers.
    pub fn render(&self, out: &mut String) {
        let names: Vec<String> = (0..self.workers.len()).map(|index| index.to_string()).collect();
        let workers = self.workers.iter().map(std::slice::from_ref);
        let items = names.iter().map(String::as_str).zip(workers).collect();
        render_workers(MetricFamily { out, by: "worker", items }, self.sink.records_lost.value());
        let labelled = self.labelled.lock().unwrap_or_else(PoisonError::into_inner);
        render_listeners(MetricFamily::new(out, "listener", &labelled.listeners));
        render_clusters(MetricFamily::new(out, "cluster", &labelled.clusters));
        render_limits(out, &labelled.in_use);
        render_filters(MetricFamily::new(out, "filter", &labelled.filters));
        head(out, "eddy_rule_requests_total", "counter", "Requests that the rule won.");
        let mut rules: Vec<_> = labelled.rules.iter().collect();
        rules.sort_unstable_by_key(|(label, _)| *label);
        for (label, series) in rules {
            let count: u64 = series.iter().map(|series| series.requests.value()).sum();
            let labels = [("listener", label.listener.as_ref()), ("rule", label.rule.as_ref())];
            sample(out, "eddy_rule_requests_total", &labels, count);
        }
    }
}

fn render_workers(mut all: MetricFamily<'_, WorkerSeries>, records_lost: u64) {
    all.total("eddy_shed_total", "Requests refused because of overload.", |one| &one.shed);
    all.total("eddy_idle_closed_total", "Idle connections closed to make room.", |one| &one.idle_closed);
    let help = "Failed attempts to accept a connection.";
    all.total("eddy_accepts_failed_total", help, |one| &one.accepts_failed);
    let help = "Connections accepted on behalf of a stalled worker.";
    all.total("eddy_accepts_for_others_total", help, |one| &one.accepts_for_stalled);
    all.total("eddy_egress_stopped_total", "Messages stopped by the egress check.", |one| {
        &one.egress_stopped
    });
    all.total("eddy_route_checks_total", "Requests routed by index and full scan.", |one| &one.route_checks);
    let help = "Requests for which index and full scan disagree.";
    all.total("eddy_route_check_mismatches_total", help, |one| &one.route_mismatches);
    all.total("eddy_mirrors_sent_total", "Mirrored requests with a response.", |one| &one.mirrors_sent);
    all.total("eddy_mirrors_failed_total", "Mirrored requests without a response.", |one| {
        &one.mirrors_failed
    });
    let help = "Mirrored requests not sent: too large, or too many in progress.";
    all.total("eddy_mirrors_dropped_total", help, |one| &one.mirrors_dropped);
    let help = "Bytes of large bodies and forwarded connections moved within the kernel.";
    all.total("eddy_spliced_bytes_total", help, |one| &one.spliced);
    let help = "Access log entries accepted by the service.";
    all.total("eddy_access_log_entries_sent_total", help, |one| &one.records_sent);
    let help = "Batches of access log entries that could not be sent; they are retried.";
    all.total("eddy_access_log_batches_failed_total", help, |one| &one.record_batches_failed);
    all.total("eddy_panics_total", "Sessions ended by a panic.", |one| &one.panics);
    let help = "Time in which a worker was runnable but waited for a processor.";
    let name = "eddy_worker_processor_wait_seconds_total";
    all.seconds(name, "counter", help, |one| one.processor_wait_us.value());
    let help = "Slices of housekeeping: reloads, sweeps of clusters, reports.";
    all.counter("eddy_worker_slices_total", help, |one| &one.slices);
    let help = "Longest processor time of one slice since the start.";
    all.seconds("eddy_worker_slice_seconds_max", "gauge", help, |one| one.slice_us_max.value());
    let name = "eddy_access_log_entries_dropped_total";
    head(
        all.out,
        name,
        "counter",
        "Access log entries lost because the target was too slow or rejected them.",
    );
    let dropped = all.sum(|one| one.records_dropped.value());
    sample(all.out, name, &[], dropped + records_lost);
    all.gauge("eddy_worker_exchanges", "Exchanges in progress.", |one| &one.exchanges);
    all.gauge("eddy_worker_connections", "Open client connections.", |one| &one.connections);
    let help = "Delay of the worker's last timer tick.";
    all.seconds("eddy_worker_lag_seconds", "gauge", help, |one| one.lag_ms.value() * 1000);
}

fn render_listeners(mut all: MetricFamily<'_, ListenerSeries>) {
    all.classes("eddy_requests_total", "Finished exchanges, by status class.", |one| &one.requests);
    let help = "Exchanges ended by a fault, by reason.";
    all.nonzero_counters("eddy_faults_total", help, ("reason", &FAULT_LABELS), |one, fault| {
        one.faults.value(fault)
    });
    let help = "Accepted connections, or started datagram sessions.";
    all.counter("eddy_connections_accepted_total", help, |one| &one.accepted);
    all.gauge("eddy_connections", "Open client connections, or datagram sessions.", |one| &one.connections);
    // Listeners without datagrams have no samples.
    let help = "Datagrams forwarded from clients.";
    all.nonzero_counter("eddy_datagrams_in_total", help, |one| &one.datagrams.taken);
    let help = "Datagrams forwarded to clients.";
    all.nonzero_counter("eddy_datagrams_out_total", help, |one| &one.datagrams.given);
    let help = "Datagrams that were not forwarded, by reason.";
    let name = "eddy_datagrams_dropped_total";
    all.nonzero_counters(name, help, ("reason", &DATAGRAM_LOSS_LABELS), |one, loss| {
        one.datagrams.lost[loss].value()
    });
    let help = "Connections closed because they did not begin with a valid PROXY header.";
    all.counter("eddy_proxy_protocol_rejected_total", help, |one| &one.unannounced);
    all.handshakes("eddy_tls_handshakes_total", "TLS handshakes, by outcome.", |one| &one.handshakes);
    all.counter("eddy_http2_connections_total", "HTTP/2 connections.", |one| &one.http2.connections);
    all.counter("eddy_http2_requests_total", "Requests over HTTP/2.", |one| &one.http2.requests);
    let help = "HTTP/2 connections ended because of a client fault, by reason.";
    let reasons = [&ABUSE_LABELS[..], &["protocol"]].concat();
    let name = "eddy_http2_connections_failed_total";
    all.nonzero_counters(name, help, ("reason", &reasons), |one, reason| {
        let Http2Series { abuses, broken, .. } = &one.http2;
        abuses.get(reason).unwrap_or(broken).value()
    });
    let help = "Opened tunnels: WebSockets, other upgrades and `CONNECT`.";
    all.counter("eddy_tunnels_opened_total", help, |one| &one.tunnels_opened);
    all.gauge("eddy_tunnels", "Open tunnels.", |one| &one.tunnels);
    let help = "Finished gRPC calls, by status.";
    all.nonzero_counters("eddy_grpc_calls_total", help, ("status", &GRPC_END_LABELS), |one, status| {
        one.grpc_calls.value(status)
    });
    let help = "Bytes from clients: request bodies, tunnels, forwarded connections and datagrams.";
    all.counter("eddy_body_bytes_in_total", help, |one| &one.bytes_in);
    let help = "Bytes to clients: response bodies, tunnels, forwarded connections and datagrams.";
    all.counter("eddy_body_bytes_out_total", help, |one| &one.bytes_out);
    let help = "Time from the end of the request head to the last byte of the response.";
    all.histogram("eddy_request_duration_seconds", help, |one| &one.duration);
}

fn render_clusters(mut all: MetricFamily<'_, ClusterSeries>) {
    let help = "Responses of endpoints, by status class.";
    all.classes("eddy_cluster_responses_total", help, |one| &one.responses);
    all.counter("eddy_cluster_failures_total", "Attempts without a response.", |one| &one.failures);
    all.counter("eddy_cluster_retries_total", "Retries.", |one| &one.retries);
    let help = "Retries refused by the retry budget.";
    all.counter("eddy_cluster_retries_refused_total", help, |one| &one.retries_refused);
    let help = "Hedges: attempts sent while others had no response yet.";
    all.counter("eddy_cluster_hedges_total", help, |one| &one.hedges);
    all.counter("eddy_cluster_hedges_won_total", "Hedges that responded first.", |one| &one.hedges_won);
    let help = "Exchanges that failed over to another cluster.";
    all.counter("eddy_cluster_failovers_total", help, |one| &one.left);
    all.counter("eddy_cluster_connects_total", "Upstream connections established.", |one| &one.connects);
    let help = "Upstream connections that could not be established.";
    all.counter("eddy_cluster_connects_failed_total", help, |one| &one.connects_failed);
    let help = "TLS handshakes with endpoints, by outcome.";
    all.handshakes("eddy_cluster_tls_handshakes_total", help, |one| &one.handshakes);
    let help = "HTTP/2 upstream connections established, which exchanges share.";
    all.counter("eddy_cluster_http2_connections_total", help, |one| &one.http2_links);
    let help = "HTTP/2 upstream connections ended because the endpoint violated the protocol.";
    all.counter("eddy_cluster_http2_connections_failed_total", help, |one| &one.http2_links_broken);
    let help = "Requests sent on HTTP/2 upstream connections.";
    all.counter("eddy_cluster_http2_requests_total", help, |one| &one.http2_requests);
    all.gauge("eddy_cluster_connections", "Open upstream connections.", |one| &one.links);
    all.gauge("eddy_cluster_connections_idle", "Idle upstream connections.", |one| &one.links_idle);
    let help = "Ejected endpoints; the highest count of any worker.";
    all.highest("eddy_cluster_endpoints_ejected", help, |one| &one.ejected);
    let help = "Endpoints that health checks consider unhealthy.";
    all.highest("eddy_cluster_endpoints_unhealthy", help, |one| &one.unhealthy);
    let help = "Time from sending a request to the first byte of the response.";
    all.histogram("eddy_cluster_first_byte_seconds", help, |one| &one.first_byte);
}

/// Appends cluster limits; clusters without limits have no samples.
fn render_limits(out: &mut String, all: &BTreeMap<Shared<str>, Arc<InUse>>) {
    if all.is_empty() {
        return;
    }
    let each = |out: &mut String, name: &str, of: fn(&InUse, LimitKind) -> u64| {
        for (cluster, in_use) in all {
            for kind in LimitKind::ALL {
                sample(out, name, &[("cluster", cluster), ("limit", kind.name())], of(in_use, kind));
            }
        }
    };
    let name = "eddy_cluster_in_use";
    head(out, name, "gauge", "Current use of the limits of a cluster, over all workers.");
    each(out, name, |in_use, kind| in_use.now(kind).into());
    let name = "eddy_cluster_limit_reached_total";
    head(out, name, "counter", "Times that a limit of the cluster was reached, by limit.");
    each(out, name, InUse::refused);
}

fn render_filters(mut all: MetricFamily<'_, FilterSeries>) {
    if all.items.is_empty() {
        return;
    }
    let phases = Phase::ALL.map(Phase::name);
    all.nonzero_counters(
        "eddy_filter_calls_total",
        "Calls of the filter, by phase.",
        ("phase", &phases),
        |one, phase| one.calls[phase].value(),
    );
    let name = "eddy_filter_duration_seconds";
    head(all.out, name, "histogram", "Time in the filter; one crossing in 64 is measured.");
    for (filter, workers) in &all.items {
        for (index, phase) in phases.iter().enumerate() {
            let nanos = workers.iter().map(|one| &one.nanos[index]);
            if nanos.clone().any(|nanos| (0..BUCKETS).any(|bucket| nanos.bucket(bucket) > 0)) {
                histogram(all.out, name, &[("filter", filter), ("phase", phase)], nanos, nanoseconds);
            }
        }
    }
    let help = "Bytes of edits; edits of neighbouring filters in one crossing count for the first.";
    all.counter("eddy_filter_edit_bytes_total", help, |one| &one.edit_bytes);
    let name = "eddy_filter_faults_total";
    all.counters(name, "Failures of the filter, by kind.", ("kind", &FILTER_FAULT_LABELS), |one, kind| {
        one.faults[kind].value()
    });
    all.gauge("eddy_filter_paused", "Exchanges paused by the filter.", |one| &one.paused);
}

/// Metrics of items that a label tells apart, such as listeners; each item has one series per worker.
struct MetricFamily<'a, T> {
    out: &'a mut String,
    by: &'static str,
    items: Vec<(&'a str, &'a [Arc<T>])>,
}

/// Label of kinds of an event, and its values.
type Kinds<'k> = (&'k str, &'k [&'k str]);

impl<'a, T> MetricFamily<'a, T> {
    fn new(out: &'a mut String, by: &'static str, all: &'a SeriesByName<T>) -> Self {
        Self { out, by, items: all.iter().map(|(name, series)| (name.as_ref(), series.as_slice())).collect() }
    }

    fn sum(&self, of: impl Fn(&T) -> u64) -> u64 {
        self.items.iter().flat_map(|(_, workers)| *workers).map(|series| of(series)).sum()
    }

    /// Appends the sum of a counter over all items.
    fn total(&mut self, name: &str, help: &str, of: fn(&T) -> &WorkerCounter) {
        head(self.out, name, "counter", help);
        sample(self.out, name, &[], self.sum(|series| of(series).value()));
    }

    fn counter(&mut self, name: &str, help: &str, of: fn(&T) -> &WorkerCounter) {
        self.each(name, "counter", help, |workers| workers.iter().map(|series| of(series).value()).sum());
    }

    fn gauge(&mut self, name: &str, help: &str, of: fn(&T) -> &Gauge) {
        self.each(name, "gauge", help, |workers| workers.iter().map(|series| of(series).value()).sum());
    }

    /// Appends a gauge of which each worker has its own view: the highest value of any worker.
    fn highest(&mut self, name: &str, help: &str, of: fn(&T) -> &Gauge) {
        let highest = |workers: &[Arc<T>]| workers.iter().map(|series| of(series).value()).max().unwrap_or(0);
        self.each(name, "gauge", help, highest);
    }

    fn each(&mut self, name: &str, kind: &str, help: &str, of: impl Fn(&[Arc<T>]) -> u64) {
        head(self.out, name, kind, help);
        for (item, workers) in &self.items {
            sample(self.out, name, &[(self.by, item)], of(workers));
        }
    }

    /// Appends a time that is counted in microseconds.
    fn seconds(&mut self, name: &str, kind: &str, help: &str, us: fn(&T) -> u64) {
        head(self.out, name, kind, help);
        for (item, workers) in &self.items {
            text(self.out, name, &[(self.by, item)], &seconds(workers.iter().map(|series| us(series)).sum()));
        }
    }

    /// As [`Self::counter`], without samples for counts of zero.
    fn nonzero_counter(&mut self, name: &str, help: &str, of: fn(&T) -> &WorkerCounter) {
        head(self.out, name, "counter", help);
        for (item, workers) in &self.items {
            let count = workers.iter().map(|series| of(series).value()).sum();
            if count > 0 {
                sample(self.out, name, &[(self.by, item)], count);
            }
        }
    }

    /// Appends a counter for each kind; `of` returns the count of the kind with an index.
    fn counters(&mut self, name: &str, help: &str, kinds: Kinds<'_>, of: impl Fn(&T, usize) -> u64) {
        self.counters_from(0, name, help, kinds, of);
    }

    /// As [`Self::counters`], without samples for counts of zero.
    fn nonzero_counters(&mut self, name: &str, help: &str, kinds: Kinds<'_>, of: impl Fn(&T, usize) -> u64) {
        self.counters_from(1, name, help, kinds, of);
    }

    fn counters_from(
        &mut self,
        least: u64,
        name: &str,
        help: &str,
        (label, kinds): Kinds<'_>,
        of: impl Fn(&T, usize) -> u64,
    ) {
        head(self.out, name, "counter", help);
        for (item, workers) in &self.items {
            for (index, kind) in kinds.iter().enumerate() {
                let count = workers.iter().map(|series| of(series, index)).sum();
                if count >= least {
                    sample(self.out, name, &[(self.by, item), (label, kind)], count);
                }
            }
        }
    }

    fn classes(&mut self, name: &str, help: &str, of: fn(&T) -> &[WorkerCounter; 5]) {
        self.counters(name, help, ("class", &CLASSES), |one, class| of(one)[class].value());
    }

    /// Appends TLS handshakes by outcome; listeners and clusters without TLS have no samples.
    fn handshakes(&mut self, name: &str, help: &str, of: fn(&T) -> &HandshakeSeries) {
        let outcomes = [&["full", "resumed"][..], &HANDSHAKE_FAILURE_LABELS].concat();
        self.nonzero_counters(name, help, ("outcome", &outcomes), |one, outcome| {
            let HandshakeSeries { full, resumed, failed } = of(one);
            [full, resumed].into_iter().chain(failed).nth(outcome).expect("a counter for each label").value()
        });
    }

    fn histogram(&mut self, name: &str, help: &str, of: fn(&T) -> &Histogram) {
        head(self.out, name, "histogram", help);
        for (item, workers) in &self.items {
            let histograms = workers.iter().map(|series| of(series));
            histogram(self.out, name, &[(self.by, item)], histograms, seconds);
        }
    }
}

/// Appends the samples of a histogram, summed over workers; `show` writes its unit as seconds.
fn histogram<'h, const FIRST: u64>(
    out: &mut String,
    name: &str,
    labels: &[(&str, &str)],
    workers: impl Iterator<Item = &'h Histogram<FIRST>> + Clone,
    show: fn(u64) -> String,
) {
    let mut total = 0;
    for index in 0..BUCKETS {
        total += workers.clone().map(|histogram| histogram.bucket(index)).sum::<u64>();
        let bound = Histogram::<FIRST>::bound(index).map_or_else(|| "+Inf".to_owned(), show);
        sample(out, &format!("{name}_bucket"), &[labels, &[("le", &bound)]].concat(), total);
    }
    let sum = workers.map(Histogram::sum).sum();
    text(out, &format!("{name}_sum"), labels, &show(sum));
    sample(out, &format!("{name}_count"), labels, total);
}

/// Returns microseconds as seconds, without loss.
fn seconds(us: u64) -> String {
    format!("{}.{:06}", us / 1_000_000, us % 1_000_000)
}

/// Returns nanoseconds as seconds, without loss.
fn nanoseconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn sample(out: &mut String, name: &str, labels: &[(&str, &str)], value: u64) {
    text(out, name, labels, &value.to_string());
}

fn text(out: &mut String, name: &str, labels: &[(&str, &str)], value: &str) {
    out.push_str(name);
    for (index, (label, content)) in labels.iter().enumerate() {
        out.push(if index == 0 { '{' } else { ',' });
        out.push_str(label);
        out.push_str("=\"");
        for character in content.chars() {
            match character {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                other => out.push(other),
            }
        }
        out.push('"');
    }
    if !labels.is_empty() {
        out.push('}');
    }
    out.push(' ');
    out.push_str(value);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_cannot_break_out_of_their_quotes() {
        let mut out = String::new();
        sample(&mut out, "m", &[("a", "x\"} 1\n\\")], 3);
        assert_eq!(out, "m{a=\"x\\\"} 1\\n\\\\\"} 3\n");
    }

    #[test]
    fn buckets_are_cumulative_and_end_with_infinity() {
        let series = Arc::new(ListenerSeries::default());
        for us in [100, 200, u64::from(u32::MAX)] {
            series.duration.observe(us);
        }
        let mut out = String::new();
        let mut family =
            MetricFamily { out: &mut out, by: "l", items: vec![("x", std::slice::from_ref(&series))] };
        family.histogram("d", "h", |one| &one.duration);
        assert!(out.contains("d_bucket{l=\"x\",le=\"0.000125\"} 1\n"), "{out}");
        assert!(out.contains("d_bucket{l=\"x\",le=\"0.000250\"} 2\n"), "{out}");
        assert!(out.contains("d_bucket{l=\"x\",le=\"+Inf\"} 3\n"), "{out}");
        assert!(out.contains("d_sum{l=\"x\"} 4294.967595\nd_count{l=\"x\"} 3\n"), "{out}");
    }
}
