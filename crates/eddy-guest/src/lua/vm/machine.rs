//! Lua VM and its entry function.

use std::ffi::{CStr, c_int};
use std::ptr::{self, NonNull};
use std::slice;

use mlua_sys::{self as ffi, lua_State};

use super::budget::{self, CpuBudgetGuard};
use super::library::{self, HOST_GLOBALS};
use super::{Account, VmFault, VmLimits};

/// Lua VM for one script, with its own heap. Only one thread may use it at a time.
#[derive(Debug)]
pub(in crate::lua) struct Vm {
    state: NonNull<lua_State>,
    account: Box<Account>,
    limits: VmLimits,
    /// Maximum CPU time per entry.
    cpu_nanos: u64,
    /// A VM that has failed with more memory in use than this is not reused.
    kept_bytes_max: usize,
    is_exhausted: bool,
}

// SAFETY: a VM is not tied to the thread that created it, and `&mut` prevents concurrent use.
unsafe impl Send for Vm {}

impl Vm {
    /// Creates a VM in which a script finds only what `limits` allow.
    ///
    /// # Errors
    /// [`VmFault::Memory`], if not even the libraries fit.
    pub(in crate::lua) fn new(limits: &VmLimits) -> Result<Self, VmFault> {
        // SAFETY: the call has no preconditions.
        let state = NonNull::new(unsafe { ffi::luaL_newstate() }).ok_or_else(|| limits.memory_fault())?;
        // SAFETY: the VM is new, and `drop` closes it through the account.
        let account = unsafe { Account::open(state.as_ptr(), limits) };
        let kept_bytes_max = limits.memory_bytes / 2;
        let cpu_nanos = budget::nanos(limits.cpu);
        let vm = Self { state, account, limits: *limits, cpu_nanos, kept_bytes_max, is_exhausted: false };
        let limits = ptr::from_ref(limits).cast_mut().cast();
        // SAFETY: `set_up` gets the argument that it requires.
        let status = unsafe { ffi::lua_cpcall(vm.state(), library::set_up, limits) };
        if status == ffi::LUA_OK { Ok(vm) } else { Err(vm.take_fault(vm.state(), status)) }
    }

    /// Returns the main thread of the VM, for raw calls. Calls that may raise an error belong in [`Self::enter`].
    #[inline]
    pub(in crate::lua) fn state(&self) -> *mut lua_State {
        self.state.as_ptr()
    }

    /// Loads a script, as text, and pushes it as a function that sees the script's globals.
    ///
    /// # Errors
    /// [`VmFault::Script`] with the position of the error.
    pub(in crate::lua) fn load(&mut self, name: &CStr, text: &[u8]) -> Result<(), VmFault> {
        // SAFETY: text and name have the given lengths.
        let status = unsafe {
            ffi::luaL_loadbufferx(
                self.state(),
                text.as_ptr().cast(),
                text.len(),
                name.as_ptr(),
                c"t".as_ptr(),
            )
        };
        if status == ffi::LUA_OK { Ok(()) } else { Err(self.take_fault(self.state(), status)) }
    }

    /// Loads the host's Lua code, and pushes it as a function that sees every library, including `ffi`.
    ///
    /// Whatever it passes to the script must not give the script access to those.
    ///
    /// # Errors
    /// [`VmFault::Script`] with the position of the error.
    pub(in crate::lua) fn load_host(&mut self, name: &CStr, text: &str) -> Result<(), VmFault> {
        self.load(name, text.as_bytes())?;
        // SAFETY: the registry is a table and the name a C string; `set_up` left the field there.
        unsafe { ffi::lua_getfield_(self.state(), ffi::LUA_REGISTRYINDEX, HOST_GLOBALS.as_ptr()) };
        // SAFETY: the chunk is below the table on the stack.
        unsafe { ffi::lua_setfenv(self.state(), -2) };
        Ok(())
    }

