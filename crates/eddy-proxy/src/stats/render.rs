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
use crate::stats::registry::Stats;
use crate::stats::series::{
    ClusterSeries, DATAGRAM_LOSS_LABELS, FILTER_FAULT_LABELS, FilterSeries, HANDSHAKE_FAILURE_LABELS,
    HandshakeSeries, Http2Series, ListenerSeries,
};

const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

impl Stats {
    /// Appends every series, summed over the workers.
    pub fn render(&self, out: &mut String) {
        self.render_workers(out);
        let labelled = self.labelled.lock().unwrap_or_else(PoisonError::into_inner);
        let listeners: Vec<_> =
            labelled.listeners.iter().map(|(name, all)| (name.as_ref(), all.as_slice())).collect();
        render_listeners(out, &listeners);
        let clusters: Vec<_> =
            labelled.clusters.iter().map(|(name, all)| (name.as_ref(), all.as_slice())).collect();
        render_clusters(out, &clusters);
        render_limits(out, &labelled.in_use);

        let filters: Vec<_> =
            labelled.filters.iter().map(|(name, all)| (name.as_ref(), all.as_slice())).collect();
        render_filters(out, &filters);

        head(out, "eddy_rule_requests_total", "counter", "Requests that the rule won.");
        let mut rules: Vec<_> = labelled.rules.iter().collect();
        rules.sort_unstable_by_key(|(label, _)| *label);
        for (label, series) in rules {
            let count: u64 = series.iter().map(|series| series.requests.value()).sum();
            let labels = [("listener", label.listener.as_ref()), ("rule", label.rule.as_ref())];
            sample(out, "eddy_rule_requests_total", &labels, count);
        }
    }

    fn render_workers(&self, out: &mut String) {
        let mut counter = |name: &str, help: &str, of: fn(&crate::stats::WorkerSeries) -> &WorkerCounter| {
            head(out, name, "counter", help);
            sample(out, name, &[], self.workers.iter().map(|worker| of(worker).value()).sum());
        };
        counter("eddy_shed_total", "Requests refused because of overload.", |worker| &worker.shed);
        counter("eddy_idle_closed_total", "Idle connections closed to make room.", |worker| {
            &worker.idle_closed
        });
        counter("eddy_accepts_failed_total", "Failed attempts to accept a connection.", |worker| {
            &worker.accepts_failed
        });
        counter(
            "eddy_accepts_for_others_total",
            "Connections accepted on behalf of a stalled worker.",
            |worker| &worker.accepts_for_others,
        );
        counter("eddy_egress_stopped_total", "Messages stopped by the egress check.", |worker| {
            &worker.egress_stopped
        });
        counter("eddy_route_checks_total", "Requests routed by index and full scan.", |worker| {
            &worker.route_checks
        });
        counter(
            "eddy_route_check_mismatches_total",
            "Requests for which index and full scan disagree.",
            |worker| &worker.route_mismatches,
        );
        counter("eddy_mirrors_sent_total", "Mirrored requests with a response.", |worker| {
            &worker.mirrors_sent
        });
        counter("eddy_mirrors_failed_total", "Mirrored requests without a response.", |worker| {
            &worker.mirrors_failed
        });
        counter(
            "eddy_mirrors_dropped_total",
            "Mirrored requests not sent: too large, or too many in progress.",
            |worker| &worker.mirrors_dropped,
        );
        counter(
            "eddy_spliced_bytes_total",
            "Bytes of large bodies and forwarded connections moved within the kernel.",
            |worker| &worker.spliced,
        );
        counter(
            "eddy_access_log_entries_sent_total",
            "Access log entries accepted by the service.",
            |worker| &worker.records_sent,
        );
        counter(
            "eddy_access_log_batches_failed_total",
            "Batches of access log entries that could not be sent; they are retried.",
            |worker| &worker.record_batches_failed,
        );
        counter("eddy_panics_total", "Sessions ended by a panic.", |worker| &worker.panics);
        let name = "eddy_worker_processor_wait_seconds_total";
        head(out, name, "counter", "Time in which a worker was runnable but waited for a processor.");
        for (index, worker) in self.workers.iter().enumerate() {
            let waited = seconds(worker.processor_wait_us.value());
            text(out, name, &[("worker", &index.to_string())], &waited);
        }
        let name = "eddy_worker_slices_total";
        head(out, name, "counter", "Slices of housekeeping: reloads, sweeps of clusters, reports.");
        for (index, worker) in self.workers.iter().enumerate() {
            sample(out, name, &[("worker", &index.to_string())], worker.slices.value());
        }
        let name = "eddy_worker_slice_seconds_max";
        head(out, name, "gauge", "Longest processor time of one slice since the start.");
        for (index, worker) in self.workers.iter().enumerate() {
            text(out, name, &[("worker", &index.to_string())], &seconds(worker.slice_us_max.value()));
        }
        let name = "eddy_access_log_entries_dropped_total";
        head(
            out,
            name,
            "counter",
            "Access log entries lost because the target was too slow or rejected them.",
        );
        let dropped: u64 = self.workers.iter().map(|worker| worker.records_dropped.value()).sum();
        sample(out, name, &[], dropped + self.sink.records_lost.value());
        let mut gauge = |name: &str, help: &str, of: fn(&crate::stats::WorkerSeries) -> &Gauge| {
            head(out, name, "gauge", help);
            for (index, worker) in self.workers.iter().enumerate() {
                sample(out, name, &[("worker", &index.to_string())], of(worker).value());
            }
        };
        gauge("eddy_worker_exchanges", "Exchanges in progress.", |worker| &worker.exchanges);
        gauge("eddy_worker_connections", "Open client connections.", |worker| &worker.connections);
        let name = "eddy_worker_lag_seconds";
        head(out, name, "gauge", "Delay of the worker's last timer tick.");
        for (index, worker) in self.workers.iter().enumerate() {
            let lag = seconds(worker.lag_ms.value() * 1000);
            text(out, name, &[("worker", &index.to_string())], &lag);
        }
    }
}

