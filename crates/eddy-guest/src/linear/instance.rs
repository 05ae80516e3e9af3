//! Instance of a module: its memory and functions, each called within a time limit.

use std::sync::Arc;
use std::time::Duration;

use eddy_filter::{FilterInfo, HostApi, Interest, LoadError, LoadResult};
use wasm_sandbox::{Bounds, CallTermination, Confinement, Missing, begin, cause_of, confine, define_wasi};
use wasmtime::{ExternType, Linker, Memory, Store, TypedFunc, WasmParams, WasmResults};

use super::host_query;
use super::image::GuestMemoryReader;
use super::inside::Inside;
use super::module::{LinearLimits, LinearModule};
use crate::engine::{TABLE_ELEMENTS_MAX, TICK, ticks};
use crate::failure::GuestFailure;
use crate::native::abi;

/// Instance of a module, for one worker.
pub(super) struct LinearInstance {
    pub(super) store: Store<Inside>,
    memory: Memory,
    functions: LinearExports,
    /// Buffer allocated by the module: address and size.
    room: (u32, usize),
    limits: LinearLimits,
    /// Names of the module's filters.
    pub(super) filters: Vec<String>,
}

#[derive(Clone)]
struct LinearExports {
    room: TypedFunc<u32, u32>,
    run: TypedFunc<u32, ()>,
    event: TypedFunc<u32, ()>,
    filter_new: TypedFunc<(u32, u32, u32, u32, u32), u32>,
    filter_free: TypedFunc<u64, ()>,
    config_new: TypedFunc<(u64, u32, u32), u32>,
    config_free: TypedFunc<(u64, u64), ()>,
}

/// Failure of a call into a module. The instance must be replaced.
#[derive(Debug)]
pub(super) struct LinearCallFailure(pub(super) GuestFailure);

impl LinearInstance {
    /// Creates an instance and opens it.
    ///
    /// # Errors
    /// [`LoadError::Library`] with the missing import or the failure of the start.
    ///
    /// # Cost
    /// The module's own start: some milliseconds in Go.
    pub(super) fn start(module: &LinearModule, host: &Arc<dyn HostApi>, worker: u16) -> LoadResult<Self> {
        let failed = |what: String| LoadError::Library { message: format!("\"{}\" {what}", module.name) };
        let bounds = Bounds {
            memory_bytes_max: module.limits.memory_bytes_max,
            table_elements_max: TABLE_ELEMENTS_MAX,
            line_bytes_max: LINE_BYTES_MAX,
            printed_bytes_max: PRINTED_BYTES_MAX,
            cpu_tick: Some(TICK),
        };
        let inside = Inside {
            host: Arc::clone(host),
            filter: 0,
            worker,
            confinement: Confinement::new(bounds, Arc::clone(&module.sandbox)),
            metrics: Vec::new(),
            printed: String::new(),
        };
        let mut store = confine(&module.engine, inside);
        let linker =
            link(&mut store, module).map_err(|error| failed(format!("cannot be linked: {error:#}")))?;
        let limits = module.limits;
        begin(&mut store, ticks(limits.create_time_max));
        let instance = linker
            .instantiate(&mut store, &module.compiled)
            .map_err(|error| failed(format!("cannot be started: {error:#}")))?;
        let memory = instance
            .get_memory(&mut store, "memory")
            .ok_or_else(|| failed("exports no memory".to_owned()))?;
        store.data_mut().confinement.memory = Some(memory);
        macro_rules! function {
            ($name:literal) => {
                instance
                    .get_typed_func(&mut store, $name)
                    .map_err(|error| failed(format!("violates the filter ABI: {error:#}")))?
            };
        }
        let start: TypedFunc<(), ()> = function!("_initialize");
        let open: TypedFunc<(u32, u32), u32> = function!("eddy_open");
        let functions = LinearExports {
            room: function!("eddy_room"),
            run: function!("eddy_run"),
            event: function!("eddy_event"),
            filter_new: function!("eddy_filter_new"),
            filter_free: function!("eddy_filter_free"),
            config_new: function!("eddy_config_new"),
            config_free: function!("eddy_config_free"),
        };
        let workers = u32::try_from(host.workers()).unwrap_or(u32::MAX);
        let level = host.level() as u32;
        let opened = start.call(&mut store, ()).and_then(|()| open.call(&mut store, (workers, level)));
        let opened = opened.map_err(|error| {
            let why = failure_of(&error, store.data_mut(), limits.create_time_max, limits);
            failed(format!("failed to start: {why}"))
        })?;
        store.data_mut().end_call();
        let mut made = Self { store, memory, functions, room: (0, 0), limits, filters: Vec::new() };
        made.read_library(u64::from(opened))
            .map_err(|why| failed(format!("violates the filter ABI: {why}")))?;
        Ok(made)
    }

