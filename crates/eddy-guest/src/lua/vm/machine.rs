//! A virtual machine and the way into it.

use std::ffi::{CStr, c_int};
use std::ptr::{self, NonNull};
use std::slice;

use mlua_sys::{self as ffi, lua_State};

use super::budget::{self, CpuBudgetGuard};
use super::library::{self, HOST_GLOBALS};
use super::{Account, VmFault, VmLimits};

/// A virtual machine for one script, with its own heap. Only one thread may use it at a time.
#[derive(Debug)]
pub(in crate::lua) struct Vm {
    state: NonNull<lua_State>,
    account: Box<Account>,
    limits: VmLimits,
    /// CPU time of one entry.
    cpu_nanos: u64,
    /// Beyond this, a machine that has failed is not used any more.
    kept_bytes_max: usize,
    is_spent: bool,
}

// SAFETY: a machine has no ties to the thread that made it, and `&mut` keeps others out.
unsafe impl Send for Vm {}

impl Vm {
    /// A machine in which a script finds only what `limits` allow.
    ///
    /// # Errors
    /// [`VmFault::Memory`], where not even the libraries find room.
    pub(in crate::lua) fn new(limits: &VmLimits) -> Result<Self, VmFault> {
        // SAFETY: the call needs nothing.
        let state = NonNull::new(unsafe { ffi::luaL_newstate() }).ok_or_else(|| limits.memory_fault())?;
        // SAFETY: the machine is new, and `drop` closes it by way of the account.
        let account = unsafe { Account::open(state.as_ptr(), limits) };
        let kept_bytes_max = limits.memory_bytes / 2;
        let cpu_nanos = budget::nanos(limits.cpu);
        let vm = Self { state, account, limits: *limits, cpu_nanos, kept_bytes_max, is_spent: false };
        let limits = ptr::from_ref(limits).cast_mut().cast();
        // SAFETY: `set_up` gets what it asks for.
        let status = unsafe { ffi::lua_cpcall(vm.state(), library::set_up, limits) };
        if status == ffi::LUA_OK { Ok(vm) } else { Err(vm.take_fault(vm.state(), status)) }
    }

    /// The main thread of the machine, for raw calls. What may raise an error belongs into [`Self::enter`].
    #[inline]
    pub(in crate::lua) fn state(&self) -> *mut lua_State {
        self.state.as_ptr()
    }

    /// Loads a script, as text, and leaves it on the stack as a function that sees the script's globals.
    ///
    /// # Errors
    /// [`VmFault::Script`] with the place of what is wrong.
    pub(in crate::lua) fn load(&mut self, name: &CStr, text: &[u8]) -> Result<(), VmFault> {
        // SAFETY: text and name are as long as they say.
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

    /// Loads a chunk of the host, and leaves it on the stack as a function that sees every library, `ffi` too.
    ///
    /// What it gives to the script must not give the script a way to those.
    ///
    /// # Errors
    /// [`VmFault::Script`] with the place of what is wrong.
    pub(in crate::lua) fn load_host(&mut self, name: &CStr, text: &str) -> Result<(), VmFault> {
        self.load(name, text.as_bytes())?;
        // SAFETY: the registry is a table and the name a C string; `set_up` left the field there.
        unsafe { ffi::lua_getfield_(self.state(), ffi::LUA_REGISTRYINDEX, HOST_GLOBALS.as_ptr()) };
        // SAFETY: the chunk lies below the table.
        unsafe { ffi::lua_setfenv(self.state(), -2) };
        Ok(())
    }

    /// Has `run` call into the machine within the limits, and answers with the status that it gives.
    ///
    /// `run` makes one protected call, by `lua_pcall` or `lua_resume`, on `thread`, and answers with its status. Where
    /// that is an error, the value on the top of that stack is taken off.
    ///
    /// # Errors
    /// Which limit was met, or the script's error.
    ///
    /// # Cost
    /// A few stores beside the call itself.
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

    /// Calls the function that lies on the stack of the main thread, and leaves its results there.
    ///
    /// # Errors
    /// As [`Self::enter`].
    pub(in crate::lua) fn call(&mut self, arguments: c_int, results: c_int) -> Result<(), VmFault> {
        let called = self.enter(self.state(), |state| {
            // SAFETY: the function and so many arguments lie on the stack.
            unsafe { ffi::lua_pcall(state, arguments, results, 0) }
        });
        called.map(drop)
    }

    /// Puts a copy of a value on the stack of the main thread; `index` is that of a value or of the globals.
    #[inline]
    pub(in crate::lua) fn push(&self, index: c_int) {
        // SAFETY: the index is that of a value or of the globals, and there is room on the stack.
        unsafe { ffi::lua_pushvalue(self.state(), index) };
    }

    /// Makes the stack of the main thread so high.
    #[inline]
    pub(in crate::lua) fn truncate(&self, top: c_int) {
        // SAFETY: the stack has at least as many values, or gets nil in their place.
        unsafe { ffi::lua_settop(self.state(), top) };
    }

    /// Whether the machine has to be replaced: it has used up its memory.
    pub(in crate::lua) fn is_spent(&self) -> bool {
        self.is_spent
    }

    /// How many bytes the machine has.
    pub(in crate::lua) fn used_bytes(&self) -> usize {
        self.account.used_bytes()
    }

    #[cold]
    fn fail(&mut self, thread: *mut lua_State, status: c_int, is_over: bool) -> VmFault {
        let of_cpu = VmFault::Cpu(self.limits.cpu);
        let fault = if status > ffi::LUA_YIELD { self.take_fault(thread, status) } else { of_cpu.clone() };
        let fault = if is_over { of_cpu } else { fault };
        // A collection would take longer than an entry may.
        self.is_spent |= matches!(fault, VmFault::Memory { .. }) || self.used_bytes() > self.kept_bytes_max;
        fault
    }

    /// Takes the error of a call that failed off the stack.
    fn take_fault(&self, thread: *mut lua_State, status: c_int) -> VmFault {
        let is_full = status == ffi::LUA_ERRMEM;
        let fault = if is_full { self.limits.memory_fault() } else { VmFault::Script(message(thread)) };
        // SAFETY: a call that failed leaves one value.
        unsafe { ffi::lua_pop(thread, 1) };
        fault
    }

    /// What the machine may use up.
    pub(in crate::lua) fn limits(&self) -> &VmLimits {
        &self.limits
    }
}

impl Drop for Vm {
    fn drop(&mut self) {
        // SAFETY: the account is this machine's, and nobody else has the machine.
        unsafe { self.account.close(self.state.as_ptr()) };
    }
}

/// The error on the top of the stack as a text; no code of the script is asked for one.
fn message(thread: *mut lua_State) -> String {
    // SAFETY: a call that failed leaves one value.
    if unsafe { ffi::lua_type(thread, -1) } != ffi::LUA_TSTRING {
        return "an error that is no text".to_owned();
    }
    let mut len = 0;
    // SAFETY: the value is a string, so that nothing is converted and no error raised.
    let text = unsafe { ffi::lua_tolstring(thread, -1, &raw mut len) };
    // SAFETY: the string stays on the stack meanwhile, and has this length.
    let text = unsafe { slice::from_raw_parts(text.cast::<u8>(), len.min(MESSAGE_BYTES_MAX)) };
    String::from_utf8_lossy(text).into_owned()
}

const MESSAGE_BYTES_MAX: usize = 1024;
