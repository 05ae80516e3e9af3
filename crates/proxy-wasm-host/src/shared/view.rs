//! View of the shared data for one VM.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use crate::abi::HostResult;
use crate::host::SharedValue;
use crate::ids::QueueId;

use super::services::{QueueListener, SharedServices};

/// A VM's view of the shared data: values and queues of its own group, and queues of other groups by name.
#[derive(Clone)]
pub struct SharedView {
    services: Arc<SharedServices>,
    group: Arc<[u8]>,
    listener: Option<QueueListener>,
}

impl SharedView {
    /// Creates the view of a group; the listener is notified of items in queues registered through this view.
    pub fn new(services: Arc<SharedServices>, group: &[u8], listener: Option<QueueListener>) -> Self {
        Self { services, group: group.into(), listener }
    }

    pub(crate) fn data(&self, key: &[u8]) -> HostResult<SharedValue<'static>> {
        let (value, cas) = self.services.data(&self.group, key)?;
        Ok(SharedValue { value: Cow::Owned(value.to_vec()), cas })
    }

    pub(crate) fn set_data(&self, key: &[u8], value: &[u8], cas: Option<NonZeroU32>) -> HostResult {
        self.services.set_data(&self.group, key, value, cas)
    }

    pub(crate) fn register_queue(&self, name: &[u8]) -> HostResult<QueueId> {
        self.services.register_queue(&self.group, name, self.listener.clone())
    }

    pub(crate) fn resolve_queue(&self, group: &[u8], name: &[u8]) -> HostResult<QueueId> {
        let group = if group.is_empty() { &self.group } else { group };
        self.services.resolve_queue(group, name)
    }

    pub(crate) fn enqueue(&self, queue: QueueId, item: &[u8]) -> HostResult {
        self.services.enqueue(queue, item)
    }

    pub(crate) fn dequeue(&self, queue: QueueId) -> HostResult<Vec<u8>> {
        self.services.dequeue(queue)
    }
}

impl fmt::Debug for SharedView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedView")
            .field("group", &self.group.escape_ascii().to_string())
            .finish_non_exhaustive()
    }
}
