//! Death of the parent: another `eddy run` takes over from the gateway process that still serves.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::process::is_running;
use crate::support::{BackgroundLoad, DEADLINE, DEMO, EddyProcess, Launch, get};

/// Waits until a process has ended.
fn await_end(pid: Pid) {
    let deadline = Instant::now() + DEADLINE;
    while is_running(pid) {
        assert!(Instant::now() < deadline, "process {} does not end", pid.as_raw_nonzero());
        thread::park_timeout(Duration::from_millis(10));
    }
}

/// Returns a configuration with only the listener, at an address.
fn at(address: impl std::fmt::Display) -> String {
    format!(
        "workers: 2\nlimits: {{queue_delay: 0s}}\nlisteners: [{{name: demo, address: '{address}', demo: true}}]\nadmin: {{address: '127.0.0.2:0'}}\n"
    )
}

#[test]
fn a_restarted_supervisor_takes_over_without_a_lost_request() {
    let mut eddies = vec![EddyProcess::start(DEMO)];
    let (address, admin) = (eddies[0].address(), eddies[0].admin());
    let client = BackgroundLoad::strict(address);
    for _ in 0..3 {
        let last = eddies.last().unwrap();
        let orphan = last.gateway();
        let slow = thread::spawn(move || get(address, "/slow?pieces=4&pause_ms=100"));
        last.kill_parent();
        // This includes ports chosen by the kernel, because the configuration is the same.
        let mut next = eddies[0].again(Launch::default());
        next.records(&["took over from a gateway process without a parent; that process drains", "ready"]);
        assert_eq!((next.address(), next.admin()), (address, admin));
        assert_eq!(slow.join().unwrap().status, 200);
        await_end(orphan);
        assert_eq!(get(admin, "/ready").status, 200);
        eddies.push(next);
    }
    // A complete pair of processes: a gateway process that dies is replaced.
    let mut last = eddies.pop().unwrap();
    assert!(client.stop() > 0);
    last.kill_gateway();
    last.record("gateway process ended unexpectedly; another one replaces it");
    last.record("ready");
    assert_eq!(get(address, "/fixed").status, 200);
    last.stop();
    assert!(TcpStream::connect(address).is_err(), "nobody else listens");
}

#[test]
fn a_broken_configuration_keeps_the_orphaned_gateway_serving() {
    let first = EddyProcess::start(
        "listeners: [{name: local, address: 'unix:DIR/eddy.sock', demo: true}, {name: demo, address: '127.0.0.1:0', demo: true}]\n",
    );
    let (address, orphan) = (first.addresses()[0], first.gateway());
    let client = BackgroundLoad::strict(address);
    let good = fs::read_to_string(first.path("eddy.yaml")).unwrap();
    first.kill_parent();
    // An invalid configuration, and one whose last address is unavailable, after the others were lent.
    let wrong = format!(
        "{}  - {{name: more, address: '203.0.113.7:1', demo: true}}\n",
        good.replace("[{", "\n  - {").replace("}, {", "}\n  - {").replace("}]", "}")
    );
    for broken in ["listeners: nothing\n", &wrong] {
        first.write_config(broken);
        for _ in 0..2 {
            let mut failed = first.again(Launch::default());
            assert_eq!(failed.exited().code(), Some(1));
            assert_eq!(get(address, "/fixed").status, 200);
            assert!(first.path("eddy.sock").exists());
        }
    }
    first.write_config(&good);
    let mut next = first.again(Launch::default());
    next.record("ready");
    await_end(orphan);
    assert!(client.stop() > 0);
    next.signal(Signal::TERM);
    assert!(next.exited().success());
    assert!(!first.path("eddy.sock").exists());
}