type Labelled<'a, T> = [(&'a str, &'a [Arc<T>])];

fn render_listeners(out: &mut String, all: &Labelled<'_, ListenerSeries>) {
    classes(out, "eddy_requests_total", "Finished exchanges, by status class.", "listener", all, |series| {
        &series.requests
    });
    head(out, "eddy_faults_total", "counter", "Exchanges ended by a fault, by reason.");
    for (name, workers) in all {
        for (index, reason) in FAULT_LABELS.iter().enumerate() {
            let count: u64 =
                workers.iter().filter_map(|series| series.faults.get(index)).map(WorkerCounter::value).sum();
            if count > 0 {
                sample(out, "eddy_faults_total", &[("listener", name), ("reason", reason)], count);
            }
        }
    }
    let by = "listener";
    let help = "Accepted connections, or started datagram sessions.";
    counters(out, "eddy_connections_accepted_total", help, by, all, |one| &one.accepted);
    let help = "Open client connections, or datagram sessions.";
    gauges(out, "eddy_connections", help, by, all, |one| &one.connections);
    render_datagrams(out, all);
    counters(
        out,
        "eddy_proxy_protocol_rejected_total",
        "Connections closed because they did not begin with a valid PROXY header.",
        by,
        all,
        |one| &one.unannounced,
    );
    let help = "TLS handshakes, by outcome.";
    handshakes(out, "eddy_tls_handshakes_total", help, by, all, |one| &one.handshakes);
    render_http2(out, all);
    let help = "Opened tunnels: WebSockets, other upgrades and `CONNECT`.";
    counters(out, "eddy_tunnels_opened_total", help, by, all, |one| &one.tunnels_opened);
    gauges(out, "eddy_tunnels", "Open tunnels.", by, all, |one| &one.tunnels);
    let name = "eddy_grpc_calls_total";
    head(out, name, "counter", "Finished gRPC calls, by status.");
    for (listener, workers) in all {
        for (index, status) in GRPC_END_LABELS.iter().enumerate() {
            let count: u64 = workers.iter().map(|series| series.grpc_calls.value(index)).sum();
            if count > 0 {
                sample(out, name, &[("listener", listener), ("status", status)], count);
            }
        }
    }
    counters(
        out,
        "eddy_body_bytes_in_total",
        "Bytes from clients: request bodies, tunnels, forwarded connections and datagrams.",
        by,
        all,
        |one| &one.bytes_in,
    );
    counters(
        out,
        "eddy_body_bytes_out_total",
        "Bytes to clients: response bodies, tunnels, forwarded connections and datagrams.",
        by,
        all,
        |one| &one.bytes_out,
    );
    let help = "Time from the end of the request head to the last byte of the response.";
    histograms(out, "eddy_request_duration_seconds", help, by, all, |one| &one.duration);
}

