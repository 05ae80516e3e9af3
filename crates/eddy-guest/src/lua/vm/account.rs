//! Counts the bytes of a virtual machine and refuses those beyond its limit.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

use mlua_sys::{self as ffi, lua_Alloc, lua_State};

use super::VmLimits;

/// What stands between a machine and its own allocator.
#[derive(Debug)]
pub(super) struct Account {
    /// LuaJIT's allocator: it has a heap for each machine.
    allocator: lua_Alloc,
    heap: *mut c_void,
    used_bytes: Cell<usize>,
    bytes_max: usize,
    block_bytes_max: usize,
}

impl Account {
    /// Comes between `state`, a new machine, and its allocator.
    ///
    /// # Safety
    /// `state` is a machine that nothing else uses and whose allocator has not been set. It is closed by
    /// [`Self::close`] only.
    pub(super) unsafe fn open(state: *mut lua_State, limits: &VmLimits) -> Box<Self> {
        let mut heap = ptr::null_mut();
        // SAFETY: the machine lives, and `heap` may be written to.
        let allocator = unsafe { ffi::lua_getallocf(state, &raw mut heap) };
        let account = Box::new(Self {
            allocator,
            heap,
            used_bytes: Cell::new(0),
            bytes_max: limits.memory_bytes,
            block_bytes_max: limits.block_bytes(),
        });
        account.used_bytes.set(bytes_of(state));
        let own = ptr::from_ref(account.as_ref()).cast_mut().cast();
        // SAFETY: the account outlives the machine, because `close` takes both, and `allocate` does what an
        // allocator has to.
        unsafe { ffi::lua_setallocf(state, allocate, own) };
        account
    }

    /// Closes the machine.
    ///
    /// # Safety
    /// `state` is the machine of [`Self::open`]; nothing of it is used from now on.
    pub(super) unsafe fn close(&self, state: *mut lua_State) {
        // LuaJIT gives its own heap back as a whole, if it finds its own allocator.
        // SAFETY: these two belonged together before `open`, and the account only handed on to them.
        unsafe { ffi::lua_setallocf(state, self.allocator, self.heap) };
        // SAFETY: by the contract of this function.
        unsafe { ffi::lua_close(state) };
    }

    /// How many bytes the machine has.
    pub(super) fn used_bytes(&self) -> usize {
        self.used_bytes.get()
    }

    fn resize(&self, block: *mut c_void, old_bytes: usize, new_bytes: usize) -> *mut c_void {
        let rest = self.used_bytes.get().saturating_sub(old_bytes);
        if new_bytes > old_bytes
            && (new_bytes > self.block_bytes_max || new_bytes > self.bytes_max.saturating_sub(rest))
        {
            return ptr::null_mut();
        }
        // SAFETY: the heap is this machine's, and `block` came from it with that size, as LuaJIT says.
        let moved = unsafe { (self.allocator)(self.heap, block, old_bytes, new_bytes) };
        if !moved.is_null() || new_bytes == 0 {
            self.used_bytes.set(rest + new_bytes);
        }
        moved
    }
}

/// What LuaJIT calls for memory.
unsafe extern "C" fn allocate(
    account: *mut c_void,
    block: *mut c_void,
    old_bytes: usize,
    new_bytes: usize,
) -> *mut c_void {
    // SAFETY: `open` gave a pointer to an account that lives as long as the machine, and nobody has it exclusively.
    let account = unsafe { &*account.cast::<Account>() };
    account.resize(block, old_bytes, new_bytes)
}

fn bytes_of(state: *mut lua_State) -> usize {
    // SAFETY: the machine lives; asking for a count changes nothing.
    let kib = unsafe { ffi::lua_gc(state, ffi::LUA_GCCOUNT, 0) };
    // SAFETY: as above.
    let rest = unsafe { ffi::lua_gc(state, ffi::LUA_GCCOUNTB, 0) };
    usize::try_from(kib).unwrap_or(0) * 1024 + usize::try_from(rest).unwrap_or(0)
}
