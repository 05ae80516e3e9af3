//! Schedulers: a module's threads have a hook called on the thread of a stream or configuration.

use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, Weak};

use super::abi::EnvoyPtr;
use super::instance::Instance;
use super::queue::{EventQueues, ScheduledEvent};
use super::stream;
use crate::lock::lock;

/// Object whose hook a scheduler has called.
#[derive(Clone, Debug)]
enum Target {
    Stream {
        number: u64,
        worker: u16,
        filter: u32,
        queues: Weak<EventQueues>,
        /// Schedulers of the stream that exist.
        count: Arc<AtomicUsize>,
    },
    Config(Weak<Instance>),
}

#[derive(Debug)]
struct Schedulers {
    last: u64,
    by_handle: Option<HashMap<u64, Target>>,
}

/// Schedulers of the process, by handle. The lock is held to insert, find or remove an entry.
static SCHEDULERS: Mutex<Schedulers> = Mutex::new(Schedulers { last: 0, by_handle: None });

/// Creates a scheduler of a stream; null if there is no such stream.
pub(super) fn of_stream(handle: EnvoyPtr) -> EnvoyPtr {
    let target = stream::of(handle, |stream| Target::Stream {
        number: stream.number(),
        worker: stream.worker,
        filter: stream.instance.id,
        queues: Arc::downgrade(&stream.instance.queues),
        count: Arc::clone(&stream.schedulers),
    });
    target.map_or_else(EnvoyPtr::default, add)
}

/// Creates a scheduler of a configuration; null if there is no such configuration.
pub(super) fn of_config(handle: EnvoyPtr) -> EnvoyPtr {
    Instance::find(handle)
        .map_or_else(EnvoyPtr::default, |instance| add(Target::Config(Arc::downgrade(&instance))))
}

fn add(target: Target) -> EnvoyPtr {
    let mut schedulers = lock(&SCHEDULERS);
    if schedulers.by_handle.as_ref().is_some_and(|known| known.len() >= SCHEDULERS_MAX) {
        return EnvoyPtr::default();
    }
    schedulers.last += 1;
    let number = SCHEDULER_BIT | schedulers.last << SCHEDULER_SHIFT;
    if let Target::Stream { count, .. } = &target {
        count.fetch_add(1, Relaxed);
    }
    schedulers.by_handle.get_or_insert_default().insert(number, target);
    EnvoyPtr::of(number)
}

/// Deletes a scheduler; its handle is stale from then on.
pub(super) fn delete(handle: EnvoyPtr) {
    let target = lock(&SCHEDULERS).by_handle.as_mut().and_then(|known| known.remove(&handle.number()));
    if let Some(Target::Stream { count, .. }) = target {
        count.fetch_sub(1, Relaxed);
    }
}

/// Has the hook for scheduled events called, from any thread. Nothing happens once the stream has ended, or for a stale
/// handle.
pub(super) fn commit(handle: EnvoyPtr, event: u64) {
    let target = lock(&SCHEDULERS).by_handle.as_ref().and_then(|known| known.get(&handle.number())).cloned();
    match target {
        Some(Target::Stream { number, worker, filter, queues, .. }) => {
            if let Some(queues) = queues.upgrade() {
                queues.push(worker, filter, ScheduledEvent::Stream { stream: number, event });
            }
        }
        Some(Target::Config(instance)) => {
            let Some(instance) = instance.upgrade() else { return };
            let config = instance.handle.pointer().number();
            instance.queues.push(0, instance.id, ScheduledEvent::Config { config, event });
        }
        None => {}
    }
}

const SCHEDULER_BIT: u64 = 1 << 62;
const SCHEDULER_SHIFT: u32 = 16;
/// Maximum number of schedulers of the process.
const SCHEDULERS_MAX: usize = 1 << 20;
