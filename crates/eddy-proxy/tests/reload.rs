//! Reloads: what exchanges see of them, and for how long they hold a worker's event loop.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[allow(dead_code, reason = "shared with other tests, which use other parts")]
mod place;

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use eddy_config::GatewayConfig;
use eddy_proxy::{Gateway, Ready, Sockets};
use place::{ask, config, connect, listen, start_origin, start_with};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const GET: &[u8] = b"GET /0 HTTP/1.1\r\nHost: a.test\r\n\r\n";

/// Longest time for which a reload may hold a worker's event loop.
const SLICE_MAX: Duration = Duration::from_millis(2);

/// Returns a configuration with `count` clusters, each with a rule.
fn clusters(address: SocketAddr, origin: SocketAddr, count: u32, connect_timeout: &str) -> GatewayConfig {
    let mut text = "routes:\n  site:\n".to_owned();
    for index in 0..count {
        writeln!(text, "  - {{match: {{path: {{exact: /{index}}}}}, cluster: c{index}}}").unwrap();
    }
    text.push_str("clusters:\n");
    for index in 0..count {
        writeln!(text, "  c{index}: {{endpoints: ['ORIGIN'], connect_timeout: {connect_timeout}}}").unwrap();
    }
    config(address, origin, "", &text)
}

fn reload(gateway: &Gateway, config: GatewayConfig) {
    gateway.reload(Arc::new(config), &Ready::default(), Sockets::default()).unwrap();
    // The report is a command of its own, which comes after the reload has ended.
    gateway.clusters();
}

/// Returns the value of a metric of the first worker.
fn metric(gateway: &Gateway, name: &str) -> f64 {
    let mut text = String::new();
    gateway.stats().render(&mut text);
    let line = text.lines().find(|line| line.starts_with(name)).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[test]
fn a_reload_of_ten_thousand_clusters_never_holds_the_loop_for_two_milliseconds() {
    let (listener, origin) = (listen(), start_origin(b"\r\n\r\n", ANSWER));
    let address = listener.address;
    let gateway = start_with(listener, clusters(address, origin, 10, "1s"));
    let (is_over, answers) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let _ending = Ending(&is_over);
        scope.spawn(|| {
            let mut client = connect(address);
            while !is_over.load(Relaxed) {
                ask(&mut client, GET, b"hello");
                answers.fetch_add(1, Relaxed);
            }
        });
        let steps = [
            ("added", 10_000, "1s"),
            ("changed", 10_000, "2s"),
            ("the same", 10_000, "2s"),
            ("removed", 10, "2s"),
        ];
        for (step, count, timeout) in steps {
            let config = clusters(address, origin, count, timeout);
            let before = (answers.load(Relaxed), metric(&gateway, "eddy_worker_slices_total"));
            reload(&gateway, config);
            let slices = metric(&gateway, "eddy_worker_slices_total") - before.1;
            let longest = Duration::from_secs_f64(metric(&gateway, "eddy_worker_slice_seconds_max"));
            println!("{step}: {slices} slices, the longest so far {longest:?}");
            assert!(longest <= SLICE_MAX, "{step}: the loop was held for {longest:?}");
            assert!(slices >= 4.0, "{step}: {slices} slices");
            assert!(answers.load(Relaxed) > before.0, "{step}: no request was served meanwhile");
        }
    });
}

/// Ends a client's loop, also when the test fails before.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

#[test]
fn the_old_plan_serves_until_the_new_one_is_complete() {
    let (listener, origin) = (listen(), start_origin(b"\r\n\r\n", ANSWER));
    let address = listener.address;
    let site = |body: &str| {
        let mut text = format!(
            "routes:\n  site:\n  - {{match: {{path: {{exact: /0}}}}, respond: {{status: 200, body: {body}}}}}\n"
        );
        for index in 1..2_000 {
            writeln!(text, "  - {{match: {{path: {{exact: /{index}}}}}, cluster: c}}").unwrap();
        }
        text.push_str("clusters: {c: {endpoints: ['ORIGIN']}}\n");
        config(address, origin, "", &text)
    };
    let gateway = start_with(listener, site("body-0"));
    for round in 1..8 {
        let (before, after) = (format!("body-{}", round - 1), format!("body-{round}"));
        let is_loaded = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let bodies = scope.spawn(|| {
                let mut client = connect(address);
                let mut bodies = Vec::new();
                let begun = Instant::now();
                while bodies.last() != Some(&after) || !is_loaded.load(Relaxed) {
                    place::send(&mut client, std::str::from_utf8(GET).unwrap());
                    let response = place::until(&mut client, "body-");
                    let number = read_digit(&mut client);
                    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
                    bodies.push(format!("body-{number}"));
                    assert!(begun.elapsed() < Duration::from_secs(20), "the new plan was never in force");
                }
                bodies
            });
            reload(&gateway, site(&after));
            is_loaded.store(true, Relaxed);
            let bodies = bodies.join().unwrap();
            let switch = bodies.iter().position(|body| *body == after).unwrap();
            assert!(bodies[..switch].iter().all(|body| *body == before), "{bodies:?}");
            assert!(bodies[switch..].iter().all(|body| *body == after), "{bodies:?}");
        });
    }
}

fn read_digit(client: &mut std::net::TcpStream) -> char {
    let mut byte = [0];
    std::io::Read::read_exact(client, &mut byte).unwrap();
    char::from(byte[0])
}

#[test]
fn a_report_has_every_cluster_in_order() {
    let listener = listen();
    let address = listener.address;
    let gateway = start_with(listener, clusters(address, address, 300, "1s"));
    let report = gateway.clusters();
    let names: Vec<&str> = report.clusters.iter().map(|cluster| cluster.name.as_str()).collect();
    assert_eq!((names.len(), names[0], names[299]), (300, "c0", "c299"));
}
