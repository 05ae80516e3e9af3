//! Filter library of a proxy-wasm module.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::Duration;

use eddy_filter::{
    EventKind, FilterEvent, FilterInfo, FilterLibrary, HostApi, Interest, LibraryCall, LibraryKeepAlive,
    LoadError, LoadResult, Phase, StreamEvent,
};
use eddy_ids::Millis;
use proxy_wasm_host::abi::Callback;
use proxy_wasm_host::{Image, QueueId, Sandbox, SharedView, WasmVmLimits};

use super::cell::{ModuleContext, WorkerInstance};
use super::embedding::{CallAnswer, CallToken, Common, Metrics, Plugin, Queues, UnknownFunctions};
use super::machine::PluginVm;
use super::module::{ModuleShared, SERVICES, compile};
use super::settings::{Isolation, WasmSettings};
use super::standby_instances::StandbyInstances;
use super::token::WakeToken;
use crate::engine::{TICK, engine, ticks, with_sources};
use crate::failure::GuestFailure;
use crate::guest::{CreatedFilter, Guest};
use crate::lock::lock;
use crate::reclaim::ReclaimQueue;

/// Filter library of a module: each filter is a plugin of it, each exchange a stream of a plugin.
pub struct WasmLibrary {
    kernel: Arc<ModuleShared>,
    me: Weak<Self>,
    /// State of the module on each worker.
    cells: Box<[Mutex<WorkerInstance>]>,
    /// Responses for each worker that arrived on other workers.
    call_replies: Box<[Mutex<Vec<CallReply>>]>,
    spares: Arc<StandbyInstances>,
    /// Worker that is notified of the next queue item.
    next_worker: AtomicUsize,
}

/// Response to a call, for the worker that made it.
struct CallReply {
    token: CallToken,
    answer: CallAnswer,
}

impl WasmLibrary {
    /// Compiles a module, or loads the compiled code from the folder `cache`. A trial library has no more instances
    /// than are needed to see that the module works.
    ///
    /// # Errors
    /// [`LoadError::Library`].
    ///
    /// # Cost
    /// Milliseconds to seconds of all cores, the first time.
    pub fn open(
        settings: &WasmSettings,
        host: &Arc<dyn HostApi>,
        cache: Option<&Path>,
        is_trial: bool,
    ) -> LoadResult<Arc<Self>> {
        let failed = |why: String| LoadError::Library {
            message: format!("cannot use the module \"{}\": {why}", settings.module.display()),
        };
        let engine = engine(cache).map_err(failed)?;
        let module = compile(&engine, &settings.module).map_err(failed)?;
        let mut limits = WasmVmLimits::default();
        limits.call_ticks_max = ticks(settings.cpu);
        limits.start_ticks_max = ticks(settings.start_cpu);
        limits.cpu_tick = Some(TICK);
        limits.memory_bytes_max = usize::try_from(settings.memory_bytes).unwrap_or(usize::MAX);
        let mut sandbox = Sandbox::default();
        sandbox.environment = settings.env.clone();
        let image = Image::link(&module, limits, sandbox).map_err(|error| failed(with_sources(&error)))?;
        let name = settings.module.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
        let workers = host.workers();
        let library = Arc::new_cyclic(|me: &Weak<Self>| {
            let listened: Weak<Self> = Weak::clone(me);
            let listener = Arc::new(move |queue: QueueId| {
                if let Some(library) = listened.upgrade() {
                    library.queue_has_item(queue);
                }
            });
            let queues = Queues::new(Arc::clone(&SERVICES), listener);
            let group = settings.vm_id.as_bytes();
            let kernel = Arc::new(ModuleShared {
                me: Weak::clone(me) as Weak<dyn FilterLibrary>,
                common: Arc::new(Common {
                    vm_id: settings.vm_id.clone(),
                    host: Arc::clone(host),
                    metrics: Metrics::default(),
                    queues,
                    unknown: UnknownFunctions::default(),
                    name,
                    cpu: settings.cpu,
                    start_cpu: settings.start_cpu,
                    memory_bytes: settings.memory_bytes,
                }),
                image,
                shared: SharedView::new(Arc::clone(&SERVICES), group, None),
                vm_config: settings.vm_config.as_bytes().into(),
                isolation: settings.isolation,
                is_trial,
                plugins: RwLock::default(),
            });
            Self {
                me: Weak::clone(me),
                cells: (0..workers).map(|_| Mutex::default()).collect(),
                call_replies: (0..workers).map(|_| Mutex::default()).collect(),
                spares: StandbyInstances::new(Arc::clone(&kernel)),
                next_worker: AtomicUsize::new(0),
                kernel,
            }
        });
        note(&library);
        Ok(library)
    }

