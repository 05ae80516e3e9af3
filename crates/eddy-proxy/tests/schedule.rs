//! Random sequences of hooks, resumes, replies and resets through a gateway: no participant sees data of another
//! exchange.
//!
//! Each exchange carries its own word, which clients, filters and the origin put wherever they can; a participant that
//! meets another exchange's word reports it. Random choices follow from `EDDY_SEED`; the order of threads does not.
//! `EDDY_SOAK` makes the run long.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
#![allow(clippy::wildcard_enum_match_arm, reason = "a filter of a test minds the phases it is about")]

#[allow(dead_code, reason = "shared with other tests, which use other parts")]
mod place;
#[cfg(test)]
mod play;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use eddy_filter::{
    FailurePolicy, Filter, FilterInfo, FilterLibrary, FilterLogLevel, FilterPolicy, Handle, HostApi,
    HostError, Interest, LibraryKeepAlive, Phase, Verdict,
};
use eddy_proxy::FilterHost;
use place::{listen, start_filtered, use_filters};
use play::book::Book;
use play::client::clients;
use play::origin::start_origin;
use play::resumer::{PausePool, resumers};
use play::script::RandomLibrary;

/// More than the number of cores of most test machines.
const WORKERS: usize = 4;

/// Library of each filter in the chain; neighbouring filters of one library are called in one crossing.
const CHAIN: [usize; 4] = [0, 0, 1, 0];

const PHASES: [Phase; 7] = [
    Phase::RequestHead,
    Phase::RequestBody,
    Phase::RequestTrailers,
    Phase::ResponseHead,
    Phase::ResponseBody,
    Phase::ResponseTrailers,
    Phase::Log,
];

#[expect(clippy::disallowed_methods, reason = "a test that is steered from outside")]
fn variable(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or(1))
}

#[test]
fn a_client_gets_only_its_own_response_whatever_filters_do() {
    let (_, told) = play(1);
    println!("{told}");
}

#[test]
fn a_client_gets_only_its_own_response_with_several_workers() {
    let (exchanges, told) = play(WORKERS);
    println!("{told}");
    assert!(
        exchanges.iter().filter(|count| **count > 0).count() > 1,
        "one worker had them all: {exchanges:?}"
    );
}

/// Runs the test with this many workers; returns the number of exchanges of each worker, and a summary.
fn play(workers: usize) -> (Vec<u64>, String) {
    let seed = variable("EDDY_SEED").unwrap_or(1);
    let rounds = if variable("EDDY_SOAK").is_some() { 33_000 } else { 60 };
    let book = Arc::new(Book::default());
    let pool = Arc::new(PausePool::default());
    let origin = start_origin(seed, &book);
    let listener = listen();
    let address = listener.address;
    let rest =
        "limits: {queue_delay: 0s}\nroutes: {site: [{cluster: c}]}\nclusters: {c: {endpoints: ['ORIGIN']}}";
    let mut config = place::config(address, origin, "", rest);
    let host = FilterHost::new(workers, 1000, FilterLogLevel::Off);
    let libraries: Vec<Arc<RandomLibrary>> = (0..2)
        .map(|_| Arc::new(RandomLibrary { seed, book: Arc::clone(&book), pool: Arc::clone(&pool) }))
        .collect();
    let policy = FilterPolicy {
        pause_timeout: Duration::from_millis(50),
        body_bytes_max: 64 * 1024,
        ..FilterPolicy::default()
    };
    let filters = (1..).zip(CHAIN).map(|(number, library)| {
        let name = format!("f{number}");
        let on_failure = if number % 2 == 1 { FailurePolicy::Closed } else { FailurePolicy::Open };
        Filter {
            id: host.number(&name),
            name: name.into(),
            library: Arc::clone(&libraries[library]) as Arc<dyn FilterLibrary>,
            number,
            info: FilterInfo { interest: Interest::of(&PHASES), keeps_length: false, expects_tunnels: false },
            policy: FilterPolicy { on_failure, ..policy },
            owner: LibraryKeepAlive::default(),
        }
    });
    let set = use_filters(&mut config, filters.collect());
    let gateway = start_filtered(listener, config, &set, Arc::clone(&host));
    let stats = gateway.stats();
    let metrics = || {
        let mut text = String::new();
        stats.render(&mut text);
        text
    };

    let threads = resumers(seed, &host, &book, &pool);
    clients(seed, rounds, address, &book);
    let is_quiet = |text: &str| {
        let gauges =
            ["eddy_worker_exchanges", "eddy_worker_connections", "eddy_connections", "eddy_filter_paused"];
        let of_gauges = |line: &&str| gauges.iter().any(|name| line.starts_with(&format!("{name}{{")));
        text.lines().filter(of_gauges).all(|line| line.ends_with(" 0"))
    };
    let begun = Instant::now();
    while (!is_quiet(&metrics()) || book.open_states() > 0) && begun.elapsed() < Duration::from_secs(20) {
        std::thread::yield_now();
    }
    pool.close();
    threads.into_iter().for_each(|thread| thread.join().unwrap());

    let text = metrics();
    let wrong = book.wrong.lock().unwrap().clone();
    assert!(wrong.is_empty(), "EDDY_SEED={seed}: {} wrong, the first: {:?}", wrong.len(), wrong.first());
    assert_eq!(book.open_states(), 0, "EDDY_SEED={seed}: ends that were never told");
    assert!(is_quiet(&text) && text.contains("eddy_panics_total 0\n"), "EDDY_SEED={seed}: {text}");
    let mut exchanges = vec![0; workers];
    for handle in book.handles() {
        exchanges[Handle::from_number(handle).worker()] += 1;
        let late = host.resume(Handle::from_number(handle), 1, Verdict::Continue, &[]);
        assert_eq!(late, Err(HostError::Gone), "EDDY_SEED={seed}: {handle:x} is still open");
    }
    let tally = &book.tally;
    let told = format!("{} steps, exchanges by worker {exchanges:?}: {tally:?}", tally.steps());
    let least = [&tally.resumed, &tally.refused, &tally.resets, &tally.replies, &tally.whole];
    assert!(least.iter().all(|count| count.load(Relaxed) > rounds / 10), "EDDY_SEED={seed}: {tally:?}");
    (exchanges, told)
}