    /// Reads the beginning of an `eddy_library`.
    fn read_library(&mut self, at: u64) -> Result<(), String> {
        let memory = GuestMemoryReader(self.memory.data(&self.store));
        let version = memory.u32(at);
        if version != abi::ABI {
            return Err(format!("it was built for version {version}, this eddy has version {}", abi::ABI));
        }
        let text = |at| {
            let text = memory.text(at, NAME_BYTES_MAX).ok_or("a name is outside its memory")?;
            Ok::<_, String>(String::from_utf8_lossy(text).into_owned())
        };
        let (table, count) = (memory.u64(at + 40), memory.u64(at + 48));
        if count > FILTERS_MAX {
            return Err(format!("it has too many filters: {count}"));
        }
        // Names of the SDK and the toolchain, which only have to be valid.
        for name in [at + 8, at + 24] {
            text(name)?;
        }
        self.filters =
            (0..count).map(|index| text(table.saturating_add(16 * index))).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Returns the memory, as the module has left it.
    pub(super) fn memory(&self) -> GuestMemoryReader<'_> {
        GuestMemoryReader(self.memory.data(&self.store))
    }

    /// Returns a buffer of `len` bytes with its address.
    pub(super) fn room(&mut self, len: usize) -> Result<(u32, &mut [u8]), LinearCallFailure> {
        if self.room.1 < len {
            let wanted = len.next_multiple_of(BUFFER_GROWTH_STEP);
            let asked =
                u32::try_from(wanted).map_err(|_| LinearCallFailure("the message is too large".into()))?;
            let function = self.functions.room.clone();
            self.room = (self.call(&function, asked)?, wanted);
        }
        let start = self.room.0 as usize;
        let room = self.memory.data_mut(&mut self.store).get_mut(start..start.saturating_add(len));
        match room {
            Some(room) if start != 0 && start.is_multiple_of(8) => Ok((self.room.0, room)),
            Some(_) | None => {
                Err(LinearCallFailure("the module returned a buffer outside its memory".into()))
            }
        }
    }

    /// Enters the filters of the call at an address.
    #[inline]
    pub(super) fn run(&mut self, call: u64) -> Result<(), LinearCallFailure> {
        let function = self.functions.run.clone();
        self.call(&function, narrowed(call))
    }

    /// Delivers the event at an address.
    pub(super) fn event(&mut self, event: u64) -> Result<(), LinearCallFailure> {
        let function = self.functions.event.clone();
        self.call(&function, narrowed(event))
    }

    /// Creates a filter; returns its number in this instance and its properties.
    pub(super) fn new_filter(&mut self, name: &str, config: &str, id: u32) -> LoadResult<(u64, FilterInfo)> {
        self.store.data_mut().filter = id;
        let (name_at, config_at) = self.put_both(name.as_bytes(), config.as_bytes()).map_err(refused)?;
        let function = self.functions.filter_new.clone();
        let arguments = (name_at, length(name), config_at, length(config), id);
        let made = self.call_long(&function, arguments).map_err(refused)?;
        let (number, interest, flags) = self.read_created(made)?;
        let info = FilterInfo {
            interest: Interest::from_bits(interest),
            keeps_length: flags & abi::FILTER_READS_BODY != 0,
            expects_tunnels: flags & abi::FILTER_EXPECTS_TUNNELS != 0,
        };
        Ok((number, info))
    }

    /// Creates a rule's configuration; returns its number in this instance.
    pub(super) fn new_config(&mut self, filter: u64, config: &str) -> LoadResult<u64> {
        let (_, config_at) = self.put_both(&[], config.as_bytes()).map_err(refused)?;
        let function = self.functions.config_new.clone();
        let made = self.call_long(&function, (filter, config_at, length(config))).map_err(refused)?;
        Ok(self.read_created(made)?.0)
    }

    pub(super) fn free_filter(&mut self, filter: u64) -> Result<(), LinearCallFailure> {
        let function = self.functions.filter_free.clone();
        self.call(&function, filter)
    }

    pub(super) fn free_config(&mut self, filter: u64, config: u64) -> Result<(), LinearCallFailure> {
        let function = self.functions.config_free.clone();
        self.call(&function, (filter, config))
    }

