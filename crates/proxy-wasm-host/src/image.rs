//! Module that is linked and ready to be instantiated many times.

use std::sync::Arc;
use std::time::Duration;

use wasm_sandbox::{Bounds, Missing, Sandbox, define_wasi};
use wasmtime::{ExternType, InstancePre, Linker};

use crate::calls;
use crate::fault::ModuleFault;
use crate::host::Host;
use crate::module::{Module, ModuleError};
use crate::vm::{Vm, VmState};

/// Linked module with the state that its VMs share. Clones share the image.
pub struct Image<H: Host> {
    shared: Arc<ImageShared>,
    instance: InstancePre<VmState<H>>,
}

/// State shared by the VMs of an image.
pub(crate) struct ImageShared {
    pub(crate) module: Module,
    pub(crate) limits: WasmVmLimits,
    pub(crate) sandbox: Arc<Sandbox>,
}

/// Resource limits of a VM.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WasmVmLimits {
    /// Maximum number of ticks of [`Engine::tick`](crate::Engine::tick) during a call before it is stopped. A call has
    /// at least this many tick periods less one.
    pub call_ticks_max: u64,
    /// Maximum number of ticks for instantiation, for the module's start functions, for `on_vm_start` and for
    /// `on_configure`, each by itself.
    pub start_ticks_max: u64,
    /// Length of a tick, if calls are stopped by the CPU time of their thread instead of by wall-clock time. A call is
    /// then not charged while the system suspends its thread, and may use as much CPU time as its ticks are long, and
    /// two ticks more. `None` (default) counts wall-clock ticks.
    pub cpu_tick: Option<Duration>,
    /// Maximum memory of a VM, within the engine's limit.
    ///
    /// # Units
    ///
    /// Bytes.
    pub memory_bytes_max: usize,
    /// Maximum number of elements per table, within the engine's limit.
    pub table_elements_max: usize,
    /// Maximum number of contexts at a time, plugins and streams together.
    pub contexts_max: usize,
    /// Maximum size of a map passed in either direction.
    ///
    /// # Units
    ///
    /// Bytes.
    pub map_bytes_max: usize,
    /// Maximum number of pairs of a map passed in either direction.
    pub map_pairs_max: usize,
    /// Maximum size of a value, body or message passed in either direction.
    ///
    /// # Units
    ///
    /// Bytes.
    pub value_bytes_max: usize,
    /// Maximum length of a log message or printed line; longer ones are cut.
    ///
    /// # Units
    ///
    /// Bytes.
    pub line_bytes_max: usize,
    /// Maximum output per call; more is dropped, and the number of dropped bytes is logged.
    ///
    /// # Units
    ///
    /// Bytes.
    pub printed_bytes_max: usize,
}

impl Default for WasmVmLimits {
    /// 10 ticks per call and 1,000 at the start, 64 MiB of memory, 100,000 table elements, 100,000 contexts, maps of 1
    /// MiB and 1,024 pairs, values of 16 MiB, lines of 8 KiB and 64 KiB of output.
    fn default() -> Self {
        Self {
            call_ticks_max: 10,
            start_ticks_max: 1_000,
            cpu_tick: None,
            memory_bytes_max: 64 << 20,
            table_elements_max: 100_000,
            contexts_max: 100_000,
            map_bytes_max: 1 << 20,
            map_pairs_max: 1_024,
            value_bytes_max: 16 << 20,
            line_bytes_max: 8 << 10,
            printed_bytes_max: 64 << 10,
        }
    }
}

impl WasmVmLimits {
    /// Returns the limits of the store.
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds {
            memory_bytes_max: self.memory_bytes_max,
            table_elements_max: self.table_elements_max,
            line_bytes_max: self.line_bytes_max,
            printed_bytes_max: self.printed_bytes_max,
            cpu_tick: self.cpu_tick,
        }
    }
}

impl<H: Host> Image<H> {
    /// Links a module with the host functions of this host.
    ///
    /// # Errors
    ///
    /// The module has more memories or tables than the engine allows.
    pub fn link(module: &Module, limits: WasmVmLimits, sandbox: Sandbox) -> Result<Self, ModuleError> {
        let instance = link(module).map_err(|source| ModuleError::Code { source })?;
        let shared = ImageShared { module: module.clone(), limits, sandbox: Arc::new(sandbox) };
        Ok(Self { shared: Arc::new(shared), instance })
    }

    /// Returns the module.
    pub fn module(&self) -> &Module {
        &self.shared.module
    }

    /// Returns the limits of the image's VMs.
    pub fn limits(&self) -> &WasmVmLimits {
        &self.shared.limits
    }

    /// Creates a VM and runs the module's start functions: `_initialize` and `main`, or `_start`.
    ///
    /// # Errors
    ///
    /// The maximum number of instances is reached, the module asks for more memory than it may have, or it fails.
    ///
    /// # Cost
    ///
    /// A pooled instance takes some microseconds, plus the time of the start functions.
    pub fn instantiate(&self, host: H) -> Result<Vm<H>, StartError> {
        Vm::start(Arc::clone(&self.shared), &self.instance, host)
    }
}

impl<H: Host> Clone for Image<H> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), instance: self.instance.clone() }
    }
}

/// Error of creating a VM.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// All instances of the pool are in use.
    #[error("all {instances_max} instances are in use")]
    Busy {
        /// Maximum number of instances.
        instances_max: u32,
    },
    /// The module cannot be instantiated within its limits.
    #[error("an instance of the module exceeds its limits: {reason}")]
    Limits {
        /// Resource that the module asked for.
        reason: String,
    },
    /// The module failed.
    #[error(transparent)]
    Fault(#[from] ModuleFault),
}

fn link<H: Host>(module: &Module) -> wasmtime::Result<InstancePre<VmState<H>>> {
    let mut linker = Linker::new(module.engine().machine());
    calls::define(&mut linker)?;
    for namespace in ["wasi_snapshot_preview1", "wasi_unstable"] {
        define_wasi(&mut linker, namespace)?;
    }
    for import in module.code().imports() {
        let name = format!("{}.{}", import.module(), import.name());
        if let ExternType::Func(function) = import.ty()
            && module.unknown_imports().contains(&name)
        {
            linker.func_new(import.module(), import.name(), function, move |_, _, _| {
                Err(wasmtime::Error::from(Missing(name.clone())))
            })?;
        }
    }
    linker.instantiate_pre(module.code())
}
