//! VM: creation, access to its host, and its end.

use std::sync::Arc;

use wasm_sandbox::{Allocation, begin, confine};
use wasmtime::{Instance, InstancePre, PoolConcurrencyLimitError, Store, WasmParams, WasmResults};

use crate::abi::Callback;
use crate::fault::{ModuleFault, ModuleFaultKind};
use crate::host::Host;
use crate::module::Module;

use super::exports::Exports;
use super::state::{ImageShared, VmState};

/// Instance of a module with its memory, contexts and host.
///
/// It is used by one thread at a time. When the module fails, the VM can no longer be used: it refuses every further
/// call, and is to be replaced by another of the same [`Image`](crate::Image).
pub struct Vm<H: Host> {
    pub(super) store: Store<VmState<H>>,
    pub(super) instance: Instance,
    pub(super) exports: Exports,
    pub(super) fault: Option<ModuleFault>,
}

impl<H: Host> Vm<H> {
    pub(crate) fn start(
        shared: Arc<ImageShared>,
        image: &InstancePre<VmState<H>>,
        host: H,
    ) -> Result<Self, StartError> {
        let exports = Exports::new(&shared.module);
        let state = VmState::new(Arc::clone(&shared), host);
        let mut store = confine(shared.module.engine(), state);
        begin_start(&mut store);
        let instance = image.instantiate(&mut store).map_err(|error| start_error(&mut store, &error))?;
        let mut vm = Self { store, instance, exports, fault: None };
        vm.prepare().map_err(|error| start_error(&mut vm.store, &error))?;
        Ok(vm)
    }

    /// Looks up the module's memory and allocator and runs its start functions.
    fn prepare(&mut self) -> wasmtime::Result<()> {
        let shared = Arc::clone(&self.store.data().shared);
        let memory = self.instance.get_memory(&mut self.store, "memory");
        let allocator =
            self.instance.get_typed_func::<u32, u32>(&mut self.store, shared.module.allocator())?;
        let state = self.store.data_mut();
        state.confinement.memory = memory;
        state.allocator = Some(Box::new(allocator));
        if self.run::<(), ()>("_initialize", ())? {
            self.run::<(u32, u32), u32>("main", (0, 0))?;
        } else {
            self.run::<(), ()>("_start", ())?;
        }
        self.store.data_mut().end_call();
        Ok(())
    }

    /// Runs a start function; returns `false` if it does not exist.
    fn run<P: WasmParams, R: WasmResults>(&mut self, name: &str, params: P) -> wasmtime::Result<bool> {
        let Some(function) = self.instance.get_func(&mut self.store, name) else { return Ok(false) };
        let function = function.typed::<P, R>(&self.store)?;
        begin_start(&mut self.store);
        function.call(&mut self.store, params)?;
        Ok(true)
    }

    /// Returns the module.
    pub fn module(&self) -> &Module {
        &self.store.data().shared.module
    }

    /// Whether the module has this callback. Calling a missing callback costs nothing.
    pub fn has(&self, callback: Callback) -> bool {
        self.module().has(callback)
    }

    /// Returns the host.
    ///
    /// # Panics
    /// A method of the host panicked during an earlier call, and the panic was caught.
    pub fn host(&self) -> &H {
        self.store.data().host.as_deref().expect("the host is away only during a call")
    }

    /// Returns the host for modification.
    ///
    /// # Panics
    /// A method of the host panicked during an earlier call, and the panic was caught.
    pub fn host_mut(&mut self) -> &mut H {
        self.store.data_mut().host.as_deref_mut().expect("the host is away only during a call")
    }

    /// Ends the VM and returns the host; `None` if one of its methods panicked.
    pub fn into_host(self) -> Option<H> {
        self.store.into_data().host.map(|host| *host)
    }

    /// Returns the fault after which the VM can no longer be used, if any.
    pub fn fault(&self) -> Option<&ModuleFault> {
        self.fault.as_ref()
    }

    /// Returns the number of contexts.
    pub fn contexts(&self) -> usize {
        self.store.data().contexts.len()
    }

    /// Returns the current size of the module's memory.
    ///
    /// # Units
    /// Bytes.
    pub fn memory_bytes(&self) -> usize {
        self.store.data().confinement.memory.map_or(0, |memory| memory.data_size(&self.store))
    }

    pub(super) fn die(&mut self, fault: ModuleFault) -> ModuleFault {
        self.fault = Some(fault.clone());
        self.store.data_mut().end();
        fault
    }
}

/// Begins a start function, with its own tick limit.
fn begin_start<H: Host>(store: &mut Store<VmState<H>>) {
    let ticks = store.data().shared.limits.start_ticks_max;
    begin(store, ticks);
}

fn start_error<H: Host>(store: &mut Store<VmState<H>>, error: &wasmtime::Error) -> StartError {
    let state = store.data_mut();
    state.end();
    if error.is::<PoolConcurrencyLimitError>()
        && let Allocation::Pooled { instances_max } = state.shared.module.engine().settings().allocation
    {
        return StartError::Busy { instances_max };
    }
    let fault = ModuleFault::of_error(error, None, state.confinement.refused());
    if fault.kind() == ModuleFaultKind::Host && state.confinement.memory.is_none() {
        return StartError::Limits { reason: format!("{error:#}") };
    }
    StartError::Fault(fault)
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
