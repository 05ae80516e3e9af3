//! Pages of the admin listener.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::Ordering;

use eddy_acme::CertificateView;
use eddy_filter::{FailurePolicy, HostApi};
use eddy_io::monotonic_ms;
use eddy_proxy::stats::FilterView as ReportedFilter;
use serde::Serialize;

use super::command::GatewayHandles;
use super::taken::role_name;
use crate::admin::{Page, Pages};
use crate::control::{Quarantined, SocketKey, SocketPlace};
use crate::explain::{Question, explain};
use crate::filters::{library_figures, write_metrics};

/// Pages of one gateway process.
pub(super) struct GatewayPages {
    pub(super) serving: GatewayHandles,
}

impl Pages for GatewayPages {
    fn page(&self, path: &[u8], query: &[u8]) -> Option<Page> {
        Some(match path {
            b"/" | b"" => text(INDEX.to_owned()),
            b"/metrics" => Page { content_type: METRICS_TYPE, ..text(self.metrics()) },
            b"/healthz" => text("ok\n".to_owned()),
            b"/ready" => self.ready(),
            b"/config" => text(self.serving.status.force().config.shown.as_ref().to_owned()),
            b"/clusters" => json(&self.serving.gateway.clusters()),
            b"/filters" => json(&self.filters()),
            b"/listeners" => json(&self.listeners()),
            b"/acme" => json(&self.serving.acme.status().certificates()),
            b"/explain" => self.explain(query),
            _ => return None,
        })
    }
}

impl GatewayPages {
    fn ready(&self) -> Page {
        // A client that sees this page may stop eddy at once, and the parent kills a process that it does not know to
        // be serving.
        self.serving.status.reported.wait();
        if self.serving.status.is_draining.load(Ordering::Relaxed) {
            Page { status: 503, ..text("draining\n".to_owned()) }
        } else {
            text("ready\n".to_owned())
        }
    }

    /// Explains the decision of the plan in force for a request.
    fn explain(&self, query: &[u8]) -> Page {
        let plan = self.serving.gateway.plan();
        let answers = Question::of_query(query).and_then(|(question, is_json)| {
            let answers = explain(plan.config(), &question, |listener, ask| {
                plan.router(listener).into_iter().for_each(ask);
                Ok(())
            })?;
            Ok((answers, is_json))
        });
        match answers {
            Ok((answers, true)) => json(&answers),
            Ok((answers, false)) => text(answers.text()),
            Err(error) => Page { status: 400, ..text(format!("{error}\n")) },
        }
    }

    fn listeners(&self) -> Vec<ListenerView> {
        let force = self.serving.status.force();
        let view = |key: SocketKey, address: Option<SocketPlace>, problem: Option<String>| ListenerView {
            role: role_name(key.role),
            configured: key.place.to_string(),
            address: address.map(|address| address.to_string()),
            problem,
        };
        let bound = force.bound.into_iter().map(|(key, place)| view(key, Some(place), None));
        let unbound = force.unbound.into_iter().map(|(key, problem)| view(key, None, Some(problem)));
        bound.chain(unbound).collect()
    }

    fn filters(&self) -> FiltersView {
        let force = self.serving.status.force();
        let now_ms = monotonic_ms();
        let quarantined = |name: &str| {
            let held = force.quarantined.iter().find(|held| held.name == name)?;
            let filter = &force.config.filters[force.config.filters.id_of(name)?];
            let effect = match filter.policy.on_failure {
                FailurePolicy::Closed => "requests are refused",
                FailurePolicy::Open => "the filter is skipped",
            };
            let seconds_left = held.until_ms.saturating_sub(now_ms) / 1000;
            Some(QuarantineView { deaths: held.deaths, effect, seconds_left })
        };
        let reported = self.serving.gateway.stats().filters().filters;
        let view = |view: ReportedFilter| FilterPageEntry { quarantined: quarantined(&view.name), view };
        let libraries = library_figures(&self.serving.host.metrics().views());
        FiltersView { filters: reported.into_iter().map(view).collect(), libraries }
    }

    fn metrics(&self) -> String {
        let mut out = String::with_capacity(16 * 1024);
        self.serving.gateway.stats().render(&mut out);
        let status = &self.serving.status;
        let version = env!("CARGO_PKG_VERSION");
        let config = status.force().config;
        // Writing to a string never fails.
        let _ = write!(
            out,
            "# HELP eddy_build_info Version of eddy; always 1.\n\
             # TYPE eddy_build_info gauge\n\
             eddy_build_info{{version=\"{version}\"}} 1\n\
             # HELP eddy_config_info Version of the configuration in force; always 1.\n\
             # TYPE eddy_config_info gauge\n\
             eddy_config_info{{version=\"{}\"}} 1\n\
             # HELP eddy_config_rejected Whether the last configuration read was rejected and an older one stays in force.\n\
             # TYPE eddy_config_rejected gauge\n\
             eddy_config_rejected {}\n\
             # HELP eddy_config_reloads_total Configuration reloads, by result.\n\
             # TYPE eddy_config_reloads_total counter\n\
             eddy_config_reloads_total{{result=\"accepted\"}} {}\n\
             eddy_config_reloads_total{{result=\"rejected\"}} {}\n\
             # HELP eddy_draining Whether this process drains.\n\
             # TYPE eddy_draining gauge\n\
             eddy_draining {}\n\
             # HELP eddy_process_generation Gateway processes that the parent process has started, including this one.\n\
             # TYPE eddy_process_generation gauge\n\
             eddy_process_generation {}\n",
            config.version,
            u8::from(status.is_config_rejected.load(Ordering::Relaxed)),
            status.reloads_accepted.load(Ordering::Relaxed),
            status.reloads_rejected.load(Ordering::Relaxed),
            u8::from(status.is_draining.load(Ordering::Relaxed)),
            status.generation,
        );
        write_unbound(&mut out, &status.force().unbound);
        write_quarantined(&mut out, &status.force().quarantined);
        write_orders(&mut out, &self.serving.acme.status().certificates());
        let names = &self.serving.names;
        write_metrics(&mut out, self.serving.host.metrics().views(), |number| names.of(number));
        write_process(&mut out);
        out
    }
}

