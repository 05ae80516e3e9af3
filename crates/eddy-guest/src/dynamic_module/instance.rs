//! Configured filters of a module, and the configurations that rules have for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

use eddy_filter::LibraryKeepAlive;

use super::abi::{EnvoyPtr, ModulePtr};
use super::hooks::Hooks;
use super::metrics::Metrics;
use super::queue::EventQueues;
use crate::guest::index_of;
use crate::lock::lock;

/// Configured filter of a module.
#[derive(Debug)]
pub(super) struct Instance {
    /// Handle by which the module refers to the filter's configuration.
    pub(super) handle: EnvoyHandle,
    /// The host's number of the filter.
    pub(super) id: u32,
    /// Name of the filter in the module.
    pub(super) name: String,
    pub(super) hooks: Hooks,
    /// Events that the module schedules.
    pub(super) queues: Arc<EventQueues>,
    pub(super) metrics: Metrics,
    module: OnceLock<ModulePtr>,
    /// Destroys the module's object on the thread that creates filters.
    keep_alive: OnceLock<LibraryKeepAlive>,
}

/// Configuration of a rule for a filter.
#[derive(Debug)]
pub(super) struct RouteInstance {
    pub(super) module: ModulePtr,
    /// Destroys the module's object on the thread that creates filters.
    pub(super) _keep_alive: LibraryKeepAlive,
}

/// Number of a configuration among those of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EnvoyHandle(pub(super) u64);

impl EnvoyHandle {
    pub(super) fn pointer(self) -> EnvoyPtr {
        EnvoyPtr::of(self.0)
    }
}

/// Filters and configurations of rules of a library, by the numbers that the host knows.
#[derive(Debug, Default)]
pub(super) struct InstanceTable {
    /// Filters; those that are no longer used are gone.
    instances: RwLock<Vec<Weak<Instance>>>,
    routes: RwLock<Vec<Weak<RouteInstance>>>,
}

#[derive(Debug, Default)]
struct Instances {
    last: u64,
    by_handle: Option<HashMap<u64, Weak<Instance>>>,
}

static INSTANCES: Mutex<Instances> = Mutex::new(Instances { last: 0, by_handle: None });

impl Instance {
    /// Registers a filter whose configuration the module is about to create.
    pub(super) fn register(id: u32, name: &str, hooks: Hooks, queues: Arc<EventQueues>) -> Arc<Self> {
        let mut instances = lock(&INSTANCES);
        instances.last += 1;
        let number = CONFIG_BIT | instances.last << CONFIG_SHIFT;
        let instance = Arc::new(Self {
            handle: EnvoyHandle(number),
            id,
            name: name.to_owned(),
            hooks,
            queues,
            metrics: Metrics::default(),
            module: OnceLock::new(),
            keep_alive: OnceLock::new(),
        });
        instances.by_handle.get_or_insert_default().insert(number, Arc::downgrade(&instance));
        instance
    }

    /// Finds the filter whose configuration a module refers to.
    pub(super) fn find(handle: EnvoyPtr) -> Option<Arc<Self>> {
        lock(&INSTANCES).by_handle.as_ref()?.get(&handle.number())?.upgrade()
    }

    /// Records the module's object, and its owner.
    pub(super) fn created(&self, module: ModulePtr, keep_alive: LibraryKeepAlive) {
        let is_first = self.module.set(module).is_ok() && self.keep_alive.set(keep_alive).is_ok();
        debug_assert!(is_first, "a configuration is created once");
    }

    /// Returns the module's object; null while it is being created.
    pub(super) fn module(&self) -> ModulePtr {
        self.module.get().copied().unwrap_or_default()
    }
}

impl InstanceTable {
    /// Adds a filter; returns its number.
    pub(super) fn add(&self, instance: &Arc<Instance>) -> u64 {
        put(&self.instances, instance)
    }

    /// Adds the configuration of a rule; returns its number.
    pub(super) fn add_route(&self, route: &Arc<RouteInstance>) -> u64 {
        put(&self.routes, route)
    }

    /// Returns the filter with this number.
    pub(super) fn instance(&self, number: u64) -> Option<Arc<Instance>> {
        let known = self.instances.read().unwrap_or_else(PoisonError::into_inner);
        known.get(index_of(number)?)?.upgrade()
    }

    /// Returns the configuration of a rule with this number.
    pub(super) fn route(&self, number: u64) -> Option<Arc<RouteInstance>> {
        if number == 0 {
            return None;
        }
        let known = self.routes.read().unwrap_or_else(PoisonError::into_inner);
        known.get(index_of(number)?)?.upgrade()
    }
}

/// Adds an object in a free place; returns its number.
fn put<T>(places: &RwLock<Vec<Weak<T>>>, object: &Arc<T>) -> u64 {
    let mut places = places.write().unwrap_or_else(PoisonError::into_inner);
    let free = places.iter().position(|place| place.strong_count() == 0);
    let index = free.unwrap_or(places.len());
    match places.get_mut(index) {
        Some(place) => *place = Arc::downgrade(object),
        None => places.push(Arc::downgrade(object)),
    }
    index as u64 + 1
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some(known) = &mut lock(&INSTANCES).by_handle {
            known.remove(&self.handle.0);
        }
    }
}

/// Bit that distinguishes handles of configurations from those of streams.
const CONFIG_BIT: u64 = 1 << 63;
/// Handles do not look like small numbers, which a Go runtime takes for bad pointers.
const CONFIG_SHIFT: u32 = 16;