#[test]
fn a_new_parent_takes_over_gateways_whose_listeners_it_all_has() {
    let both = DEMO.replace("true}]", "true}, {name: more, address: '127.0.0.3:0', demo: true}]");
    let first = EddyProcess::start(&both);
    let (addresses, orphan) = (first.addresses(), first.gateway());
    let [one, other] = *addresses else { panic!("two listeners") };
    first.kill_parent();
    // Taking over one of two listeners would close the other.
    let mut part = EddyProcess::spawn(&at(one), Launch::default());
    let record = part.record_where("cannot listen", |record| {
        record["message"].as_str().is_some_and(|text| text.contains("cannot listen"))
    });
    assert!(record["message"].as_str().unwrap().contains(&one.to_string()), "{record}");
    assert_eq!(part.exited().code(), Some(1));
    assert_eq!((get(one, "/fixed").status, get(other, "/fixed").status), (200, 200));
    let client = BackgroundLoad::strict(one);
    let whole =
        at(one).replace("true}]", &format!("true}}, {{name: more, address: '{other}', demo: true}}]"));
    let mut next = EddyProcess::spawn(&whole, Launch::default());
    next.record("ready");
    await_end(orphan);
    assert_eq!(get(other, "/fixed").status, 200);
    assert!(client.stop() > 0);
    next.stop();
}

#[test]
fn only_one_of_two_concurrent_starts_takes_over() {
    let first = EddyProcess::start(DEMO);
    let (address, orphan) = (first.address(), first.gateway());
    let client = BackgroundLoad::strict(address);
    first.kill_parent();
    first.write_config(&at(address));
    let mut pair = [first.again(Launch::default()), first.again(Launch::default())];
    let deadline = Instant::now() + DEADLINE;
    let failed = loop {
        assert!(Instant::now() < deadline, "both serve, or neither ends");
        if let Some(at) = pair.iter_mut().position(|eddy| eddy.has_exited()) {
            break at;
        }
        thread::park_timeout(Duration::from_millis(10));
    };
    assert_eq!(pair[failed].exited().code(), Some(1), "{}", pair[failed].log());
    let [one, other] = pair;
    let mut serving = if failed == 0 { other } else { one };
    serving.record("ready");
    await_end(orphan);
    assert!(client.stop() > 0);
    assert_eq!(get(address, "/fixed").status, 200);
    serving.stop();
    assert!(TcpStream::connect(address).is_err(), "nobody else listens");
}

#[test]
fn a_draining_orphan_does_not_block_a_new_start() {
    let first = EddyProcess::start(DEMO);
    let (address, orphan) = (first.address(), first.gateway());
    first.kill_parent();
    first.write_config(&at(address));
    let mut slow = TcpStream::connect(address).unwrap();
    slow.set_read_timeout(Some(DEADLINE)).unwrap();
    slow.write_all(b"GET /slow?pieces=20&pause_ms=100 HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
        .unwrap();
    slow.read_exact(&mut [0; 12]).unwrap();
    kill_process(orphan, Signal::TERM).unwrap();
    // Once it stops listening, the address is free, even though it still has work.
    let deadline = Instant::now() + DEADLINE;
    while TcpStream::connect(address).is_ok() {
        assert!(Instant::now() < deadline, "a process that drains still accepts");
        thread::park_timeout(Duration::from_millis(10));
    }
    let mut next = first.again(Launch::default());
    next.record("ready");
    assert_eq!(get(address, "/fixed").status, 200);
    let mut rest = String::new();
    slow.read_to_string(&mut rest).unwrap();
    assert_eq!(rest.matches("drip").count(), 20, "{rest}");
    await_end(orphan);
    next.stop();
}

#[test]
fn a_gateway_with_a_parent_is_not_taken_over() {
    let eddy = EddyProcess::start(DEMO);
    let (address, gateway) = (eddy.address(), eddy.gateway());
    eddy.write_config(&at(address));
    let mut second = eddy.again(Launch::default());
    assert_eq!(second.exited().code(), Some(1));
    assert!(is_running(gateway));
    assert_eq!(get(address, "/fixed").status, 200);
}
