//! Processes that die leave nothing behind in this one. A test program of its own, because it counts all its
//! resources.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod peers;

use std::fs::{read_dir, read_to_string};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use eddy_bridge_ring::{CallError, Incoming, LinkEndReason, LinkLimits, LinkListener, NoCalls, connect};

use crate::peers::{Caller, PeerLanguage, PeerProcess, SOON, path, remove};

/// Resources of a process that links could leak.
#[derive(Debug, PartialEq, Eq)]
struct ProcessResources {
    descriptors: usize,
    mappings: usize,
    threads: usize,
}

fn held() -> ProcessResources {
    let maps = read_to_string("/proc/self/maps").unwrap();
    ProcessResources {
        descriptors: read_dir("/proc/self/fd").unwrap().count(),
        mappings: maps.lines().filter(|line| line.contains("memfd:")).count(),
        threads: read_dir("/proc/self/task").unwrap().count(),
    }
}

/// Returns the resident anonymous memory of this process, in KiB.
fn resident_kib() -> u64 {
    let status = read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// A called process and a calling process die with calls in flight.
fn crash_two_processes(round: usize, at: &Path) {
    let tongue = PeerLanguage::ALL[usize::from(round.is_multiple_of(5))];
    let mut called = PeerProcess::start("deaths", tongue);
    let link = connect(&called.path, LinkLimits::default(), NoCalls).unwrap();
    let calls: Vec<_> = (0..8).map(|_| link.call_async(2, vec![1; 1000], SOON).unwrap()).collect();
    std::thread::scope(|scope| {
        let long = scope.spawn(|| link.call(2, &vec![2; 4_000_000], SOON));
        if round.is_multiple_of(2) {
            link.call(1, b"", SOON).unwrap();
        }
        called.child.kill().unwrap();
        assert_eq!(long.join().unwrap(), Err(CallError::Ended(LinkEndReason::Gone)));
    });
    drop((calls, link));

    let listener = LinkListener::bind(at, LinkLimits::default()).unwrap();
    let kept = Arc::new(Mutex::new(Vec::new()));
    let keeper = Arc::clone(&kept);
    let at = at.to_owned();
    let calling = std::thread::spawn(move || Caller::start(tongue, "wait", &at));
    let link = listener.accept(move |call: Incoming| keeper.lock().unwrap().push(call)).unwrap();
    until(|| !kept.lock().unwrap().is_empty());
    calling.join().unwrap().kill();
    until(|| link.fault() == Some(LinkEndReason::Gone));
    until(|| kept.lock().unwrap()[0].cancellation().is_cancelled());
    // A call holds its link, and the link holds its handler.
    kept.lock().unwrap().clear();
}

fn until(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < SOON, "it never holds");
        std::thread::yield_now();
    }
}

#[test]
fn two_hundred_crashes_leak_nothing() {
    let at = path("deaths-of-callers", PeerLanguage::Rust);
    let before = held();
    let mut resident = 0;
    for round in 0..100 {
        crash_two_processes(round, &at);
        remove(&at);
        if round == 20 {
            resident = resident_kib();
        }
    }
    // The threads of a link end shortly after the link.
    let begun = Instant::now();
    while held() != before && begun.elapsed() < SOON {
        std::thread::yield_now();
    }
    assert_eq!(held(), before);
    let grown = resident_kib().saturating_sub(resident);
    assert!(grown < 4096, "{grown} KiB more than after 40 deaths");
}