    /// Reads number, interest and flags of what was created, or the error.
    fn read_created(&self, at: u32) -> LoadResult<(u64, u32, u32)> {
        let (memory, at) = (self.memory(), u64::from(at));
        let text = memory.text(at + 24, MESSAGE_BYTES_MAX);
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            return Err(LoadError::Refused { message: String::from_utf8_lossy(text).trim().to_owned() });
        }
        match memory.u64(at + 8) {
            0 => Err(refused(LinearCallFailure("the module gave no reason".into()))),
            number => Ok((number, memory.u32(at + 4), memory.u32(at + 16))),
        }
    }

    fn put_both(&mut self, one: &[u8], other: &[u8]) -> Result<(u32, u32), LinearCallFailure> {
        let (at, room) = self.room((one.len() + other.len()).max(1))?;
        let (first, second) = room.split_at_mut(one.len());
        first.copy_from_slice(one);
        if let Some(second) = second.get_mut(..other.len()) {
            second.copy_from_slice(other);
        }
        Ok((at, at + u32::try_from(one.len()).unwrap_or(u32::MAX)))
    }

    #[inline]
    fn call<P: WasmParams, R: WasmResults>(
        &mut self,
        function: &TypedFunc<P, R>,
        with: P,
    ) -> Result<R, LinearCallFailure> {
        self.call_within(self.limits.call_time_max, function, with)
    }

    fn call_long<P: WasmParams, R: WasmResults>(
        &mut self,
        function: &TypedFunc<P, R>,
        with: P,
    ) -> Result<R, LinearCallFailure> {
        self.call_within(self.limits.create_time_max, function, with)
    }

    #[inline]
    fn call_within<P: WasmParams, R: WasmResults>(
        &mut self,
        time_max: Duration,
        function: &TypedFunc<P, R>,
        with: P,
    ) -> Result<R, LinearCallFailure> {
        begin(&mut self.store, ticks(time_max));
        let returned = function.call(&mut self.store, with).map_err(|error| {
            LinearCallFailure(failure_of(&error, self.store.data_mut(), time_max, self.limits))
        });
        self.store.data_mut().end_call();
        returned
    }
}

/// Links a module's imports. Unsupported imports are defined as well, and fail when they are called.
fn link(store: &mut Store<Inside>, module: &LinearModule) -> wasmtime::Result<Linker<Inside>> {
    let mut linker = Linker::new(module.engine.machine());
    host_query::define(&mut linker)?;
    define_wasi(&mut linker, "wasi_snapshot_preview1")?;
    for import in module.compiled.imports() {
        let ExternType::Func(kind) = import.ty() else { continue };
        if linker.get_by_import(&mut *store, &import).is_some() {
            continue;
        }
        let name = format!("{}.{}", import.module(), import.name());
        linker.func_new(import.module(), import.name(), kind, move |_, _, _| {
            Err(wasmtime::Error::from(Missing(name.clone())))
        })?;
    }
    Ok(linker)
}

/// Explains why a call with the time limit `time_max` failed, including its output.
fn failure_of(
    error: &wasmtime::Error,
    inside: &mut Inside,
    time_max: Duration,
    limits: LinearLimits,
) -> GuestFailure {
    let (mut cause, printed) = (cause_of(error), inside.take_printed());
    let printed = printed.trim();
    if !printed.is_empty() {
        cause = format!("{cause}: {printed}");
    }
    match CallTermination::of(error, inside.confinement.refused()) {
        CallTermination::Deadline if time_max > limits.call_time_max => {
            GuestFailure::of_start(time_max, &"its start was stopped")
        }
        CallTermination::Deadline => GuestFailure::of_cpu("wasm.cpu", time_max, &"the module was stopped"),
        CallTermination::Memory => {
            let bytes = u64::try_from(limits.memory_bytes_max).unwrap_or(u64::MAX);
            GuestFailure::of_memory("wasm.memory", bytes, &cause)
        }
        CallTermination::NoMemory => GuestFailure::of_own_memory(&cause),
        CallTermination::Trap
        | CallTermination::StackOverflow
        | CallTermination::Exit(_)
        | CallTermination::Host => cause.into(),
    }
}

fn refused(ended: LinearCallFailure) -> LoadError {
    LoadError::Refused { message: ended.0.why }
}

fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

/// Narrows an address in a module's buffer, which has 32 bits.
fn narrowed(address: u64) -> u32 {
    u32::try_from(address).expect("a module has 32-bit addresses")
}

/// The buffer grows in steps, so that growing is rare.
const BUFFER_GROWTH_STEP: usize = 16 * 1024;
/// Maximum length of a printed line; longer lines are cut.
const LINE_BYTES_MAX: usize = 8 * 1024;
/// Maximum output per call; more is dropped.
const PRINTED_BYTES_MAX: usize = 64 * 1024;
const NAME_BYTES_MAX: usize = 256;
const FILTERS_MAX: u64 = 1024;
const MESSAGE_BYTES_MAX: usize = 16 * 1024;