    fn context(&self) -> ModuleContext<'_> {
        ModuleContext { kernel: &self.kernel, spares: &self.spares }
    }

    /// Ends every instance, with callbacks for its plugins and streams.
    fn stop(&self) {
        if self.kernel.is_trial {
            return;
        }
        let plugins = self.kernel.plugins();
        self.cells.iter().for_each(|cell| lock(cell).stop(&plugins));
        self.spares.stop(&plugins);
    }

    /// Starts a plugin in every VM of the library; returns its number.
    fn add(&self, id: u32, name: &str, root_id: &str, config: &str) -> LoadResult<u64> {
        let number = self.kernel.plugins().len();
        let plugin = Arc::new(Plugin {
            number,
            id,
            name: name.to_owned(),
            root_id: root_id.to_owned(),
            configuration: config.as_bytes().into(),
        });
        let refused = |failure: GuestFailure| LoadError::Refused { message: self.explained(failure).why };
        self.kernel.common.metrics.show_failures(&*self.kernel.common.host, id);
        self.kernel.plugins.write().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&plugin));
        let plugins = self.kernel.plugins();
        match self.kernel.isolation {
            Isolation::Stream => {
                let mut machine =
                    PluginVm::start(&self.kernel, std::slice::from_ref(&plugin)).map_err(refused)?;
                if machine.embedding().periods.iter().any(|(_, period)| period.is_some()) {
                    let why = b"it sets a tick period, which has no effect with `isolation: stream`: no \
                                instance outlives its exchange";
                    // A message below the log level is dropped.
                    let _ = self.kernel.common.host.log(id, eddy_filter::FilterLogLevel::Warn, why);
                }
            }
            Isolation::Worker if number == 0 => {
                for (worker, cell) in self.cells.iter().enumerate() {
                    let machine = PluginVm::start(&self.kernel, &plugins).map_err(refused)?;
                    lock(cell).adopt(&self.kernel, narrow(worker), machine);
                    if self.kernel.is_trial {
                        return Ok(1);
                    }
                }
                self.spares.put(PluginVm::start(&self.kernel, &plugins).map_err(refused)?);
            }
            Isolation::Worker => {
                for cell in &self.cells {
                    lock(cell).add(&self.kernel, &plugin).map_err(refused)?;
                }
                if !self.kernel.is_trial {
                    self.spares.put(PluginVm::start(&self.kernel, &plugins).map_err(refused)?);
                }
            }
        }
        Ok(number as u64 + 1)
    }

    /// Adds to the failure of a trial start the time that the module needs for its start, if it was too long.
    fn explained(&self, failure: GuestFailure) -> GuestFailure {
        if !self.kernel.is_trial || !failure.is_of_start {
            return failure;
        }
        let plugins = self.kernel.plugins();
        let mut time = self.kernel.common.start_cpu;
        if time >= START_TIME_TRIED_MAX {
            return failure;
        }
        while time < START_TIME_TRIED_MAX {
            time = (time * 2).min(START_TIME_TRIED_MAX);
            let mut limits = self.kernel.image.limits().clone();
            limits.start_ticks_max = ticks(time);
            let image = self.kernel.image.with_limits(limits);
            match PluginVm::start_in(&image, &self.kernel, &plugins) {
                Ok(_) => {
                    let text = format!("{failure}; it starts with `start_cpu: {}ms`", time.as_millis());
                    return failure.with_message(text);
                }
                Err(again) if again.is_of_start => {}
                Err(other) => {
                    let text = format!("{failure}; with `start_cpu: {}ms`, {other}", time.as_millis());
                    return failure.with_message(text);
                }
            }
        }
        let text = format!("{failure}; it does not start within {START_TIME_TRIED_MAX:?} either");
        failure.with_message(text)
    }

    /// Returns the functions that the module imports and eddy does not have: a call returns an error.
    pub fn unsupported_imports(&self) -> Vec<&'static str> {
        self.kernel.image.module().unsupported_imports().collect()
    }

    /// Notifies a plugin of an item in its queue.
    fn queue_has_item(&self, queue: QueueId) {
        let count = self.cells.len().max(1);
        let worker = narrow(self.next_worker.fetch_add(1, Relaxed) % count);
        // If the host cannot wake a worker, no plugin listens.
        let _ = self.kernel.wake(worker, Millis::ZERO, WakeToken::Queue(queue), 0);
    }

    fn deliver(&self, token: CallToken, answer: CallAnswer) {
        if let Some(cell) = self.cells.get(usize::from(token.worker)) {
            lock(cell).deliver(self.context(), token, answer);
        }
    }

    fn woken(&self, worker: u16, token: WakeToken) {
        let Some(cell) = self.cells.get(usize::from(worker)) else { return };
        match token {
            WakeToken::Tick { generation, plugin, turn } => {
                if let Some(plugin) = self.kernel.plugin(u64::from(plugin) + 1) {
                    lock(cell).tick(self.context(), generation, &plugin, turn);
                }
            }
            WakeToken::Refill => self.spares.fill(),
            WakeToken::CallReplies => {
                let call_replies = self
                    .call_replies
                    .get(usize::from(worker))
                    .map(|call_replies| std::mem::take(&mut *lock(call_replies)));
                for CallReply { token, answer } in call_replies.into_iter().flatten() {
                    self.deliver(token, answer);
                }
            }
            WakeToken::Queue(queue) => {
                let plugin = self.kernel.common.queues.plugin_of(queue);
                if let Some(plugin) = plugin.and_then(|plugin| self.kernel.plugin(plugin as u64 + 1)) {
                    lock(cell).queue_ready(self.context(), &plugin, queue);
                }
            }
        }
    }
}

