//! Queue of guest objects to be freed: on one thread, never on a worker's.

use std::fmt;
use std::mem;
use std::sync::{Arc, Mutex};

use eddy_filter::LibraryKeepAlive;

use crate::lock::lock;

/// Queue of objects that no plan uses any more; they are freed on the thread that may enter guests.
#[derive(Clone)]
pub struct ReclaimQueue {
    shared: Arc<ReclaimShared>,
}

struct ReclaimShared {
    dead: Mutex<Vec<ReclaimTask>>,
    wake: Box<dyn Fn() + Send + Sync>,
}

/// Object of a guest that is queued when dropped.
struct Deferred<F: FnOnce() + Send + 'static> {
    free: Option<F>,
    reclaim_queue: ReclaimQueue,
    /// Dropped only after the object itself, which depends on it.
    _of: LibraryKeepAlive,
}

/// Function that frees an object.
type ReclaimTask = Box<dyn FnOnce() + Send>;

impl ReclaimQueue {
    /// Creates a queue that calls `wake` for each new entry, on any thread.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self { shared: Arc::new(ReclaimShared { dead: Mutex::default(), wake: Box::new(wake) }) }
    }

    /// Frees all queued objects on this thread. Only the thread that creates filters may call it.
    pub fn drain(&self) {
        let dead = mem::take(&mut *lock(&self.shared.dead));
        dead.into_iter().for_each(|free| free());
    }

    /// Returns an owner of a guest object and of `of`, on which the object depends. When its last clone is dropped,
    /// `free` is called on the thread that creates filters, and then `of` is dropped.
    pub(crate) fn owner(
        &self,
        of: LibraryKeepAlive,
        free: impl FnOnce() + Send + Sync + 'static,
    ) -> LibraryKeepAlive {
        LibraryKeepAlive::of(Deferred { free: Some(free), reclaim_queue: self.clone(), _of: of })
    }

    /// Queues `free`, which is called on the thread that creates filters.
    fn queue_free(&self, free: impl FnOnce() + Send + 'static) {
        lock(&self.shared.dead).push(Box::new(free));
        (self.shared.wake)();
    }
}

impl<F: FnOnce() + Send + 'static> Drop for Deferred<F> {
    fn drop(&mut self) {
        if let Some(free) = self.free.take() {
            self.reclaim_queue.queue_free(free);
        }
    }
}

impl fmt::Debug for ReclaimQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReclaimQueue")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn dependents_are_freed_before_their_owner() {
        let (woken, order) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let reclaim_queue = ReclaimQueue::new({
            let woken = Arc::clone(&woken);
            move || {
                woken.fetch_add(1, Relaxed);
            }
        });
        let note = |what: &'static str| {
            let order = Arc::clone(&order);
            move || order.lock().unwrap().push(what)
        };
        let filter = reclaim_queue.owner(LibraryKeepAlive::default(), note("filter"));
        let config = reclaim_queue.owner(filter.clone(), note("config"));
        let again = config.clone();
        drop((filter, config));
        assert_eq!(woken.load(Relaxed), 0, "something still has them");
        drop(again);
        assert_eq!((woken.load(Relaxed), order.lock().unwrap().len()), (2, 0), "nothing is freed here");
        reclaim_queue.drain();
        assert_eq!(*order.lock().unwrap(), ["config", "filter"]);
    }
}
