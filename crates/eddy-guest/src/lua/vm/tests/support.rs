//! Runs scripts in machines.

use mlua_sys as ffi;

use crate::lua::vm::{Vm, VmFault, VmLimits};

/// A machine with the limits that are usual.
pub(super) fn vm() -> Vm {
    Vm::new(&VmLimits::default()).expect("a machine")
}

/// Runs a script; answers with what it returns as a text.
pub(super) fn run(vm: &mut Vm, script: &str) -> Result<String, VmFault> {
    vm.load(c"=script", script.as_bytes())?;
    let state = vm.state();
    // SAFETY: the script is on the top of the stack, and takes nothing.
    vm.enter(state, |state| unsafe { ffi::lua_pcall(state, 0, 1, 0) })?;
    let mut len = 0;
    // SAFETY: there is one value.
    let text = unsafe { ffi::lua_tolstring(state, -1, &raw mut len) };
    let result = if text.is_null() {
        "nil".to_owned()
    } else {
        // SAFETY: the value is on the stack and has that length.
        String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(text.cast::<u8>(), len) }).into_owned()
    };
    // SAFETY: the result is on the stack.
    unsafe { ffi::lua_settop(state, 0) };
    Ok(result)
}
