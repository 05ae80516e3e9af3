//! Queue of a worker's entries for the access log service: batched and bounded.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use eddy_ids::WorkerTime;
use eddy_io::{Pool, Reusable, Reuse};
use jiff::Timestamp;
use tokio::sync::Notify;

use crate::access::record::AccessRecord;
use crate::plan::{QueueLimits, ServicePlan};
use crate::stats::WorkerSeries;

/// Entries of a worker on their way to the service.
#[derive(Debug, Default)]
pub(crate) struct RecordQueue {
    state: RefCell<RecordQueueState>,
    /// Memory of batches that were sent.
    sent: Pool<Batch, BATCHES_IDLE_MAX>,
    /// Notified when there is a batch.
    pub(crate) called: Notify,
    /// Notified when the queue should be sent without delay.
    pub(crate) hurried: Notify,
    /// Notified when the queue is empty.
    pub(crate) emptied: Notify,
}

/// Entries that are sent together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// Encoded `HTTPAccessLogEntries` entries.
    pub(crate) entries: Vec<u8>,
    /// Number of entries.
    pub(crate) records: u64,
}

#[derive(Debug, Default)]
struct RecordQueueState {
    /// The next batch, as collected so far.
    open: Batch,
    /// Time of its first entry, on the worker's clock.
    since: WorkerTime,
    sealed: VecDeque<Rc<Batch>>,
    sealed_bytes: usize,
}

impl Reusable for Batch {
    fn empty(&mut self) -> Reuse {
        self.entries.clear();
        self.records = 0;
        if self.entries.capacity() <= BATCH_BYTES_KEPT_MAX { Reuse::Keep } else { Reuse::Drop }
    }
}

impl RecordQueue {
    /// Adds an entry of an exchange that has just ended; drops and counts it when the queue is full.
    pub(crate) fn add(
        &self,
        record: &AccessRecord<'_>,
        plan: &ServicePlan,
        now: WorkerTime,
        series: &WorkerSeries,
    ) {
        let write = |out: &mut Vec<u8>| record.write_entry(out, Timestamp::now());
        if !self.add_entry(write, plan.limits, now) {
            series.records_dropped.increment();
        }
    }

    /// Adds an entry; returns whether there was capacity for it.
    fn add_entry(&self, write: impl FnOnce(&mut Vec<u8>), limits: QueueLimits, now: WorkerTime) -> bool {
        let state = &mut *self.state.borrow_mut();
        if state.sealed_bytes + state.open.entries.len() >= limits.held_bytes_max {
            return false;
        }
        if state.open.records == 0 {
            state.since = now;
        }
        write(&mut state.open.entries);
        state.open.records += 1;
        if state.open.entries.len() >= limits.batch_bytes {
            self.seal_batch(state);
        }
        true
    }

    /// Seals the open batch if it has waited long enough.
    pub(crate) fn tick(&self, plan: &ServicePlan, now: WorkerTime) {
        let state = &mut *self.state.borrow_mut();
        if now - state.since >= plan.limits.interval {
            self.seal_batch(state);
        }
    }

    /// Seals the open batch and requests that the queue be sent without delay.
    pub(crate) fn flush_now(&self) {
        self.seal_batch(&mut self.state.borrow_mut());
        self.hurried.notify_one();
    }

    fn seal_batch(&self, state: &mut RecordQueueState) {
        if state.open.records > 0 {
            state.sealed_bytes += state.open.entries.len();
            let sealed = std::mem::replace(&mut state.open, self.sent.take());
            state.sealed.push_back(Rc::new(sealed));
            self.called.notify_one();
        }
    }

    /// Returns the oldest batch; it stays queued until [`Self::done`].
    pub(crate) fn first(&self) -> Option<Rc<Batch>> {
        self.state.borrow().sealed.front().map(Rc::clone)
    }

    /// Removes the oldest batch.
    pub(crate) fn done(&self) {
        let state = &mut *self.state.borrow_mut();
        if let Some(batch) = state.sealed.pop_front() {
            state.sealed_bytes -= batch.entries.len();
            if let Some(batch) = Rc::into_inner(batch) {
                self.sent.put(batch);
            }
        }
        if state.sealed.is_empty() {
            self.emptied.notify_waiters();
        }
    }

    pub(crate) fn waiting(&self) -> u64 {
        let state = self.state.borrow();
        state.open.records + state.sealed.iter().map(|batch| batch.records).sum::<u64>()
    }
}

/// Number of batches whose memory is kept: one is collected while another is sent.
const BATCHES_IDLE_MAX: usize = 1;
/// Capacity above which the memory of a batch is freed; a batch has some 16 KiB, unless configured otherwise.
const BATCH_BYTES_KEPT_MAX: usize = 1024 * 1024;

#[cfg(test)]
mod tests {
    use eddy_ids::Millis;

    use super::*;

    const LIMITS: QueueLimits =
        QueueLimits { batch_bytes: 10, interval: Millis::new(1000), held_bytes_max: 25 };

    fn add(queue: &RecordQueue, text: &[u8]) -> bool {
        queue.add_entry(|out| out.extend_from_slice(text), LIMITS, WorkerTime::ZERO)
    }

    #[test]
    fn a_batch_is_full_or_old() {
        let queue = RecordQueue::default();
        assert!(add(&queue, b"12345"));
        assert!(queue.first().is_none());
        assert!(add(&queue, b"67890"));
        let first = queue.first().unwrap();
        assert_eq!((first.entries.as_slice(), first.records), (&b"1234567890"[..], 2));
        drop(first);
        queue.done();
        assert!(queue.first().is_none() && add(&queue, b"a"));
        queue.flush_now();
        assert_eq!(queue.first().unwrap().entries, b"a");
    }

    #[test]
    fn the_queue_of_access_log_entries_is_limited() {
        let queue = RecordQueue::default();
        assert!(add(&queue, b"1234567890") && add(&queue, b"1234567890") && add(&queue, b"12345"));
        assert!(!add(&queue, b"1"));
        assert_eq!(queue.waiting(), 3);
        queue.done();
        assert!(add(&queue, b"1"));
        assert_eq!(queue.waiting(), 3);
    }
}
