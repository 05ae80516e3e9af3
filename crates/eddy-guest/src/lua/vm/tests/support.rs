//! Support for running scripts in VMs.

use std::time::Duration;

use mlua_sys as ffi;

use crate::lua::vm::{Vm, VmFault, VmLimits};

/// Returns a VM with default limits.
pub(super) fn vm() -> Vm {
    Vm::new(&VmLimits::default()).expect("a machine")
}

/// Runs a script and returns its result as a text.
pub(super) fn run(vm: &mut Vm, script: &str) -> Result<String, VmFault> {
    vm.load(c"=script", script.as_bytes())?;
    let state = vm.state();
    // SAFETY: the script is on top of the stack, and takes no arguments.
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

/// Returns the CPU time that this thread has used.
pub(super) fn cpu() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` may be written to.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
}
