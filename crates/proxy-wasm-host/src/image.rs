//! Module that is linked and ready to be instantiated many times.

use std::sync::Arc;

use wasm_sandbox::{Missing, Sandbox, define_wasi};
use wasmtime::{ExternType, InstancePre, Linker};

use crate::calls;
use crate::host::Host;
use crate::limits::WasmVmLimits;
use crate::module::{Module, ModuleError};
use crate::vm::{ImageShared, StartError, Vm, VmState};

/// Linked module with the state that its VMs share. Clones share the image.
pub struct Image<H: Host> {
    shared: Arc<ImageShared>,
    instance: InstancePre<VmState<H>>,
}

impl<H: Host> Image<H> {
    /// Links a module with the host functions of this host.
    ///
    /// # Errors
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

    /// Returns the same image with other limits.
    #[must_use]
    pub fn with_limits(&self, limits: WasmVmLimits) -> Self {
        let ImageShared { module, sandbox, .. } = &*self.shared;
        let shared = ImageShared { module: module.clone(), limits, sandbox: Arc::clone(sandbox) };
        Self { shared: Arc::new(shared), instance: self.instance.clone() }
    }

    /// Creates a VM and runs the module's start functions: `_initialize` and `main`, or `_start`.
    ///
    /// # Errors
    /// The maximum number of instances is reached, the module asks for more memory than it may have, or it fails.
    ///
    /// # Cost
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
