//! Store data of a VM.

use std::sync::Arc;

use wasm_sandbox::{Confined, Confinement, Sandbox};
use wasmtime::TypedFunc;

use crate::abi::{Callback, LogLevel};
use crate::host::{CallerScope, Host};
use crate::ids::ContextId;
use crate::limits::WasmVmLimits;
use crate::module::Module;

use super::contexts::Contexts;

/// Store data of a VM.
pub(crate) struct VmState<H> {
    pub(crate) shared: Arc<ImageShared>,
    /// Taken out while one of its methods runs and while the module allocates memory for the result of such a method:
    /// host functions called meanwhile are refused.
    pub(crate) host: Option<Box<H>>,
    /// Allocator function of the module; taken out while it runs.
    pub(crate) allocator: Option<Box<TypedFunc<u32, u32>>>,
    pub(crate) contexts: Contexts,
    pub(crate) effective: Option<ContextId>,
    pub(crate) callback: Option<Callback>,
    pub(crate) vm_configuration: Arc<[u8]>,
    pub(crate) foreign_arguments: Arc<[u8]>,
    /// Confinement; has the module's memory once the module is instantiated.
    pub(crate) confinement: Confinement,
}

impl<H: Host> VmState<H> {
    pub(crate) fn new(shared: Arc<ImageShared>, host: H) -> Self {
        let confinement = Confinement::new(shared.limits.bounds(), Arc::clone(&shared.sandbox));
        Self {
            shared,
            host: Some(Box::new(host)),
            allocator: None,
            contexts: Contexts::default(),
            effective: None,
            callback: None,
            vm_configuration: Arc::default(),
            foreign_arguments: Arc::default(),
            confinement,
        }
    }

    /// Returns the scope of the current host call.
    pub(crate) fn scope(&self) -> CallerScope {
        CallerScope { context: self.effective, callback: self.callback }
    }

    /// Ends a callback and reports dropped output.
    pub(crate) fn end_call(&mut self) {
        self.handle_lines();
        let (scope, dropped) = (self.scope(), self.confinement.printed.end_call());
        if dropped > 0
            && let Some(host) = &mut self.host
        {
            let message = format!("{dropped} bytes of module output were dropped");
            host.log(scope, LogLevel::Warn, message.as_bytes());
        }
        self.callback = None;
        self.effective = None;
    }

    /// Passes the remaining output to the host, when the module will not run again.
    pub(crate) fn end(&mut self) {
        let scope = self.scope();
        let rest = self.confinement.printed.take_rest();
        if let Some(host) = &mut self.host {
            for line in rest {
                host.print(scope, line.output, &line.text);
            }
        }
    }
}

impl<H: Host> Confined for VmState<H> {
    fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    fn confinement_mut(&mut self) -> &mut Confinement {
        &mut self.confinement
    }

    /// Passes printed lines to the host, unless it is taken out.
    fn handle_lines(&mut self) {
        let scope = self.scope();
        let Some(host) = &mut self.host else { return };
        for line in self.confinement.printed.take_lines() {
            host.print(scope, line.output, &line.text);
        }
    }
}

/// State shared by the VMs of an image.
pub(crate) struct ImageShared {
    pub(crate) module: Module,
    pub(crate) limits: WasmVmLimits,
    pub(crate) sandbox: Arc<Sandbox>,
}
