//! Periodic work of a worker: heartbeat, timers, housekeeping, and standing in for stalled workers.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;

use eddy_ids::{Millis, TICK, WorkerTime};
use eddy_io::{ProcessorWait, monotonic_time};
use tokio::task::AbortHandle;
use tokio::time::MissedTickBehavior;

use crate::event_loop::accept::{AcceptSource, accept, yield_capacity};
use crate::event_loop::state::Loop;
use crate::exchange::flush_ended;
use crate::runtime::{Slice, TickInterval};
use crate::worker::Worker;

/// Time after which a stalled worker's connections are accepted by the others.
pub(crate) const SILENT: Millis = Millis::new(100);

/// Ticks between two sweeps of idle links and buffers: one second.
const SWEEP_TICKS: u64 = 1000 / TICK.get();
/// Ticks between two checks of the other workers' heartbeats.
const WATCH_TICKS: u64 = 2;
/// Ticks after which access log entries are passed on, however few they are.
const ACCESS_TICKS: u64 = 5;

/// Tasks by which this worker stands in for others.
pub(crate) type SubstituteTasks = HashMap<usize, Vec<AbortHandle>>;

/// Ticks until the worker's event loop ends.
pub(crate) async fn tick(state: Rc<Loop>) {
    let worker = Rc::clone(&state.worker);
    let mut interval = tokio::time::interval(TICK.as_duration());
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut before = monotonic_time();
    let mut processor_wait = ProcessorWait::of_this_thread();
    let mut stand_ins = SubstituteTasks::new();
    for count in 1_u64.. {
        interval.tick().await;
        let now = monotonic_time();
        worker.page.worker(worker.index).heartbeat_ms.store(now.as_millis(), Relaxed);
        let elapsed = now - before;
        before = now;
        let processor_wait = if elapsed > TICK || count.is_multiple_of(SWEEP_TICKS) {
            take_processor_wait(&worker, &mut processor_wait)
        } else {
            Millis::ZERO
        };
        measure(&worker, TickInterval { elapsed, processor_wait });
        worker.timers.advance(now);
        yield_capacity(&worker);
        worker.ticked.notify_waiters();
        flush_ended(&worker);
        if count.is_multiple_of(WATCH_TICKS) {
            watch(&state, &mut stand_ins, now);
        }
        if count.is_multiple_of(ACCESS_TICKS) {
            worker.access.borrow_mut().flush(&worker.series);
            let plan = worker.plan();
            if let Some(service) = plan.plan.access.as_ref().and_then(|access| access.service.as_ref()) {
                worker.records.tick(service, now);
            }
        }
        if worker.is_draining.get() && worker.series.connections.value() == 0 {
            // Dropping the sender reports the end; the gateway waits until every worker has dropped its own.
            state.drained.replace(None);
        }
        sweep_clusters(&worker, count, now);
        if count.is_multiple_of(SWEEP_TICKS) {
            worker.buffers.sweep();
            worker.pipes.trim();
            if worker.index == 0 {
                worker.pipes.trim_shared();
            }
        }
    }
}

/// Sweeps the clusters whose turn it is in this tick: each once in [`SWEEP_TICKS`] ticks.
fn sweep_clusters(worker: &Worker, tick: u64, now: WorkerTime) {
    let plan = worker.plan();
    let due = plan.clusters.get(sweep_range(plan.clusters.len(), tick)).unwrap_or_default();
    if !due.is_empty() {
        Slice::run(&worker.series, |_| due.iter().for_each(|cluster| cluster.sweep(now)));
    }
}

/// Returns the indices of the clusters that are swept in a tick.
fn sweep_range(clusters: usize, tick: u64) -> Range<usize> {
    let phase = usize::try_from(tick % SWEEP_TICKS).expect("fewer than SWEEP_TICKS");
    let ticks = usize::try_from(SWEEP_TICKS).expect("a small constant");
    clusters * phase / ticks..clusters * (phase + 1) / ticks
}

/// Records how late a tick came.
fn measure(worker: &Worker, interval: TickInterval) {
    worker.series.lag_ms.set((interval.elapsed - TICK).get());
    let delay_max = worker.plan().plan.config.settings.limits.queue_delay_max;
    worker.admission.on_tick(interval, Millis::of(delay_max));
}

/// Returns the time for which other programs had the processor since the last call.
///
/// Time withheld by a throttled control group is part of this gateway's own quota: it counts as the worker's own.
fn take_processor_wait(worker: &Worker, wait: &mut ProcessorWait) -> Millis {
    let waited = wait.take();
    worker.series.processor_wait_us.add(u64::try_from(waited.as_micros()).unwrap_or(u64::MAX));
    if worker.pressure.is_throttled() { Millis::ZERO } else { Millis::of(waited) }
}

/// Takes over the accept queues of stalled workers, and returns them when their heartbeats resume.
fn watch(state: &Rc<Loop>, stand_ins: &mut SubstituteTasks, now: WorkerTime) {
    let worker = &state.worker;
    for other in (0..worker.workers).filter(|other| *other != worker.index) {
        let heartbeat = WorkerTime::from_millis(worker.page.worker(other).heartbeat_ms.load(Relaxed));
        let is_silent = heartbeat > WorkerTime::ZERO && now - heartbeat > SILENT;
        match (is_silent && !worker.is_draining.get(), stand_ins.contains_key(&other)) {
            (true, false) => {
                stand_ins.insert(other, accept_for_worker(state, other));
            }
            (false, true) => {
                stand_ins.remove(&other).into_iter().flatten().for_each(|task| task.abort());
            }
            (true, true) | (false, false) => {}
        }
    }
}

fn accept_for_worker(state: &Rc<Loop>, other: usize) -> Vec<AbortHandle> {
    let worker = &state.worker;
    // Not a warning: on a machine with more runnable threads than cores this happens all the time, and it is counted.
    tracing::debug!(
        worker = other,
        by = worker.index,
        "a worker has stalled; its accept queue is taken over"
    );
    let table = state.sockets.borrow();
    let mut tasks = Vec::new();
    // Datagrams wait for their own worker, which has their sessions.
    let listeners = state.listeners.borrow();
    let handles = listeners.iter().map(|listener| &listener.handle);
    for handle in handles.filter(|handle| handle.is_served() && !handle.receives_datagrams()) {
        match table.listeners(&handle.address, other, worker.workers) {
            Ok(listeners) => {
                for listener in listeners {
                    let task = accept(Rc::clone(worker), Rc::clone(handle), listener, AcceptSource::Other);
                    tasks.push(tokio::task::spawn_local(task).abort_handle());
                }
            }
            Err(error) => tracing::warn!(%error, "the accept queue of a stalled worker cannot be taken over"),
        }
    }
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_visits_every_cluster_once_a_second() {
        for clusters in [0, 1, 2, 49, 50, 51, 10_000] {
            let mut visits = vec![0; clusters];
            for tick in 1..=SWEEP_TICKS {
                let due = sweep_range(clusters, tick);
                assert!(due.len() <= clusters.div_ceil(50), "{clusters}: {due:?}");
                visits[due].iter_mut().for_each(|count| *count += 1);
            }
            assert!(visits.iter().all(|count| *count == 1), "{clusters}: {visits:?}");
        }
    }
}