/// Appends TLS handshakes by outcome; listeners and clusters without TLS have no samples.
fn handshakes<T>(
    out: &mut String,
    name: &str,
    help: &str,
    label: &str,
    all: &Labelled<'_, T>,
    of: fn(&T) -> &HandshakeSeries,
) {
    head(out, name, "counter", help);
    let outcomes = ["full", "resumed"].into_iter().chain(HANDSHAKE_FAILURE_LABELS);
    for (value, workers) in all {
        for (index, outcome) in outcomes.clone().enumerate() {
            let count = |series: &Arc<T>| {
                let HandshakeSeries { full, resumed, failed } = of(series);
                [full, resumed]
                    .into_iter()
                    .chain(failed)
                    .nth(index)
                    .expect("a counter for each label")
                    .value()
            };
            let count: u64 = workers.iter().map(count).sum();
            if count > 0 {
                sample(out, name, &[(label, value), ("outcome", outcome)], count);
            }
        }
    }
}

/// Appends datagram counters; listeners without datagrams have no samples.
fn render_datagrams(out: &mut String, all: &Labelled<'_, ListenerSeries>) {
    let mut way = |name: &str, help: &str, of: fn(&ListenerSeries) -> &WorkerCounter| {
        head(out, name, "counter", help);
        for (listener, workers) in all {
            let count: u64 = workers.iter().map(|series| of(series).value()).sum();
            if count > 0 {
                sample(out, name, &[("listener", listener)], count);
            }
        }
    };
    way("eddy_datagrams_in_total", "Datagrams forwarded from clients.", |one| &one.datagrams.taken);
    way("eddy_datagrams_out_total", "Datagrams forwarded to clients.", |one| &one.datagrams.given);
    let name = "eddy_datagrams_dropped_total";
    head(out, name, "counter", "Datagrams that were not forwarded, by reason.");
    for (listener, workers) in all {
        for (index, reason) in DATAGRAM_LOSS_LABELS.iter().enumerate() {
            let lost = workers.iter().filter_map(|series| series.datagrams.lost.get(index));
            let count: u64 = lost.map(WorkerCounter::value).sum();
            if count > 0 {
                sample(out, name, &[("listener", listener), ("reason", reason)], count);
            }
        }
    }
}

fn render_http2(out: &mut String, all: &Labelled<'_, ListenerSeries>) {
    let by = "listener";
    let help = "HTTP/2 connections.";
    counters(out, "eddy_http2_connections_total", help, by, all, |one| &one.http2.connections);
    let help = "Requests over HTTP/2.";
    counters(out, "eddy_http2_requests_total", help, by, all, |one| &one.http2.requests);
    let name = "eddy_http2_connections_failed_total";
    head(out, name, "counter", "HTTP/2 connections ended because of a client fault, by reason.");
    let reasons = ABUSE_LABELS.into_iter().chain(["protocol"]);
    for (listener, workers) in all {
        for (index, reason) in reasons.clone().enumerate() {
            let count = |series: &Arc<ListenerSeries>| {
                let Http2Series { abuses, broken, .. } = &series.http2;
                abuses.iter().chain([broken]).nth(index).expect("a counter for each label").value()
            };
            let count: u64 = workers.iter().map(count).sum();
            if count > 0 {
                sample(out, name, &[(by, listener), ("reason", reason)], count);
            }
        }
    }
}

