//! A module that is linked and ready to be started again and again.

use std::sync::Arc;
use std::time::Duration;

use wasm_sandbox::{Bounds, Missing, Sandbox, define_wasi};
use wasmtime::{ExternType, InstancePre, Linker};

use crate::calls;
use crate::fault::ModuleFault;
use crate::host::Host;
use crate::module::{Module, ModuleError};
use crate::vm::{Vm, VmState};

/// A module with everything that its machines have in common. Clones are the same image.
pub struct Image<H: Host> {
    shared: Arc<ImageShared>,
    instance: InstancePre<VmState<H>>,
}

/// What machines of an image have in common.
pub(crate) struct ImageShared {
    pub(crate) module: Module,
    pub(crate) limits: WasmVmLimits,
    pub(crate) sandbox: Arc<Sandbox>,
}

/// What a machine may use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WasmVmLimits {
    /// Ticks of [`Engine::tick`](crate::Engine::tick) that a call may see before it is stopped, so a call has at least
    /// this many periods less one.
    pub call_ticks_max: u64,
    /// The same for instantiation, for what the module does first, for `on_vm_start` and for `on_configure`, each by itself.
    pub start_ticks_max: u64,
    /// How long a tick is, if calls are to be stopped by the CPU time of their thread instead of by the clock: then a
    /// thread that the system lets wait is not blamed for it, and a call may use as much CPU as its ticks are long, and
    /// two more. By default the clock counts.
    pub cpu_tick: Option<Duration>,
    /// Memory of a machine, within what the engine allows.
    ///
    /// # Units
    ///
    /// Bytes.
    pub memory_bytes_max: usize,
    /// Elements of each of its tables, within what the engine allows.
    pub table_elements_max: usize,
    /// Contexts at a time, plugins and streams together.
    pub contexts_max: usize,
    /// A map that crosses, in either direction.
    ///
    /// # Units
    ///
    /// Bytes.
    pub map_bytes_max: usize,
    /// Pairs of a map that crosses, in either direction.
    pub map_pairs_max: usize,
    /// A value, body or message that crosses, in either direction.
    ///
    /// # Units
    ///
    /// Bytes.
    pub value_bytes_max: usize,
    /// A record or a printed line; what is longer is cut.
    ///
    /// # Units
    ///
    /// Bytes.
    pub line_bytes_max: usize,
    /// What is printed during a call; more is dropped, and how much is told in a record.
    ///
    /// # Units
    ///
    /// Bytes.
    pub printed_bytes_max: usize,
}

impl Default for WasmVmLimits {
    /// 10 ticks a call and 1,000 at the start, 64 MiB, 100,000 elements, 100,000 contexts, maps of 1 MiB and 1,024 pairs, values of 16 MiB, lines of 8 KiB
    /// and 64 KiB printed.
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
    /// What they mean to a store.
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
    /// Links a module with the functions of this host.
    ///
    /// # Errors
    ///
    /// The module has more memories or tables than the engine allows.
    pub fn link(module: &Module, limits: WasmVmLimits, sandbox: Sandbox) -> Result<Self, ModuleError> {
        let instance = link(module).map_err(|source| ModuleError::Code { source })?;
        let shared = ImageShared { module: module.clone(), limits, sandbox: Arc::new(sandbox) };
        Ok(Self { shared: Arc::new(shared), instance })
    }

    /// The module.
    pub fn module(&self) -> &Module {
        &self.shared.module
    }

    /// What its machines may use.
    pub fn limits(&self) -> &WasmVmLimits {
        &self.shared.limits
    }

    /// Makes a machine and runs what the module does first: `_initialize` and `main`, or `_start`.
    ///
    /// # Errors
    ///
    /// There are as many instances as there may be, the module asks for more memory than it may have, or it fails.
    ///
    /// # Cost
    ///
    /// A pooled instance takes some microseconds, and what the module does first.
    pub fn instantiate(&self, host: H) -> Result<Vm<H>, StartError> {
        Vm::start(Arc::clone(&self.shared), &self.instance, host)
    }
}

impl<H: Host> Clone for Image<H> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), instance: self.instance.clone() }
    }
}

/// Why there is no machine.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// As many instances live as the pool has room for.
    #[error("all {instances_max} instances are in use")]
    Busy {
        /// How many there may be.
        instances_max: u32,
    },
    /// There can be no instance of this module within its limits.
    #[error("an instance of the module does not fit its limits: {reason}")]
    Limits {
        /// What it asked for.
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