impl FilterLibrary for WasmLibrary {
    fn name(&self) -> &str {
        &self.kernel.common.name
    }

    fn stream_event(&self, event: &StreamEvent<'_>) {
        let token = CallToken::of_number(event.token);
        debug_assert_eq!(token.worker, event.worker, "a stream belongs to the worker of its instance");
        if let Some(cell) = self.cells.get(usize::from(token.worker)) {
            lock(cell).deliver_grpc(self.context(), token, event.part);
        }
    }

    fn supplies_bodies(&self) -> bool {
        true
    }

    fn run(&self, call: &mut LibraryCall<'_>) {
        if let Some(cell) = self.cells.get(usize::from(call.worker)) {
            lock(cell).run(self.context(), call);
        }
    }

    fn event(&self, event: &FilterEvent<'_>) {
        if event.kind == EventKind::Woken {
            if let Some(token) = WakeToken::of_number(event.token) {
                self.woken(event.worker, token);
            }
            return;
        }
        let token = CallToken::of_number(event.token);
        let answer = CallAnswer::of(event);
        if token.worker == event.worker {
            self.deliver(token, answer);
        } else if let Some(call_replies) = self.call_replies.get(usize::from(token.worker)) {
            lock(call_replies).push(CallReply { token, answer });
            // If the wake-up queue of the worker is full, further wake-ups fail as well; the call times out in the
            // module.
            let _ = self.kernel.wake(token.worker, Millis::ZERO, WakeToken::CallReplies, event.filter);
        }
    }
}

