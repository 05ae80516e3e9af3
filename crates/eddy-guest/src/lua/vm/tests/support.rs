//! Support for running scripts in VMs.

use mlua_sys as ffi;

use crate::lua::vm::{Vm, VmFault, VmLimits};

/// Returns a VM with default limits.
pub(super) fn vm() -> Vm {
    Vm::new(&VmLimits::default()).expect("a machine")
}

/// Runs a script and returns its result as a text.
pub(super) fn run(vm: &mut Vm, script: &str) -> Result<String, VmFault> {
    vm.load(c"=script", script.as_bytes())?;
    vm.call(0, 1)?;
    let state = vm.state();
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

/// Runs a script in a coroutine of its own; returns an error if it was aborted.
pub(super) fn run_coroutine(vm: &mut Vm, script: &str) -> Result<(), VmFault> {
    vm.load(c"=script", script.as_bytes())?;
    let state = vm.state();
    // SAFETY: there is room on the stack, and memory for a coroutine.
    let thread = unsafe { ffi::lua_newthread(state) };
    // SAFETY: there is room on the stack.
    unsafe { ffi::lua_pushvalue(state, -2) };
    // SAFETY: the script is on top of the stack.
    unsafe { ffi::lua_xmove(state, thread, 1) };
    // SAFETY: the coroutine has the script, which takes no arguments.
    let outcome = vm.enter(thread, |thread| unsafe { ffi::lua_resume_(thread, 0) });
    // SAFETY: script and coroutine are on the stack.
    unsafe { ffi::lua_settop(state, 0) };
    outcome.map(drop)
}
