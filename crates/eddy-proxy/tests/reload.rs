//! Reloads: how long they hold a worker's event loop, and what its clusters keep.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[allow(dead_code, reason = "shared with other tests, which use other parts")]
mod place;

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use eddy_config::GatewayConfig;
use eddy_proxy::{Gateway, Ready, Sockets};

use place::{config, free_address, start_with};

/// Returns a configuration with this many clusters, each with a rule of its own.
fn clusters(address: SocketAddr, count: usize, keys: &str) -> GatewayConfig {
    let origin = free_address();
    let (mut rules, mut clusters) = (String::new(), String::new());
    for number in 0..count {
        writeln!(rules, "    - {{match: {{path: {{exact: /{number}}}}}, cluster: c{number}}}").unwrap();
        writeln!(clusters, "  c{number}: {{endpoints: ['127.0.0.1:1'], {keys}}}").unwrap();
    }
    config(address, origin, "", &format!("routes:\n  site:\n{rules}clusters:\n{clusters}"))
}

fn reload(gateway: &Gateway, config: GatewayConfig) {
    gateway.reload(Arc::new(config), &Ready::default(), Sockets::default()).unwrap();
}

/// Returns a metric of the only worker.
fn metric(gateway: &Gateway, name: &str) -> f64 {
    let mut text = String::new();
    gateway.stats().render(&mut text);
    let start = format!("{name}{{worker=\"0\"}} ");
    text.lines().find_map(|line| line.strip_prefix(&start)).unwrap().parse().unwrap()
}

#[test]
fn a_reload_and_a_report_are_counted_as_slices() {
    let address = free_address();
    let gateway = start_with(address, clusters(address, 300, ""));
    let before = metric(&gateway, "eddy_worker_slices_total");
    reload(&gateway, clusters(address, 300, "connect_timeout: 7s"));
    let report = gateway.clusters();
    assert_eq!(report.clusters.len(), 300);
    let ends =
        [report.clusters.first().unwrap(), report.clusters.last().unwrap()].map(|one| one.name.as_str());
    assert_eq!(ends, ["c0", "c299"]);
    assert!(metric(&gateway, "eddy_worker_slices_total") >= before + 2.0);
    assert!(metric(&gateway, "eddy_worker_slice_seconds_max") > 0.0);
}
