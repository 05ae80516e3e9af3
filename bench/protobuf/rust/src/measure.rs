//! Measurement of one codec operation.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use crate::ways::Way;

/// Returns nanoseconds and allocations per message, with `threads` threads at once.
pub(crate) fn measure(way: &Way, threads: usize) -> (f64, f64) {
    let mut op = (way.begin)();
    (0..WARM_RUNS).for_each(|_| op());
    let counted = allocation_counter::measure(|| (0..COUNTED_RUNS).for_each(|_| op()));
    let allocations = counted.count_total as f64 / COUNTED_RUNS as f64;
    let started = Instant::now();
    op();
    let once = started.elapsed().max(Duration::from_nanos(10));
    let runs = (ROUND.as_nanos() / once.as_nanos()).clamp(5, 2_000_000) as u32;
    let best = (0..ROUNDS).map(|_| round(way, threads, runs)).fold(f64::INFINITY, f64::min);
    ((best * 100.0).round() / 100.0, allocations)
}

fn round(way: &Way, threads: usize, runs: u32) -> f64 {
    let barrier = Barrier::new(threads);
    let spans: Vec<(Instant, Instant)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut op = (way.begin)();
                    (0..WARM_RUNS).for_each(|_| op());
                    barrier.wait();
                    let started = Instant::now();
                    (0..runs).for_each(|_| op());
                    (started, Instant::now())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    });
    let started = spans.iter().map(|(started, _)| *started).min().expect("there is a thread");
    let ended = spans.iter().map(|(_, ended)| *ended).max().expect("there is a thread");
    (ended - started).as_secs_f64() * 1e9 / f64::from(runs) / threads as f64
}

const ROUND: Duration = Duration::from_millis(20);
const ROUNDS: usize = 9;
const WARM_RUNS: usize = 20;
const COUNTED_RUNS: usize = 10;