fn render_clusters(out: &mut String, all: &Labelled<'_, ClusterSeries>) {
    let by = "cluster";
    let help = "Responses of endpoints, by status class.";
    classes(out, "eddy_cluster_responses_total", help, by, all, |series| &series.responses);
    let help = "Attempts without a response.";
    counters(out, "eddy_cluster_failures_total", help, by, all, |one| &one.failures);
    counters(out, "eddy_cluster_retries_total", "Retries.", by, all, |one| &one.retries);
    let help = "Retries refused by the retry budget.";
    counters(out, "eddy_cluster_retries_refused_total", help, by, all, |one| &one.retries_refused);
    let help = "Hedges: attempts sent while others had no response yet.";
    counters(out, "eddy_cluster_hedges_total", help, by, all, |one| &one.hedges);
    let help = "Hedges that responded first.";
    counters(out, "eddy_cluster_hedges_won_total", help, by, all, |one| &one.hedges_won);
    let help = "Exchanges that failed over to another cluster.";
    counters(out, "eddy_cluster_failovers_total", help, by, all, |one| &one.left);
    counters(out, "eddy_cluster_connects_total", "Upstream connections established.", by, all, |one| {
        &one.connects
    });
    let help = "Upstream connections that could not be established.";
    counters(out, "eddy_cluster_connects_failed_total", help, by, all, |one| &one.connects_failed);
    let help = "TLS handshakes with endpoints, by outcome.";
    handshakes(out, "eddy_cluster_tls_handshakes_total", help, by, all, |one| &one.handshakes);
    let help = "HTTP/2 upstream connections established, which exchanges share.";
    counters(out, "eddy_cluster_http2_connections_total", help, by, all, |one| &one.http2_links);
    let help = "HTTP/2 upstream connections ended because the endpoint violated the protocol.";
    counters(out, "eddy_cluster_http2_connections_failed_total", help, by, all, |one| {
        &one.http2_links_broken
    });
    let help = "Requests sent on HTTP/2 upstream connections.";
    counters(out, "eddy_cluster_http2_requests_total", help, by, all, |one| &one.http2_requests);
    gauges(out, "eddy_cluster_connections", "Open upstream connections.", by, all, |one| &one.links);
    gauges(out, "eddy_cluster_connections_idle", "Idle upstream connections.", by, all, |one| {
        &one.links_idle
    });
    let help = "Ejected endpoints; the highest count of any worker.";
    most(out, "eddy_cluster_endpoints_ejected", help, by, all, |one| &one.ejected);
    let help = "Endpoints that health checks consider unhealthy.";
    most(out, "eddy_cluster_endpoints_unhealthy", help, by, all, |one| &one.unhealthy);
    let help = "Time from sending a request to the first byte of the response.";
    histograms(out, "eddy_cluster_first_byte_seconds", help, by, all, |one| &one.first_byte);
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

fn render_filters(out: &mut String, all: &Labelled<'_, FilterSeries>) {
    if all.is_empty() {
        return;
    }
    let by = "filter";
    let name = "eddy_filter_calls_total";
    head(out, name, "counter", "Calls of the filter, by phase.");
    each_phase(all, |filter, phase, series| {
        let count: u64 = series.iter().map(|one| one.calls[phase as usize].value()).sum();
        if count > 0 {
            sample(out, name, &[(by, filter), ("phase", phase.name())], count);
        }
    });
    let name = "eddy_filter_duration_seconds";
    head(out, name, "histogram", "Time in the filter; one crossing in 64 is measured.");
    each_phase(all, |filter, phase, series| {
        let bucket =
            |index: usize| -> u64 { series.iter().map(|one| one.nanos[phase as usize].bucket(index)).sum() };
        if (0..BUCKETS).map(bucket).sum::<u64>() == 0 {
            return;
        }
        let mut total = 0;
        for index in 0..BUCKETS {
            total += bucket(index);
            let bound = Histogram::<64>::bound(index).map_or_else(|| "+Inf".to_owned(), nanoseconds);
            let labels = [(by, filter), ("phase", phase.name()), ("le", &bound)];
            sample(out, &format!("{name}_bucket"), &labels, total);
        }
        let sum: u64 = series.iter().map(|one| one.nanos[phase as usize].sum()).sum();
        let labels = [(by, filter), ("phase", phase.name())];
        text(out, &format!("{name}_sum"), &labels, &nanoseconds(sum));
        sample(out, &format!("{name}_count"), &labels, total);
    });
    let help = "Bytes of edits; edits of neighbouring filters in one crossing count for the first.";
    counters(out, "eddy_filter_edit_bytes_total", help, by, all, |one| &one.edit_bytes);
    let name = "eddy_filter_faults_total";
    head(out, name, "counter", "Failures of the filter, by kind.");
    for (filter, workers) in all {
        for (index, kind) in FILTER_FAULT_LABELS.iter().enumerate() {
            let count =
                workers.iter().filter_map(|one| one.faults.get(index)).map(WorkerCounter::value).sum();
            sample(out, name, &[(by, filter), ("kind", kind)], count);
        }
    }
    gauges(out, "eddy_filter_paused", "Exchanges paused by the filter.", by, all, |one| &one.paused);
}

fn each_phase(all: &Labelled<'_, FilterSeries>, mut each: impl FnMut(&str, Phase, &[Arc<FilterSeries>])) {
    for (filter, workers) in all {
        Phase::ALL.iter().for_each(|phase| each(filter, *phase, workers));
    }
}

/// Returns nanoseconds as seconds, without loss.
fn nanoseconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

fn counters<T>(
    out: &mut String,
    name: &str,
    help: &str,
    label: &str,
    all: &Labelled<'_, T>,
    of: fn(&T) -> &WorkerCounter,
) {
    head(out, name, "counter", help);
    for (value, workers) in all {
        sample(out, name, &[(label, value)], workers.iter().map(|series| of(series).value()).sum());
    }
}

fn gauges<T>(
    out: &mut String,
    name: &str,
    help: &str,
    label: &str,
    all: &Labelled<'_, T>,
    of: fn(&T) -> &Gauge,
) {
    head(out, name, "gauge", help);
    for (value, workers) in all {
        sample(out, name, &[(label, value)], workers.iter().map(|series| of(series).value()).sum());
    }
}

/// Appends gauges of which each worker has its own view: the highest value of any worker.
fn most<T>(
    out: &mut String,
    name: &str,
    help: &str,
    label: &str,
    all: &Labelled<'_, T>,
    of: fn(&T) -> &Gauge,
) {
    head(out, name, "gauge", help);
    for (value, workers) in all {
        let most = workers.iter().map(|series| of(series).value()).max().unwrap_or(0);
        sample(out, name, &[(label, value)], most);
    }
}

fn classes<T>(
    out: &mut String,
    name: &str,
    help: &str,
    label: &str,
    all: &Labelled<'_, T>,
    of: fn(&T) -> &[WorkerCounter; 5],
) {
    head(out, name, "counter", help);
    for (value, workers) in all {
        for (index, class) in CLASSES.iter().enumerate() {
            let count =
                workers.iter().filter_map(|series| of(series).get(index)).map(WorkerCounter::value).sum();
            sample(out, name, &[(label, value), ("class", class)], count);
        }
    }
}

fn histograms<T>(
    out: &mut String,
    name: &str,
    help: &str,
    label: &str,
    all: &Labelled<'_, T>,
    of: fn(&T) -> &Histogram,
) {
    head(out, name, "histogram", help);
    let bucket_name = format!("{name}_bucket");
    for (value, workers) in all {
        let mut total = 0;
        for index in 0..BUCKETS {
            total += workers.iter().map(|series| of(series).bucket(index)).sum::<u64>();
            let bound = Histogram::<125>::bound(index).map_or_else(|| "+Inf".to_owned(), seconds);
            sample(out, &bucket_name, &[(label, value), ("le", &bound)], total);
        }
        let sum_us: u64 = workers.iter().map(|series| of(series).sum()).sum();
        text(out, &format!("{name}_sum"), &[(label, value)], &seconds(sum_us));
        sample(out, &format!("{name}_count"), &[(label, value)], total);
    }
}

/// Returns microseconds as seconds, without loss.
fn seconds(us: u64) -> String {
    format!("{}.{:06}", us / 1_000_000, us % 1_000_000)
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
        histograms(&mut out, "d", "h", "l", &[("x", &[series])], |one| &one.duration);
        assert!(out.contains("d_bucket{l=\"x\",le=\"0.000125\"} 1\n"), "{out}");
        assert!(out.contains("d_bucket{l=\"x\",le=\"0.000250\"} 2\n"), "{out}");
        assert!(out.contains("d_bucket{l=\"x\",le=\"+Inf\"} 3\n"), "{out}");
        assert!(out.contains("d_sum{l=\"x\"} 4294.967595\nd_count{l=\"x\"} 3\n"), "{out}");
    }
}
