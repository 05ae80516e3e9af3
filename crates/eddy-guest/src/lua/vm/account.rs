//! Memory accounting of a VM: counts its bytes and refuses allocations beyond the limit.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

use mlua_sys::{self as ffi, lua_Alloc, lua_State};

use super::VmLimits;

/// Memory account between a VM and its allocator.
#[derive(Debug)]
pub(super) struct Account {
    /// LuaJIT's allocator, which has a heap for each VM.
    allocator: lua_Alloc,
    heap: *mut c_void,
    used_bytes: Cell<usize>,
    bytes_max: usize,
    block_bytes_max: usize,
}

impl Account {
    /// Wraps the allocator of `state`, a new VM.
    ///
    /// # Safety
    /// `state` is a VM that nothing else uses and whose allocator has not been set. It is closed by [`Self::close`]
    /// only.
    pub(super) unsafe fn open(state: *mut lua_State, limits: &VmLimits) -> Box<Self> {
        let mut heap = ptr::null_mut();
        // SAFETY: the VM lives, and `heap` may be written to.
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
        // SAFETY: the account outlives the VM, because `close` takes both, and `allocate` fulfils the contract of an
        // allocator.
        unsafe { ffi::lua_setallocf(state, allocate, own) };
        account
    }

    /// Closes the VM.
    ///
    /// # Safety
    /// `state` is the VM of [`Self::open`]; nothing of it is used from now on.
    pub(super) unsafe fn close(&self, state: *mut lua_State) {
        // LuaJIT frees its own heap as a whole, if its own allocator is set.
        // SAFETY: these two belonged together before `open`, and the account only forwarded to them.
        unsafe { ffi::lua_setallocf(state, self.allocator, self.heap) };
        // SAFETY: by the contract of this function.
        unsafe { ffi::lua_close(state) };
    }

    /// Returns the memory of the VM in bytes.
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
        // SAFETY: the heap is this VM's, and `block` came from it with that size, as LuaJIT guarantees.
        let moved = unsafe { (self.allocator)(self.heap, block, old_bytes, new_bytes) };
        if !moved.is_null() || new_bytes == 0 {
            self.used_bytes.set(rest + new_bytes);
        }
        moved
    }
}

/// Allocator function called by LuaJIT.
unsafe extern "C" fn allocate(
    account: *mut c_void,
    block: *mut c_void,
    old_bytes: usize,
    new_bytes: usize,
) -> *mut c_void {
    // SAFETY: `open` passed a pointer to an account that lives as long as the VM, and no exclusive reference to it
    // exists.
    let account = unsafe { &*account.cast::<Account>() };
    account.resize(block, old_bytes, new_bytes)
}

fn bytes_of(state: *mut lua_State) -> usize {
    // SAFETY: the VM lives; reading a count changes nothing.
    let kib = unsafe { ffi::lua_gc(state, ffi::LUA_GCCOUNT, 0) };
    // SAFETY: as above.
    let rest = unsafe { ffi::lua_gc(state, ffi::LUA_GCCOUNTB, 0) };
    usize::try_from(kib).unwrap_or(0) * 1024 + usize::try_from(rest).unwrap_or(0)
}
