//! Limit on nested C calls: a sort in a comparator, a coroutine in a coroutine.

use std::ffi::c_int;

use mlua_sys::{self as ffi, lua_State};

use super::budget;

/// `check_depth()`: raises an error if the thread's stack has grown too much since the VM was entered. Lua code has a
/// stack of its own; library functions that call back into Lua call this first.
///
/// # Safety
/// To be called by Lua.
pub(super) unsafe extern "C-unwind" fn check_depth(state: *mut lua_State) -> c_int {
    if budget::stack_bytes() <= STACK_BYTES_MAX {
        return 0;
    }
    // SAFETY: a C function has room for 20 values; adds the position of the call.
    unsafe { ffi::luaL_where(state, 2) };
    // SAFETY: as above, and the text is a C string.
    unsafe { ffi::lua_pushstring_(state, c"stack overflow".as_ptr()) };
    // SAFETY: there are two strings on top of the stack.
    unsafe { ffi::lua_concat(state, 2) };
    // SAFETY: the error is on top of the stack; nothing on this frame has a destructor.
    unsafe { ffi::lua_error(state) }
}

/// Enough for some two hundred nested coroutines; a small part of any thread's stack.
const STACK_BYTES_MAX: usize = 64 << 10;