    /// Calls `run`, which calls into the VM, within the limits, and returns its status.
    ///
    /// `run` makes one protected call, by `lua_pcall` or `lua_resume`, on `thread`, and returns its status. If that is
    /// an error, the value on top of that stack is popped.
    ///
    /// # Errors
    /// The limit that was exceeded, or the script's error.
    ///
    /// # Cost
    /// A few stores besides the call itself.
    #[inline]
    pub(in crate::lua) fn enter(
        &mut self,
        thread: *mut lua_State,
        run: impl FnOnce(*mut lua_State) -> c_int,
    ) -> Result<c_int, VmFault> {
        let turn = CpuBudgetGuard::begin(self.state(), self.cpu_nanos);
        let status = run(thread);
        let is_over = budget::is_over();
        drop(turn);
        if status <= ffi::LUA_YIELD && !is_over {
            Ok(status)
        } else {
            Err(self.fail(thread, status, is_over))
        }
    }

    /// Calls the function on the main thread's stack, and leaves its results there.
    ///
    /// # Errors
    /// As [`Self::enter`].
    pub(in crate::lua) fn call(&mut self, arguments: c_int, results: c_int) -> Result<(), VmFault> {
        let called = self.enter(self.state(), |state| {
            // SAFETY: the function and that many arguments are on the stack.
            unsafe { ffi::lua_pcall(state, arguments, results, 0) }
        });
        called.map(drop)
    }

    /// Pushes a copy of a value to the main thread's stack; `index` is that of a value or of the globals.
    #[inline]
    pub(in crate::lua) fn push(&self, index: c_int) {
        // SAFETY: the index is that of a value or of the globals, and there is room on the stack.
        unsafe { ffi::lua_pushvalue(self.state(), index) };
    }

    /// Sets the height of the main thread's stack.
    #[inline]
    pub(in crate::lua) fn truncate(&self, top: c_int) {
        // SAFETY: the stack has at least that many values, or is filled with nil.
        unsafe { ffi::lua_settop(self.state(), top) };
    }

    /// Whether the VM must be replaced because it has used up its memory.
    pub(in crate::lua) fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// Returns the memory of the VM in bytes.
    pub(in crate::lua) fn used_bytes(&self) -> usize {
        self.account.used_bytes()
    }

    #[cold]
    fn fail(&mut self, thread: *mut lua_State, status: c_int, is_over: bool) -> VmFault {
        let of_cpu = VmFault::Cpu(self.limits.cpu);
        let fault = if status > ffi::LUA_YIELD { self.take_fault(thread, status) } else { of_cpu.clone() };
        let fault = if is_over { of_cpu } else { fault };
        // A garbage collection would take longer than an entry may.
        self.is_exhausted |=
            matches!(fault, VmFault::Memory { .. }) || self.used_bytes() > self.kept_bytes_max;
        fault
    }

    /// Pops the error of a failed call.
    fn take_fault(&self, thread: *mut lua_State, status: c_int) -> VmFault {
        let is_full = status == ffi::LUA_ERRMEM;
        let fault = if is_full { self.limits.memory_fault() } else { VmFault::Script(message(thread)) };
        // SAFETY: a failed call leaves one value.
        unsafe { ffi::lua_pop(thread, 1) };
        fault
    }

    /// Returns the limits of the VM.
    pub(in crate::lua) fn limits(&self) -> &VmLimits {
        &self.limits
    }
}

impl Drop for Vm {
    fn drop(&mut self) {
        // SAFETY: the account is this VM's, and the VM has no other user.
        unsafe { self.account.close(self.state.as_ptr()) };
    }
}

/// Returns the error on top of the stack as a text, without running code of the script.
fn message(thread: *mut lua_State) -> String {
    // SAFETY: a failed call leaves one value.
    if unsafe { ffi::lua_type(thread, -1) } != ffi::LUA_TSTRING {
        return "an error that is not a string".to_owned();
    }
    let mut len = 0;
    // SAFETY: the value is a string, so that nothing is converted and no error raised.
    let text = unsafe { ffi::lua_tolstring(thread, -1, &raw mut len) };
    // SAFETY: the string stays on the stack meanwhile, and has this length.
    let text = unsafe { slice::from_raw_parts(text.cast::<u8>(), len.min(MESSAGE_BYTES_MAX)) };
    String::from_utf8_lossy(text).into_owned()
}

const MESSAGE_BYTES_MAX: usize = 1024;