impl WasmLibrary {
    /// Creates a filter; `root_id` selects one of the module's filters.
    ///
    /// # Errors
    /// [`LoadError::Refused`] with the module's message.
    pub fn filter_of(
        &self,
        name: &str,
        root_id: &str,
        config: &str,
        id: u32,
        reclaim_queue: &ReclaimQueue,
    ) -> LoadResult<CreatedFilter> {
        let number = self.add(id, name, root_id, config)?;
        // The library is dropped with its last filter, on the thread that creates filters.
        let library = self.me.upgrade();
        let owner = reclaim_queue.owner(LibraryKeepAlive::default(), move || drop(library));
        // SDKs export every callback, so exports do not tell whether a module changes bodies. A module that changes the
        // length must change `content-length`, as on other proxies.
        let info = FilterInfo { interest: self.interest(), keeps_length: true, expects_tunnels: false };
        Ok(CreatedFilter { number, info, owner })
    }

    /// Returns the phases for which the module has callbacks.
    fn interest(&self) -> Interest {
        let has = |callback| self.kernel.image.module().has(callback);
        let phases: Vec<Phase> =
            PHASES.into_iter().filter(|(_, one)| has(*one)).map(|(phase, _)| phase).collect();
        Interest::of(&phases)
    }
}

impl Guest for WasmLibrary {
    fn filter(
        &self,
        name: &str,
        config: &str,
        id: u32,
        reclaim_queue: &ReclaimQueue,
    ) -> LoadResult<CreatedFilter> {
        self.filter_of(name, "", config, id, reclaim_queue)
    }

    fn rule_config(
        &self,
        filter: u64,
        owner: &LibraryKeepAlive,
        config: &str,
        _reclaim_queue: &ReclaimQueue,
    ) -> LoadResult<(u64, LibraryKeepAlive)> {
        let of = self
            .kernel
            .plugin(filter)
            .ok_or_else(|| LoadError::Refused { message: "the filter does not exist".to_owned() })?;
        let number = self.add(of.id, &of.name, &of.root_id, config)?;
        Ok((number, owner.clone()))
    }
}

impl Drop for WasmLibrary {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for WasmLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WasmLibrary({})", self.kernel.common.name)
    }
}

/// Registers a module.
fn note(library: &Arc<WasmLibrary>) {
    let mut open = lock(&OPEN);
    open.retain(|known| known.strong_count() > 0);
    open.push(Arc::downgrade(library));
}

/// Ends the instances of all modules, with their callbacks. Only on the thread that creates filters.
pub(crate) fn stop_all() {
    let open = std::mem::take(&mut *lock(&OPEN));
    open.iter().filter_map(Weak::upgrade).for_each(|library| library.stop());
}

/// Narrows a worker number; there are at most 256 workers.
fn narrow(worker: usize) -> u16 {
    u16::try_from(worker).unwrap_or(u16::MAX)
}

/// Open modules, for the end of the process.
static OPEN: Mutex<Vec<Weak<WasmLibrary>>> = Mutex::new(Vec::new());

const PHASES: [(Phase, Callback); 8] = [
    (Phase::RequestHead, Callback::RequestHeaders),
    (Phase::RequestBody, Callback::RequestBody),
    (Phase::RequestTrailers, Callback::RequestTrailers),
    (Phase::ResponseHead, Callback::ResponseHeaders),
    (Phase::ResponseBody, Callback::ResponseBody),
    (Phase::ResponseTrailers, Callback::ResponseTrailers),
    (Phase::Log, Callback::Log),
    (Phase::Log, Callback::Done),
];

/// Maximum time of a start step that a trial attempts, to find the time that a module needs.
const START_TIME_TRIED_MAX: Duration = Duration::from_secs(2);
