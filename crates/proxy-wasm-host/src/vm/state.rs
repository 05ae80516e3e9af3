//! What a machine knows while its module runs.

use std::sync::Arc;

use wasmtime::{Memory, TypedFunc};

use crate::abi::{Callback, LogLevel};
use crate::host::{Host, Scope};
use crate::ids::ContextId;
use crate::image::Shared;

use super::contexts::Contexts;
use super::limiter::Limiter;
use super::meter::Meter;
use super::printed::Printed;

/// What a machine knows while its module runs.
pub(crate) struct State<H> {
    pub(crate) shared: Arc<Shared>,
    /// Away while one of its methods runs and while the module gives memory for what such a method gave: host functions
    /// called meanwhile are refused.
    pub(crate) host: Option<Box<H>>,
    /// The module's memory; none until its start function has run.
    pub(crate) memory: Option<Memory>,
    /// Gives memory; away while it does.
    pub(crate) allocator: Option<Box<TypedFunc<u32, u32>>>,
    pub(crate) contexts: Contexts,
    pub(crate) effective: Option<ContextId>,
    pub(crate) callback: Option<Callback>,
    pub(crate) vm_configuration: Arc<[u8]>,
    pub(crate) foreign_arguments: Arc<[u8]>,
    pub(crate) printed: Printed,
    pub(crate) limiter: Limiter,
    pub(crate) meter: Meter,
}

impl<H: Host> State<H> {
    pub(crate) fn new(shared: Arc<Shared>, host: H) -> Self {
        let limiter = Limiter {
            memory_bytes_max: shared.limits.memory_bytes_max,
            table_elements_max: shared.limits.table_elements_max,
            has_refused: false,
        };
        Self {
            shared,
            host: Some(Box::new(host)),
            memory: None,
            allocator: None,
            contexts: Contexts::default(),
            effective: None,
            callback: None,
            vm_configuration: Arc::default(),
            foreign_arguments: Arc::default(),
            printed: Printed::default(),
            limiter,
            meter: Meter::default(),
        }
    }

    /// On whose behalf the module calls.
    pub(crate) fn scope(&self) -> Scope {
        Scope { context: self.effective, callback: self.callback }
    }

    /// Hands lines to the host, if it is not away.
    pub(crate) fn print(&mut self) {
        if !self.printed.has_lines() {
            return;
        }
        let scope = self.scope();
        let Some(host) = &mut self.host else { return };
        for line in self.printed.take_lines() {
            host.print(scope, line.output, &line.text);
        }
    }

    /// The callback is over.
    pub(crate) fn end_call(&mut self) {
        self.print();
        let dropped = self.printed.end_call();
        if dropped > 0
            && let Some(host) = &mut self.host
        {
            let scope = Scope { context: self.effective, callback: self.callback };
            let message = format!("{dropped} bytes that the module printed were dropped");
            host.log(scope, LogLevel::Warn, message.as_bytes());
        }
        self.callback = None;
        self.effective = None;
    }

    /// The module runs no more: hands over what it printed last.
    pub(crate) fn end(&mut self) {
        let scope = self.scope();
        let rest = self.printed.take_rest();
        if let Some(host) = &mut self.host {
            for line in rest {
                host.print(scope, line.output, &line.text);
            }
        }
    }
}
