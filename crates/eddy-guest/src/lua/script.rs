//! Script as a library: creation of its filters, and dispatch of calls to the worker's VM.

use std::ffi::CString;
use std::fmt;
use std::sync::{Arc, Mutex, TryLockError, Weak};

use eddy_filter::{
    FilterEvent, FilterInfo, FilterLibrary, HostApi, Interest, LibraryCall, LibraryKeepAlive, LoadError,
    LoadResult, Phase,
};

use super::mentions::Mentions;
use super::running::{LuaInstance, Recipe};
use super::shared::{SharedLimits, SharedStores};
use super::stats::LuaStatsScope;
use super::vm::VmLimits;
use super::worker::Worker;
use crate::failure::GuestFailure;
use crate::guest::{CreatedFilter, Guest};
use crate::reclaim::ReclaimQueue;
use crate::thread::prepare_thread;

/// Source of a Lua filter.
#[derive(Clone, Debug)]
pub struct LuaSource<'a> {
    /// Name of the filter in the configuration.
    pub filter: &'a str,
    /// Name of the script in messages: the name of its file, or of the filter.
    pub chunk: &'a str,
    /// Text of the script.
    pub text: &'a [u8],
    /// Limits and permissions of the script.
    pub limits: LuaLimits,
}

/// Limits and permissions of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LuaLimits {
    /// Maximum CPU time per entry into a hook.
    pub cpu: std::time::Duration,
    /// Maximum memory of a VM in bytes; each worker has one VM.
    pub memory_bytes: usize,
    /// Whether the script may use `os`: the clock, the environment and other programs.
    pub allows_os: bool,
    /// Whether the script may access files.
    pub allows_io: bool,
    /// Whether the script may load modules.
    pub allows_package: bool,
    /// Whether the script may access the process's memory.
    pub allows_ffi: bool,
    /// Limits of the filter's shared stores.
    pub shared: SharedLimits,
}

/// Script with a VM for each worker that has run it.
pub struct LuaScript {
    /// Reference to itself, for its filters to keep.
    own: Weak<Self>,
    name: String,
    recipe: Recipe,
    workers: Box<[Mutex<Worker>]>,
    info: FilterInfo,
    has_hooks: bool,
}

impl LuaScript {
    /// Loads a script and determines its hooks.
    ///
    /// # Errors
    /// [`LoadError::Refused`] with an error message that begins with the chunk's name and the line.
    pub fn load(source: &LuaSource<'_>, host: &Arc<dyn HostApi>) -> LoadResult<Arc<Self>> {
        prepare_thread();
        let refused = |message: String| LoadError::Refused { message };
        let chunk = CString::new(format!("={}", source.chunk))
            .map_err(|_| refused("the name of a script must not contain NUL".to_owned()))?;
        let recipe = Recipe {
            host: Arc::clone(host),
            stores: SharedStores::of(source.filter, source.limits.shared),
            contexts: Arc::default(),
            stats: LuaStatsScope::of(source.filter, &**host),
            limits: source.limits.vm(),
            chunk,
            text: source.text.into(),
            mentions: Mentions::of(source.text),
        };
        let hooks = LuaInstance::new(&recipe).map_err(|fault| refused(fault.to_string()))?.hooks();
        let workers = (0..host.workers()).map(|_| Mutex::default()).collect();
        let (name, info) = (source.chunk.to_owned(), info_of(hooks, recipe.mentions));
        let has_hooks = hooks != [false, false];
        Ok(Arc::new_cyclic(|own| Self { own: Weak::clone(own), name, recipe, workers, info, has_hooks }))
    }

    /// Whether the script defines `envoy_on_request` or `envoy_on_response`. Without both it does nothing.
    pub fn has_hooks(&self) -> bool {
        self.has_hooks
    }

    /// Creates a filter that runs the script, or a rule's configuration; the script is dropped with the last of them.
    fn make(&self, config: &str, reclaim_queue: &ReclaimQueue) -> CreatedFilter {
        let number = self.recipe.contexts.add(config);
        let script = self.own.upgrade();
        let owner = reclaim_queue.owner(LibraryKeepAlive::default(), move || {
            if let Some(script) = script {
                script.recipe.contexts.remove(number);
            }
        });
        CreatedFilter { number, info: self.info, owner }
    }
}

fn info_of([on_request, on_response]: [bool; 2], mentions: Mentions) -> FilterInfo {
    let mut phases = Vec::new();
    let ways = [
        (on_request, [Phase::RequestHead, Phase::RequestBody, Phase::RequestTrailers]),
        (on_response, [Phase::ResponseHead, Phase::ResponseBody, Phase::ResponseTrailers]),
    ];
    for (_, [head, body, trailers]) in ways.into_iter().filter(|(has_hook, _)| *has_hook) {
        phases.push(head);
        if mentions.is_of_bodies() {
            phases.extend([body, trailers]);
        }
    }
    FilterInfo {
        interest: Interest::of(&phases),
        keeps_length: !mentions.changes_body,
        expects_tunnels: false,
    }
}

impl LuaLimits {
    fn vm(&self) -> VmLimits {
        let allow = super::vm::Allowed {
            os: self.allows_os,
            io: self.allows_io,
            package: self.allows_package,
            ffi: self.allows_ffi,
        };
        VmLimits { cpu: self.cpu, memory_bytes: self.memory_bytes, allow, ..VmLimits::default() }
    }
}

impl Default for LuaLimits {
    fn default() -> Self {
        let VmLimits { cpu, memory_bytes, .. } = VmLimits::default();
        Self {
            cpu,
            memory_bytes,
            allows_os: false,
            allows_io: false,
            allows_package: false,
            allows_ffi: false,
            shared: SharedLimits::default(),
        }
    }
}

impl FilterLibrary for LuaScript {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self, call: &mut LibraryCall<'_>) {
        prepare_thread();
        let worker = self.workers.get(usize::from(call.worker)).map(Mutex::try_lock);
        match worker {
            Some(Ok(mut worker)) => worker.run(&self.recipe, call),
            Some(Err(TryLockError::Poisoned(worker))) => worker.into_inner().run(&self.recipe, call),
            // The worker does not exist, or is already inside the script.
            Some(Err(TryLockError::WouldBlock)) | None => {
                GuestFailure::from("this worker cannot enter the script now").refuse(call);
            }
        }
    }

    fn event(&self, event: &FilterEvent<'_>) {
        prepare_thread();
        match self.workers.get(usize::from(event.worker)).map(Mutex::lock) {
            Some(Ok(mut worker)) => worker.event(&self.recipe, event),
            Some(Err(poisoned)) => poisoned.into_inner().event(&self.recipe, event),
            None => {}
        }
    }
}

impl Guest for LuaScript {
    fn filter(
        &self,
        _: &str,
        config: &str,
        _: u32,
        reclaim_queue: &ReclaimQueue,
    ) -> LoadResult<CreatedFilter> {
        Ok(self.make(config, reclaim_queue))
    }

    fn rule_config(
        &self,
        _: u64,
        _: &LibraryKeepAlive,
        config: &str,
        reclaim_queue: &ReclaimQueue,
    ) -> LoadResult<(u64, LibraryKeepAlive)> {
        let made = self.make(config, reclaim_queue);
        Ok((made.number, made.owner))
    }
}

impl fmt::Debug for LuaScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LuaScript").field("name", &self.name).finish_non_exhaustive()
    }
}
