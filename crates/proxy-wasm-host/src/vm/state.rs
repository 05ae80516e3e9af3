//! What a machine knows while its module runs.

use std::sync::Arc;

use wasm_sandbox::{Confined, Confinement};
use wasmtime::TypedFunc;

use crate::abi::{Callback, LogLevel};
use crate::host::{CallerScope, Host};
use crate::ids::ContextId;
use crate::image::ImageShared;

use super::contexts::Contexts;

/// What a machine knows while its module runs.
pub(crate) struct VmState<H> {
    pub(crate) shared: Arc<ImageShared>,
    /// Away while one of its methods runs and while the module gives memory for what such a method gave: host functions
    /// called meanwhile are refused.
    pub(crate) host: Option<Box<H>>,
    /// Gives memory; away while it does.
    pub(crate) allocator: Option<Box<TypedFunc<u32, u32>>>,
    pub(crate) contexts: Contexts,
    pub(crate) effective: Option<ContextId>,
    pub(crate) callback: Option<Callback>,
    pub(crate) vm_configuration: Arc<[u8]>,
    pub(crate) foreign_arguments: Arc<[u8]>,
    /// Has the module's memory, from when its start function has run.
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

    /// On whose behalf the module calls.
    pub(crate) fn scope(&self) -> CallerScope {
        CallerScope { context: self.effective, callback: self.callback }
    }

    /// The callback is over.
    pub(crate) fn end_call(&mut self) {
        self.handle_lines();
        let dropped = self.confinement.end_call();
        if dropped > 0
            && let Some(host) = &mut self.host
        {
            let scope = CallerScope { context: self.effective, callback: self.callback };
            let message = format!("{dropped} bytes that the module printed were dropped");
            host.log(scope, LogLevel::Warn, message.as_bytes());
        }
        self.callback = None;
        self.effective = None;
    }

    /// The module runs no more: hands over what it printed last.
    pub(crate) fn end(&mut self) {
        let scope = self.scope();
        let rest = self.confinement.take_rest();
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

    /// Hands lines to the host, if it is not away.
    fn handle_lines(&mut self) {
        if !self.confinement.has_lines() {
            return;
        }
        let scope = self.scope();
        let Some(host) = &mut self.host else { return };
        for line in self.confinement.take_lines() {
            host.print(scope, line.output, &line.text);
        }
    }
}
