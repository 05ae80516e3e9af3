//! Entry into callbacks of a module.

use wasm_sandbox::begin;
use wasmtime::{WasmParams, WasmResults};

use crate::abi::Callback;
use crate::fault::{ModuleFault, ModuleFaultKind, ModuleResult};
use crate::host::Host;
use crate::ids::ContextId;

use super::exports::{Export, Exports};
use super::machine::Vm;

impl<H: Host> Vm<H> {
    /// Enters a callback on behalf of a context; returns `None` if the module does not have it.
    pub(super) fn enter<P: WasmParams, R: WasmResults>(
        &mut self,
        context: ContextId,
        export: impl Fn(&mut Exports) -> &mut Export<P, R>,
        params: P,
    ) -> ModuleResult<Option<R>> {
        let callback = export(&mut self.exports).callback;
        self.check(callback, context)?;
        let function = match export(&mut self.exports).get(self.instance, &mut self.store) {
            Ok(Some(function)) => function,
            Ok(None) => return Ok(None),
            Err(error) => return Err(self.fail(callback, &error)),
        };
        let state = self.store.data_mut();
        state.effective = Some(context);
        state.callback = Some(callback);
        let limits = &state.shared.limits;
        let is_start = matches!(callback, Callback::VmStart | Callback::Configure);
        let ticks = if is_start { limits.start_ticks_max } else { limits.call_ticks_max };
        begin(&mut self.store, ticks);
        let result = function.call(&mut self.store, params);
        self.store.data_mut().end_call();
        match result {
            Ok(result) => Ok(Some(result)),
            Err(error) => Err(self.fail(callback, &error)),
        }
    }

    /// Checks that the VM is usable and that the context exists.
    fn check(&self, callback: Callback, context: ContextId) -> ModuleResult {
        if let Some(fault) = &self.fault {
            let message = format!("it failed before: {}", fault.message());
            return Err(ModuleFault::new(ModuleFaultKind::Dead, Some(callback), message));
        }
        if !self.store.data().contexts.has(context) {
            let message = format!("context {} does not exist", context.0);
            return Err(ModuleFault::new(ModuleFaultKind::UnknownContext, Some(callback), message));
        }
        Ok(())
    }

    fn fail(&mut self, callback: Callback, error: &wasmtime::Error) -> ModuleFault {
        let refused = self.store.data().confinement.refused();
        self.die(ModuleFault::of_error(error, Some(callback), refused))
    }

    /// Fails the VM because a callback returned an invalid number.
    pub(super) fn bad_return(&mut self, callback: Callback, number: u32) -> ModuleFault {
        let message = format!("it returned the invalid number {number}");
        self.die(ModuleFault::new(ModuleFaultKind::BadReturn(number), Some(callback), message))
    }
}
