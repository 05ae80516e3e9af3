//! Shared queues for whose items plugins of a library are notified.

use std::sync::{Arc, Mutex};

use proxy_wasm_host::abi::HostResult;
use proxy_wasm_host::{QueueId, QueueListener, SharedServices};

use crate::lock::lock;

/// Queues and the plugins that are notified of their items.
///
/// The lock is held only to find or add an entry.
pub(crate) struct Queues {
    services: Arc<SharedServices>,
    listener: QueueListener,
    known: Mutex<Vec<(QueueId, usize)>>,
}

impl Queues {
    pub(crate) fn new(services: Arc<SharedServices>, listener: QueueListener) -> Self {
        Self { services, listener, known: Mutex::default() }
    }

    /// Creates or opens a queue of a group; this plugin is notified of its items from now on.
    pub(super) fn register(&self, group: &str, name: &[u8], plugin: usize) -> HostResult<QueueId> {
        let listener = Some(Arc::clone(&self.listener));
        let queue = self.services.register_queue(group.as_bytes(), name, listener)?;
        let mut known = lock(&self.known);
        known.retain(|(other, _)| *other != queue);
        known.push((queue, plugin));
        Ok(queue)
    }

    /// Returns the plugin that is notified of a queue's items.
    pub(crate) fn plugin_of(&self, queue: QueueId) -> Option<usize> {
        let known = lock(&self.known);
        known.iter().find(|(known, _)| *known == queue).map(|(_, plugin)| *plugin)
    }
}
