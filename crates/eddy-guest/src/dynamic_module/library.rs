//! Library of a dynamic module: creates its filters, enters them, and receives events for them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use eddy_filter::{
    EventKind, FilterEvent, FilterInfo, FilterLibrary, HostApi, Interest, LibraryCall, LibraryKeepAlive,
    LoadError, LoadResult, Phase,
};

use super::abi::AbiBuffer;
use super::hooks::Hooks;
use super::instance::{Instance, InstanceTable, RouteInstance};
use super::queue::{EventQueues, ScheduledEvent};
use super::{enter, events, host};
use crate::guest::{CreatedFilter, Guest};
use crate::native::FileIdentity;
use crate::reclaim::ReclaimQueue;
use crate::thread::prepare_thread;

/// Shared library that implements HTTP filters for Envoy's dynamic module ABI, open until the process ends.
pub struct DynamicModule {
    name: String,
    path: PathBuf,
    identity: FileIdentity,
    hooks: Hooks,
    table: InstanceTable,
    queues: Arc<EventQueues>,
}

impl DynamicModule {
    pub(super) fn new(
        path: &Path,
        identity: FileIdentity,
        hooks: Hooks,
        host: &Arc<dyn HostApi>,
    ) -> Arc<Self> {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Arc::new_cyclic(|me: &Weak<Self>| Self {
            name,
            path: path.to_owned(),
            identity,
            hooks,
            table: InstanceTable::default(),
            queues: Arc::new(EventQueues::new(host, Weak::clone(me) as Weak<dyn FilterLibrary>)),
        })
    }

    /// Returns the file that the module was opened from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the identity that the file had when it was opened.
    pub fn identity(&self) -> &FileIdentity {
        &self.identity
    }

    /// Creates a filter; a configuration is passed as it is.
    fn create(
        &self,
        name: &str,
        config: &[u8],
        id: u32,
        reclaim_queue: &ReclaimQueue,
    ) -> LoadResult<CreatedFilter> {
        prepare_thread();
        let hooks = self.hooks;
        let instance = Instance::register(id, name, hooks, Arc::clone(&self.queues));
        let module = {
            let _entry = host::enter(id);
            let (name, config) = (AbiBuffer::of(name.as_bytes()), AbiBuffer::of(config));
            // SAFETY: a handle that is valid until the configuration is destroyed, and bytes that stay until the hook
            // returns.
            unsafe { (hooks.config_new)(instance.handle.pointer(), name, config) }
        };
        instance.metrics.freeze();
        if module.is_null() {
            let message =
                format!("the module refused the configuration of its filter \"{name}\"; see the log");
            return Err(LoadError::Refused { message });
        }
        let destroy = move || {
            prepare_thread();
            // SAFETY: the module's own object, which is destroyed once, when nothing uses it any more.
            unsafe { (hooks.config_destroy)(module) }
        };
        instance.created(module, reclaim_queue.owner(LibraryKeepAlive::default(), destroy));
        let number = self.table.add(&instance);
        let info = FilterInfo { interest: Interest::of(&PHASES), keeps_length: true, expects_tunnels: false };
        Ok(CreatedFilter { number, info, owner: LibraryKeepAlive::of(instance) })
    }

    fn create_route(
        &self,
        name: &str,
        config: &[u8],
        owner: &LibraryKeepAlive,
        reclaim_queue: &ReclaimQueue,
    ) -> LoadResult<(u64, LibraryKeepAlive)> {
        prepare_thread();
        let refused = |message: String| LoadError::Refused { message };
        let hooks = self.hooks.route_config.ok_or_else(|| {
            refused("the module has no hooks `on_http_filter_per_route_config_new` and `_destroy`".to_owned())
        })?;
        // SAFETY: the bytes stay until the hook returns.
        let module = unsafe { (hooks.new)(AbiBuffer::of(name.as_bytes()), AbiBuffer::of(config)) };
        if module.is_null() {
            return Err(refused(format!("the module refused the configuration for \"{name}\"; see the log")));
        }
        let destroy = move || {
            prepare_thread();
            // SAFETY: the module's own object, which is destroyed once, when nothing uses it any more.
            unsafe { (hooks.destroy)(module) }
        };
        let keep_alive = reclaim_queue.owner(owner.clone(), destroy);
        let instance = Arc::new(RouteInstance { module, _keep_alive: keep_alive });
        Ok((self.table.add_route(&instance), LibraryKeepAlive::of(instance)))
    }
}

impl FilterLibrary for DynamicModule {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self, call: &mut LibraryCall<'_>) {
        enter::run(&self.table, call);
    }

    fn event(&self, event: &FilterEvent<'_>) {
        if event.kind != EventKind::Woken {
            events::deliver(event);
            return;
        }
        for due in self.queues.take(event.worker) {
            match due {
                ScheduledEvent::Stream { stream, event } => events::scheduled(stream, event),
                ScheduledEvent::Config { config, event } => events::config_scheduled(config, event),
                ScheduledEvent::Call { config, token, attempts } => {
                    events::send_deferred(config, token, attempts, event.worker);
                }
            }
        }
    }
}

impl Guest for DynamicModule {
    fn filter(
        &self,
        name: &str,
        config: &str,
        id: u32,
        reclaim_queue: &ReclaimQueue,
    ) -> LoadResult<CreatedFilter> {
        self.create(name, config.as_bytes(), id, reclaim_queue)
    }

    fn rule_config(
        &self,
        filter: u64,
        owner: &LibraryKeepAlive,
        config: &str,
        reclaim_queue: &ReclaimQueue,
    ) -> LoadResult<(u64, LibraryKeepAlive)> {
        let instance = self.table.instance(filter).ok_or_else(|| LoadError::Refused {
            message: "the filter is not one of the module's".to_owned(),
        })?;
        self.create_route(&instance.name, config.as_bytes(), owner, reclaim_queue)
    }
}

impl fmt::Debug for DynamicModule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DynamicModule({})", self.name)
    }
}

/// A module's hooks are mandatory, so they do not tell which phases it is interested in.
const PHASES: [Phase; 7] = [
    Phase::RequestHead,
    Phase::RequestBody,
    Phase::RequestTrailers,
    Phase::ResponseHead,
    Phase::ResponseBody,
    Phase::ResponseTrailers,
    Phase::Log,
];
