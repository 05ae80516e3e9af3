//! Upload slots: a limit on the share of a cluster's capacity held by requests whose bodies have not arrived.
//!
//! A request with an incomplete body holds an upstream connection for as long as its client takes. So that slow clients
//! cannot hold all of them, such requests need a slot, of which there are fewer than connections.

use std::cell::Cell;
use std::rc::Rc;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// Upload slots of a cluster on one worker.
#[derive(Debug, Default)]
pub(crate) struct UploadSlots {
    taken: Cell<u32>,
    /// Number of slots open to any upload.
    open_max: Cell<u32>,
    /// Number of slots including those reserved for uploads whose first part has arrived.
    slots_max: Cell<u32>,
    /// Requests that wait for an open slot.
    unproven: UploadQueue,
    /// Requests whose first part has arrived and that wait for any slot.
    proven: UploadQueue,
}

/// Requests that wait for a slot, first in, first out.
#[derive(Debug, Default)]
struct UploadQueue {
    count: Cell<u32>,
    released: Notify,
}

/// Progress of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upload {
    /// Less than the first part of its body has arrived.
    AwaitingBody,
    /// The first part of its body has arrived.
    BodyStarted,
}

/// An upload slot, released when dropped.
#[derive(Debug)]
pub(crate) struct UploadSlot {
    slots: Rc<UploadSlots>,
}

/// A wait for a slot.
pub(crate) struct SlotWait<'s> {
    waiting: &'s UploadQueue,
}

impl UploadSlots {
    /// Takes a slot, if one is free at a `capacity` of this many concurrent requests.
    pub(crate) fn take(self: &Rc<Self>, upload: Upload, capacity: u32) -> Option<UploadSlot> {
        self.open_max.set((capacity / 2).max(1));
        self.slots_max.set((capacity - capacity / RESERVED_FRACTION).max(1));
        if self.taken.get() >= self.max(upload) {
            return None;
        }
        self.taken.set(self.taken.get() + 1);
        Some(UploadSlot { slots: Rc::clone(self) })
    }

    /// Waits for a slot to be released.
    pub(crate) fn wait(&self, upload: Upload) -> SlotWait<'_> {
        let waiting = match upload {
            Upload::AwaitingBody => &self.unproven,
            Upload::BodyStarted => &self.proven,
        };
        waiting.count.set(waiting.count.get() + 1);
        SlotWait { waiting }
    }

    fn max(&self, upload: Upload) -> u32 {
        match upload {
            Upload::AwaitingBody => self.open_max.get(),
            Upload::BodyStarted => self.slots_max.get(),
        }
    }
}

impl SlotWait<'_> {
    /// Ready once a slot was released; another request may have taken it in the meantime.
    pub(crate) fn released(&self) -> Notified<'_> {
        self.waiting.released.notified()
    }
}

impl Drop for SlotWait<'_> {
    fn drop(&mut self) {
        self.waiting.count.set(self.waiting.count.get() - 1);
    }
}

impl UploadSlot {
    /// Whether so many slots are taken that uploads must show progress.
    pub(crate) fn is_congested(&self) -> bool {
        self.slots.taken.get() > self.slots.open_max.get()
    }
}

impl Drop for UploadSlot {
    fn drop(&mut self) {
        let slots = &self.slots;
        slots.taken.set(slots.taken.get() - 1);
        // Requests whose first part has arrived go first.
        let queues = [(&slots.proven, Upload::BodyStarted), (&slots.unproven, Upload::AwaitingBody)];
        for (waiting, upload) in queues {
            if waiting.count.get() > 0 && slots.taken.get() < slots.max(upload) {
                return waiting.released.notify_one();
            }
        }
    }
}

/// One in this many connections of a cluster is never held by a request with an incomplete body.
const RESERVED_FRACTION: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn take(slots: &Rc<UploadSlots>, upload: Upload, capacity: u32) -> Vec<UploadSlot> {
        std::iter::from_fn(|| slots.take(upload, capacity)).take(10_000).collect()
    }

    #[test]
    fn half_of_the_capacity_is_open_and_an_eighth_is_reserved() {
        let slots = Rc::<UploadSlots>::default();
        let open = take(&slots, Upload::AwaitingBody, 1024);
        assert_eq!((open.len(), open[0].is_congested()), (512, false));
        let proven = take(&slots, Upload::BodyStarted, 1024);
        assert_eq!((proven.len(), open[0].is_congested()), (384, true));
        drop(open);
        assert_eq!(take(&slots, Upload::AwaitingBody, 1024).len(), 128);
    }

    #[test]
    fn the_smallest_cluster_accepts_an_upload() {
        for capacity in [0, 1, 2] {
            let slots = Rc::<UploadSlots>::default();
            let open = take(&slots, Upload::AwaitingBody, capacity);
            assert_eq!((open.len(), open[0].is_congested()), (1, false), "{capacity}");
        }
    }

    #[tokio::test]
    async fn a_released_slot_wakes_the_first_eligible_waiter() {
        let slots = Rc::<UploadSlots>::default();
        let mut open = take(&slots, Upload::AwaitingBody, 16);
        let mut more = take(&slots, Upload::BodyStarted, 16);
        let (first, second) = (slots.wait(Upload::AwaitingBody), slots.wait(Upload::BodyStarted));
        let (mut unproven, mut proven) = (Box::pin(first.released()), Box::pin(second.released()));
        assert!(!unproven.as_mut().enable() && !proven.as_mut().enable());
        more.pop();
        // The other wait is not served while half of the slots are taken.
        proven.await;
        drop(second);
        more.clear();
        open.pop();
        unproven.await;
    }
}
