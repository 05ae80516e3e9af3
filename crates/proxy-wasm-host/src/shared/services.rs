//! In-memory shared data and queues.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::abi::{HostResult, Status};
use crate::ids::QueueId;

/// Shared data and queues of the VMs of a program, grouped by VM ID (`vm_id`). Usable from any number of threads.
#[derive(Debug)]
pub struct SharedServices {
    limits: SharedLimits,
    state: Mutex<SharedServicesState>,
}

/// Limits of shared data and queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedLimits {
    /// Maximum number of values.
    pub values_max: usize,
    /// Maximum size of all keys and values together.
    ///
    /// # Units
    /// Bytes.
    pub value_bytes_max: usize,
    /// Maximum number of queues.
    pub queues_max: usize,
    /// Maximum number of items per queue.
    pub queue_items_max: usize,
    /// Maximum size of the items of all queues together.
    ///
    /// # Units
    /// Bytes.
    pub queue_bytes_max: usize,
}

impl Default for SharedLimits {
    /// 10,000 values in 16 MiB; 1,000 queues of 10,000 items in 16 MiB.
    fn default() -> Self {
        Self {
            values_max: 10_000,
            value_bytes_max: 16 << 20,
            queues_max: 1_000,
            queue_items_max: 10_000,
            queue_bytes_max: 16 << 20,
        }
    }
}

/// Callback for new queue items. It is called on the thread that added the item and must only forward the notification.
pub type QueueListener = Arc<dyn Fn(QueueId) + Send + Sync>;

#[derive(Debug, Default)]
struct SharedServicesState {
    values: HashMap<SharedKey, VersionedValue>,
    value_bytes: usize,
    queues: HashMap<QueueId, SharedQueue>,
    queue_names: HashMap<SharedKey, QueueId>,
    queue_bytes: usize,
}

/// Group and name within it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct SharedKey {
    group: Box<[u8]>,
    name: Box<[u8]>,
}

impl SharedKey {
    fn new(group: &[u8], name: &[u8]) -> Self {
        Self { group: group.into(), name: name.into() }
    }

    fn len(&self) -> usize {
        self.group.len() + self.name.len()
    }
}

#[derive(Debug)]
struct VersionedValue {
    bytes: Arc<[u8]>,
    cas: NonZeroU32,
}

#[derive(Default)]
struct SharedQueue {
    items: VecDeque<Box<[u8]>>,
    listener: Option<QueueListener>,
}

impl fmt::Debug for SharedQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("items", &self.items.len()).finish_non_exhaustive()
    }
}

impl SharedServices {
    /// Creates an empty store.
    pub fn new(limits: SharedLimits) -> Self {
        Self { limits, state: Mutex::default() }
    }

    /// Returns a value and its compare-and-swap number.
    ///
    /// # Errors
    /// The value does not exist.
    pub fn data(&self, group: &[u8], key: &[u8]) -> HostResult<(Arc<[u8]>, NonZeroU32)> {
        let state = self.lock();
        let value = state.values.get(&SharedKey::new(group, key)).ok_or(Status::NotFound)?;
        Ok((Arc::clone(&value.bytes), value.cas))
    }

    /// Writes a value; with `cas`, only if it has not been written since.
    ///
    /// # Errors
    /// The value has been written since, or there is no room.
    pub fn set_data(&self, group: &[u8], key: &[u8], bytes: &[u8], cas: Option<NonZeroU32>) -> HostResult {
        let mut state = self.lock();
        let key = SharedKey::new(group, key);
        let last = state.values.get(&key);
        if cas.is_some_and(|cas| last.map(|last| last.cas) != Some(cas)) {
            return Err(Status::CasMismatch);
        }
        let next = last.map_or(NonZeroU32::MIN, |last| last.cas.checked_add(1).unwrap_or(NonZeroU32::MIN));
        let freed = last.map_or(0, |last| key.len() + last.bytes.len());
        let total = state.value_bytes - freed + key.len() + bytes.len();
        let is_full = last.is_none() && state.values.len() >= self.limits.values_max;
        if is_full || total > self.limits.value_bytes_max {
            return Err(Status::InternalFailure);
        }
        state.value_bytes = total;
        state.values.insert(key, VersionedValue { bytes: bytes.into(), cas: next });
        Ok(())
    }

    /// Creates a queue, or opens the existing one of this name. The listener replaces an earlier one and is notified of
    /// new items from now on.
    ///
    /// # Errors
    /// The maximum number of queues is reached.
    pub fn register_queue(
        &self,
        group: &[u8],
        name: &[u8],
        listener: Option<QueueListener>,
    ) -> HostResult<QueueId> {
        let mut state = self.lock();
        let key = SharedKey::new(group, name);
        if let Some(queue) = state.queue_names.get(&key).copied() {
            state.queues.entry(queue).or_default().listener = listener;
            return Ok(queue);
        }
        if state.queues.len() >= self.limits.queues_max {
            return Err(Status::InternalFailure);
        }
        let number = u32::try_from(state.queues.len() + 1).map_err(|_| Status::InternalFailure)?;
        state.queues.insert(QueueId(number), SharedQueue { items: VecDeque::new(), listener });
        state.queue_names.insert(key, QueueId(number));
        Ok(QueueId(number))
    }

    /// Opens the queue of this name.
    ///
    /// # Errors
    /// The queue does not exist.
    pub fn resolve_queue(&self, group: &[u8], name: &[u8]) -> HostResult<QueueId> {
        self.lock().queue_names.get(&SharedKey::new(group, name)).copied().ok_or(Status::NotFound)
    }

    /// Adds an item and notifies the queue's listener.
    ///
    /// # Errors
    /// The queue does not exist, or there is no room.
    pub fn enqueue(&self, queue: QueueId, item: &[u8]) -> HostResult {
        let listener = self.push(queue, item)?;
        if let Some(listener) = listener {
            listener(queue);
        }
        Ok(())
    }

    fn push(&self, id: QueueId, item: &[u8]) -> HostResult<Option<QueueListener>> {
        let mut state = self.lock();
        let total = state.queue_bytes + item.len();
        let queue = state.queues.get_mut(&id).ok_or(Status::NotFound)?;
        if queue.items.len() >= self.limits.queue_items_max || total > self.limits.queue_bytes_max {
            return Err(Status::InternalFailure);
        }
        queue.items.push_back(item.into());
        let listener = queue.listener.clone();
        state.queue_bytes = total;
        Ok(listener)
    }

    /// Removes and returns the item at the front.
    ///
    /// # Errors
    /// The queue does not exist or is empty.
    pub fn dequeue(&self, queue: QueueId) -> HostResult<Vec<u8>> {
        let mut state = self.lock();
        let items = &mut state.queues.get_mut(&queue).ok_or(Status::NotFound)?.items;
        let item = items.pop_front().ok_or(Status::Empty)?;
        state.queue_bytes -= item.len();
        Ok(item.into_vec())
    }

    /// Locks the state. It is consistent between any two statements, so a panic elsewhere leaves it usable.
    fn lock(&self) -> MutexGuard<'_, SharedServicesState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for SharedServices {
    fn default() -> Self {
        Self::new(SharedLimits::default())
    }
}
