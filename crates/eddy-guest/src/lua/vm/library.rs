//! Opens the libraries of a new VM and hides most of them from its script.

use std::ffi::{CStr, c_int};

use mlua_sys::{self as ffi, lua_CFunction, lua_State};

use super::{VmLimits, depth, pattern};

/// Opens the libraries and replaces the globals by the script's own table. The host's Lua code finds the real globals
/// under [`HOST_GLOBALS`] in the registry.
///
/// # Safety
/// To be called by `lua_cpcall` in a new VM, with a light userdata that points to [`VmLimits`].
pub(super) unsafe extern "C-unwind" fn set_up(state: *mut lua_State) -> c_int {
    // SAFETY: `lua_cpcall` passes one argument.
    let limits = unsafe { ffi::lua_touserdata(state, 1) };
    // SAFETY: the caller passed a pointer to limits that live until it returns.
    let limits = unsafe { &*limits.cast::<VmLimits>() };
    let stack = Stack(state);
    for (name, open) in OPENED {
        stack.open(name, *open);
    }
    if limits.allow.os {
        stack.open(c"os", ffi::luaopen_os);
    }
    if limits.allow.io {
        stack.open(c"io", ffi::luaopen_io);
    }
    if limits.allow.package {
        stack.open(c"package", ffi::luaopen_package);
    }
    // `luaopen_ffi` defines no global.
    stack.call(c"ffi", ffi::luaopen_ffi, 1);
    stack.set_field(ffi::LUA_GLOBALSINDEX, c"ffi");
    stack.bound_compiled_code();
    stack.make_globals(limits);
    0
}

/// Stack of a VM inside a protected call, to which errors propagate.
struct Stack(*mut lua_State);

impl Stack {
    fn open(&self, name: &CStr, open: lua_CFunction) {
        self.call(name, open, 0);
    }

    /// Calls the function that opens a library, and leaves `results` values.
    fn call(&self, name: &CStr, open: lua_CFunction, results: c_int) {
        // SAFETY: a C function starts with room for 20 values; no more than a few are used here and below.
        unsafe { ffi::lua_pushcfunction(self.0, open) };
        // SAFETY: `name` is a C string.
        unsafe { ffi::lua_pushstring_(self.0, name.as_ptr()) };
        // SAFETY: the function and its argument are on top of the stack.
        unsafe { ffi::lua_call(self.0, 1, results) };
    }

    /// Sets a field of the table at `index` to the value on top of the stack, and pops it.
    fn set_field(&self, index: c_int, name: &CStr) {
        // SAFETY: there is a table at `index`, and `name` is a C string.
        unsafe { ffi::lua_setfield(self.0, index, name.as_ptr()) };
    }

    fn get_field(&self, index: c_int, name: &CStr) {
        // SAFETY: there is a table at `index`, and `name` is a C string.
        unsafe { ffi::lua_getfield_(self.0, index, name.as_ptr()) };
    }

    fn push_bool(&self, value: bool) {
        // SAFETY: there is room on the stack.
        unsafe { ffi::lua_pushboolean(self.0, c_int::from(value)) };
    }

    fn pop(&self, count: c_int) {
        // SAFETY: the stack has at least that many values.
        unsafe { ffi::lua_pop(self.0, count) };
    }

    /// Sets the limits of the JIT compiler.
    fn bound_compiled_code(&self) {
        self.get_field(ffi::LUA_GLOBALSINDEX, c"jit");
        self.get_field(-1, c"opt");
        self.get_field(-1, c"start");
        for option in COMPILED_CODE {
            // SAFETY: the option is a C string, and there is room for it.
            unsafe { ffi::lua_pushstring_(self.0, option.as_ptr()) };
        }
        // SAFETY: the function and its arguments are on top of the stack.
        unsafe { ffi::lua_call(self.0, c_int::try_from(COMPILED_CODE.len()).unwrap_or(0), 0) };
        self.pop(2);
    }

    fn make_globals(&self, limits: &VmLimits) {
        // SAFETY: the text and its name have static lifetime.
        let status = unsafe {
            ffi::luaL_loadbuffer(self.0, SANDBOX.as_ptr().cast(), SANDBOX.len(), c"=eddy/sandbox".as_ptr())
        };
        if status != ffi::LUA_OK {
            // SAFETY: the error is on top of the stack; nothing on this frame has a destructor.
            unsafe { ffi::lua_error(self.0) };
        }
        // SAFETY: there is room on the stack.
        unsafe { ffi::lua_createtable(self.0, 0, 4) };
        let allow = limits.allow;
        for (name, value) in
            [(c"os", allow.os), (c"io", allow.io), (c"package", allow.package), (c"ffi", allow.ffi)]
        {
            self.push_bool(value);
            self.set_field(-2, name);
        }
        let string_bytes_max =
            ffi::lua_Integer::try_from(limits.block_bytes()).unwrap_or(ffi::lua_Integer::MAX);
        // SAFETY: there is room on the stack.
        unsafe { ffi::lua_pushinteger(self.0, string_bytes_max) };
        // SAFETY: there is room on the stack.
        unsafe { ffi::lua_createtable(self.0, 0, 8) };
        for (name, function) in pattern::FUNCTIONS.iter().chain(&[(c"check_depth", CHECK_DEPTH)]) {
            // SAFETY: there is room on the stack.
            unsafe { ffi::lua_pushcfunction(self.0, *function) };
            self.set_field(-2, name);
        }
        // SAFETY: there is room on the stack.
        unsafe { ffi::lua_pushnumber(self.0, limits.pattern_steps.into()) };
        // SAFETY: the chunk and its arguments are on top of the stack.
        unsafe { ffi::lua_call(self.0, 4, 1) };
        // SAFETY: the index is that of the globals.
        unsafe { ffi::lua_pushvalue(self.0, ffi::LUA_GLOBALSINDEX) };
        self.set_field(ffi::LUA_REGISTRYINDEX, HOST_GLOBALS);
        // SAFETY: the script's table is on top of the stack; new coroutines and chunks inherit it.
        unsafe { ffi::lua_replace(self.0, ffi::LUA_GLOBALSINDEX) };
    }
}

/// Registry key of the real globals, for the host's Lua code.
pub(super) const HOST_GLOBALS: &CStr = c"eddy.host";

const SANDBOX: &str = include_str!("sandbox.lua");

const CHECK_DEPTH: lua_CFunction = depth::check_depth;

const OPENED: &[(&CStr, lua_CFunction)] = &[
    (c"", ffi::luaopen_base),
    (c"table", ffi::luaopen_table),
    (c"string", ffi::luaopen_string),
    (c"math", ffi::luaopen_math),
    (c"bit", ffi::luaopen_bit),
    (c"jit", ffi::luaopen_jit),
];

/// Limits of compiled code, which does not count as memory: machine code in KiB, and number of traces.
const COMPILED_CODE: &[&CStr] = &[c"maxmcode=512", c"maxtrace=1000"];