/// Writes the listeners that are not served; nothing if all are.
fn write_unbound(out: &mut String, unbound: &BTreeMap<SocketKey, String>) {
    if unbound.is_empty() {
        return;
    }
    out.push_str(
        "# HELP eddy_listeners_unbound Listeners that are not served because their address is unavailable; always 1.\n\
         # TYPE eddy_listeners_unbound gauge\n",
    );
    for key in unbound.keys() {
        let address = key.place.to_string().replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(out, "eddy_listeners_unbound{{address=\"{address}\"}} 1");
    }
}

/// Writes the quarantined filters; nothing if there are none.
fn write_quarantined(out: &mut String, quarantined: &[Quarantined]) {
    if quarantined.is_empty() {
        return;
    }
    out.push_str(
        "# HELP eddy_filters_quarantined Filters in quarantine because the process crashed in them; always 1.\n\
         # TYPE eddy_filters_quarantined gauge\n",
    );
    for held in quarantined {
        // Filter names need no escaping.
        let _ = writeln!(out, "eddy_filters_quarantined{{filter=\"{}\"}} 1", held.name);
    }
}

/// Writes the metrics of certificate orders; nothing if no certificates are ordered.
fn write_orders(out: &mut String, certificates: &BTreeMap<String, CertificateView>) {
    if certificates.is_empty() {
        return;
    }
    out.push_str(
        "# HELP eddy_acme_certificate_expiry_timestamp_seconds Expiry of an ACME certificate, in seconds since 1970; 0 without a certificate.\n\
         # TYPE eddy_acme_certificate_expiry_timestamp_seconds gauge\n",
    );
    // Certificate names are host names, so they need no escaping. Writing to a string never fails.
    for (name, view) in certificates {
        let expires = view.expires_at.unwrap_or(0);
        let _ = writeln!(
            out,
            "eddy_acme_certificate_expiry_timestamp_seconds{{certificate=\"{name}\"}} {expires}"
        );
    }
    out.push_str(
        "# HELP eddy_acme_orders_total Finished certificate orders, by result.\n\
         # TYPE eddy_acme_orders_total counter\n",
    );
    for (name, view) in certificates {
        for (result, count) in [("issued", view.issued), ("failed", view.failed)] {
            let _ =
                writeln!(out, "eddy_acme_orders_total{{certificate=\"{name}\",result=\"{result}\"}} {count}");
        }
    }
}

/// Writes the process metrics that Prometheus clients usually export; unreadable values are omitted.
fn write_process(out: &mut String) {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let resident = pages.as_deref().and_then(|text| text.split(' ').nth(1)?.parse::<usize>().ok());
    if let Some(pages) = resident {
        let bytes = pages * rustix::param::page_size();
        let _ = write!(
            out,
            "# HELP process_resident_memory_bytes Resident memory.\n\
             # TYPE process_resident_memory_bytes gauge\n\
             process_resident_memory_bytes {bytes}\n"
        );
    }
    if let Ok(descriptors) = std::fs::read_dir("/proc/self/fd") {
        let _ = write!(
            out,
            "# HELP process_open_fds Open file descriptors.\n\
             # TYPE process_open_fds gauge\n\
             process_open_fds {}\n",
            descriptors.count().saturating_sub(1)
        );
    }
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let _ = write!(
        out,
        "# HELP process_cpu_seconds_total CPU time of this process.\n\
         # TYPE process_cpu_seconds_total counter\n\
         process_cpu_seconds_total {}.{:03}\n",
        time.tv_sec,
        time.tv_nsec / 1_000_000
    );
}

#[derive(Serialize)]
struct FiltersView {
    filters: Vec<FilterPageEntry>,
    /// Metrics of the filter libraries themselves, such as those of the Go runtime.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    libraries: BTreeMap<String, i64>,
}

#[derive(Serialize)]
struct FilterPageEntry {
    #[serde(flatten)]
    view: ReportedFilter,
    #[serde(skip_serializing_if = "Option::is_none")]
    quarantined: Option<QuarantineView>,
}

/// Quarantine of a filter.
#[derive(Serialize)]
struct QuarantineView {
    deaths: u32,
    effect: &'static str,
    seconds_left: u64,
}

#[derive(Serialize)]
struct ListenerView {
    role: &'static str,
    configured: String,
    /// Address for clients; `None` if the listener is not served.
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    /// Why the listener is not served.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

fn text(body: String) -> Page {
    Page { status: 200, content_type: "text/plain; charset=utf-8", body }
}

fn json(value: &impl Serialize) -> Page {
    match serde_json::to_string_pretty(value) {
        Ok(body) => Page { status: 200, content_type: "application/json", body: body + "\n" },
        Err(error) => Page { status: 500, ..text(format!("{error}\n")) },
    }
}

const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

const INDEX: &str = "\
eddy admin

/metrics    metrics in the Prometheus text format
/healthz    200 while this process runs
/ready      200 while it accepts traffic, 503 while it drains
/config     the configuration in force, without secrets
/clusters   clusters and their endpoints, JSON
/filters    cost and state of filters, JSON
/listeners  addresses of the listeners, JSON
/acme       certificates ordered by ACME, JSON
/explain    which rule wins for a request, and why: /explain?url=http://HOST/PATH
";
