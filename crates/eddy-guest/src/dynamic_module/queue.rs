//! Events that modules schedule, by worker.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, Weak};

use eddy_filter::{FilterLibrary, HostApi, Wake};
use eddy_ids::Millis;

use super::host;
use crate::lock::lock;

/// Event that a module has scheduled. Objects are named by their handles, because they may end before it is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScheduledEvent {
    /// For a stream.
    Stream {
        /// Number of the stream.
        stream: u64,
        /// The module's number of the event.
        event: u64,
    },
    /// For the configuration of a filter.
    Config {
        /// Handle of the configuration.
        config: u64,
        /// The module's number of the event.
        event: u64,
    },
    /// Call that was made while the configuration was created, and can be sent now.
    Call {
        /// Handle of the configuration.
        config: u64,
        /// Token of the call.
        token: u64,
        /// Number of attempts to send it.
        attempts: u32,
    },
}

/// Scheduled events of a library.
pub(super) struct EventQueues {
    host: Arc<dyn HostApi>,
    /// Library that is woken to handle the events.
    library: Weak<dyn FilterLibrary>,
    by_worker: Box<[Mutex<VecDeque<ScheduledEvent>>]>,
}

impl EventQueues {
    pub(super) fn new(host: &Arc<dyn HostApi>, library: Weak<dyn FilterLibrary>) -> Self {
        let by_worker = (0..host.workers().max(1)).map(|_| Mutex::default()).collect();
        Self { host: Arc::clone(host), library, by_worker }
    }

    /// Has a worker handle an event, from any thread; the event is dropped if the worker has too many.
    pub(super) fn push(&self, worker: u16, filter: u32, event: ScheduledEvent) {
        let is_retried = matches!(&event, ScheduledEvent::Call { attempts, .. } if *attempts > 0);
        let after = if is_retried { RETRY_AFTER } else { Millis::ZERO };
        let Some(queue) = self.by_worker.get(usize::from(worker)) else { return };
        let is_full = {
            let mut queue = lock(queue);
            let is_full = queue.len() >= EVENTS_MAX;
            if !is_full {
                queue.push_back(event);
            }
            is_full
        };
        if is_full {
            host::log_error("the module has scheduled more events than the worker can handle; one is lost");
            return;
        }
        let wake = Wake { library: Weak::clone(&self.library), filter, token: 0, worker, after };
        // Without room for another wake-up, an earlier one delivers this event too.
        let _ = self.host.wake(wake);
    }

    /// Takes the events of a worker.
    pub(super) fn take(&self, worker: u16) -> VecDeque<ScheduledEvent> {
        self.by_worker
            .get(usize::from(worker))
            .map(|queue| std::mem::take(&mut *lock(queue)))
            .unwrap_or_default()
    }
}

impl fmt::Debug for EventQueues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventQueues")
    }
}

/// Delay after which a call is tried again whose cluster is not in force yet.
const RETRY_AFTER: Millis = Millis::new(100);
/// Maximum number of scheduled events that wait for a worker.
const EVENTS_MAX: usize = 64 * 1024;
