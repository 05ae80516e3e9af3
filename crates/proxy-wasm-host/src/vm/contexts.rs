//! Contexts of a VM.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ids::ContextId;

/// Contexts of a VM.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    known: BTreeMap<ContextId, Context>,
    last: u32,
    /// Contexts that were pending and are now done; deleted after the callback returns.
    done: Vec<ContextId>,
}

/// State of a context.
#[derive(Debug)]
pub(crate) struct Context {
    /// Plugin of a stream; `None` for a plugin.
    pub(crate) plugin: Option<ContextId>,
    /// Configuration of a plugin.
    pub(crate) configuration: Arc<[u8]>,
    /// Whether the module delays the end of the context.
    pub(crate) is_pending: bool,
}

impl Contexts {
    /// Adds a context under an ID that no existing context has.
    pub(crate) fn add(&mut self, plugin: Option<ContextId>) -> ContextId {
        let id = loop {
            self.last = self.last.wrapping_add(1);
            let id = ContextId(self.last);
            if id.0 != 0 && !self.known.contains_key(&id) {
                break id;
            }
        };
        self.known.insert(id, Context { plugin, configuration: Arc::default(), is_pending: false });
        id
    }

    pub(crate) fn get(&self, id: ContextId) -> Option<&Context> {
        self.known.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: ContextId) -> Option<&mut Context> {
        self.known.get_mut(&id)
    }

    pub(crate) fn has(&self, id: ContextId) -> bool {
        self.known.contains_key(&id)
    }

    pub(crate) fn remove(&mut self, id: ContextId) {
        self.known.remove(&id);
    }

    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether the context is a plugin with streams.
    pub(crate) fn has_streams(&self, id: ContextId) -> bool {
        let is_plugin = self.known.get(&id).is_some_and(|context| context.plugin.is_none());
        is_plugin && self.known.values().any(|context| context.plugin == Some(id))
    }

    /// Returns the configuration of a context's plugin.
    pub(crate) fn configuration(&self, id: ContextId) -> Arc<[u8]> {
        let plugin = self.known.get(&id).and_then(|context| context.plugin).unwrap_or(id);
        self.known.get(&plugin).map(|context| Arc::clone(&context.configuration)).unwrap_or_default()
    }

    /// Marks a pending context as done; returns `false` if it was not pending.
    pub(crate) fn finish(&mut self, id: ContextId) -> bool {
        let is_pending =
            self.known.get_mut(&id).is_some_and(|context| std::mem::take(&mut context.is_pending));
        if is_pending {
            self.done.push(id);
        }
        is_pending
    }

    /// Takes a context that was finished during the last callback.
    pub(crate) fn take_done(&mut self) -> Option<ContextId> {
        self.done.pop()
    }
}
