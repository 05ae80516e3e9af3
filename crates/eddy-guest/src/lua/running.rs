//! VM with a loaded script, and its three entry points.

use std::ffi::{CString, c_int, c_void};
use std::ptr::NonNull;
use std::sync::Arc;

use eddy_filter::{Direction, ExchangeView, HostApi};
use mlua_sys::{self as ffi, lua_State};

use super::context::Contexts;
use super::host_functions::LuaHostFunctions;
use super::mentions::Mentions;
use super::numbers::{HOOK_FACTOR, HookCode, LuaConstants, constants};
use super::shared::SharedStores;
use super::stage::{LuaHook, LuaHookContext};
use super::stats::{LuaStats, LuaStatsScope};
use super::vm::{Vm, VmFault, VmLimits};

/// VM with a loaded script, ready for hooks.
pub(super) struct LuaInstance {
    vm: Vm,
    /// Lives as long as the VM, which has its address.
    stage: NonNull<LuaHookContext>,
    has_request: bool,
    has_response: bool,
    /// Whether a hook ran out of memory.
    is_full: bool,
}

// SAFETY: VM and hook context belong only to each other, and neither is tied to a thread.
unsafe impl Send for LuaInstance {}

/// Event that a suspended hook waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HookWait {
    /// The whole body.
    Body,
    /// The next piece of the body.
    Piece,
    /// The trailers, or the end.
    Trailers,
    /// The response to its own request.
    Call,
}

/// Result of entering a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HookYield {
    /// The hook has finished.
    Done,
    /// The hook has sent a reply and will not continue.
    Responded,
    /// The hook waits; it is resumed by this number.
    Waits(HookWait, u32),
}

/// Everything needed to create a VM for the script.
pub(super) struct Recipe {
    pub(super) host: Arc<dyn HostApi>,
    pub(super) stores: Arc<SharedStores>,
    pub(super) contexts: Arc<Contexts>,
    pub(super) stats: Arc<LuaStatsScope>,
    pub(super) limits: VmLimits,
    pub(super) chunk: CString,
    pub(super) text: Box<[u8]>,
    pub(super) mentions: Mentions,
}

impl LuaInstance {
    /// Creates a VM and runs the script once, to define its functions.
    ///
    /// # Errors
    /// The script is invalid; the message has the position.
    ///
    /// # Cost
    /// About a millisecond.
    pub(super) fn new(recipe: &Recipe) -> Result<Self, VmFault> {
        let vm = Vm::new(&recipe.limits)?;
        let (host, stores, contexts) = (&recipe.host, &recipe.stores, &recipe.contexts);
        let stats = LuaStats::new(Arc::clone(&recipe.stats));
        let mut stage =
            LuaHookContext::new(Arc::clone(host), Arc::clone(stores), Arc::clone(contexts), stats);
        stage.keeps_request = recipe.mentions.request_headers;
        let stage = NonNull::from(Box::leak(Box::new(stage)));
        let mut new = Self { vm, stage, has_request: false, has_response: false, is_full: false };
        let functions = LuaHostFunctions::of(stage.as_ptr(), recipe.mentions.is_of_bodies());
        new.vm.load_host(c"=(eddy)", &constants())?;
        new.vm.call(0, 1)?;
        new.vm.load_host(c"=(eddy)", include_str!("api/layout.lua"))?;
        new.vm.push(INTERNAL);
        // SAFETY: there is room on the stack; the address is read before this function returns.
        unsafe {
            ffi::lua_pushlightuserdata(new.state(), (&raw const functions).cast_mut().cast::<c_void>())
        };
        new.vm.call(2, 0)?;
        for text in API {
            new.vm.load_host(c"=(eddy)", text)?;
            new.vm.push(INTERNAL);
            new.vm.call(1, 0)?;
        }
        new.vm.load_host(c"=(eddy)", include_str!("api/globals.lua"))?;
        new.vm.push(INTERNAL);
        new.vm.push(ffi::LUA_GLOBALSINDEX);
        new.vm.call(2, 0)?;
        new.vm.load_host(c"=(eddy)", include_str!("api/start.lua"))?;
        new.vm.load(&recipe.chunk, &recipe.text)?;
        let is_full = |fault: &VmFault| matches!(fault, VmFault::Script(why) if why == NO_MEMORY);
        let of_memory = new.vm.limits().memory_fault();
        new.vm.call(1, 0).map_err(|fault| if is_full(&fault) { of_memory } else { fault })?;
        new.vm.load_host(c"=(eddy)", include_str!("api/entry.lua"))?;
        new.vm.push(INTERNAL);
        new.vm.push(ffi::LUA_GLOBALSINDEX);
        new.vm.call(2, 5)?;
        // SAFETY: `entry.lua` returned five values.
        new.has_request = unsafe { ffi::lua_toboolean(new.state(), -2) } != 0;
        // SAFETY: as above.
        new.has_response = unsafe { ffi::lua_toboolean(new.state(), -1) } != 0;
        new.vm.truncate(DROP);
        Ok(new)
    }

    /// Returns whether the script defines `envoy_on_request`, and `envoy_on_response`.
    pub(super) fn hooks(&self) -> [bool; 2] {
        [self.has_request, self.has_response]
    }

    /// Returns the hook context, with which hooks read and change the message.
    pub(super) fn stage(&mut self) -> &mut LuaHookContext {
        // SAFETY: the context lives as long as `self`, and no code of the VM runs while `&mut self` is held here.
        unsafe { self.stage.as_mut() }
    }

    /// Sets the view for the hook that is entered next.
    ///
    /// # Safety
    /// The view lives and does not change until `stage().leave()` is called.
    #[inline]
    pub(super) unsafe fn show(&mut self, view: &ExchangeView<'_>, hook: LuaHook) {
        // SAFETY: by the contract of this function.
        unsafe { self.stage().enter(view, hook) }
    }

    /// Starts a hook.
    ///
    /// # Errors
    /// The reason of the failure.
    #[inline]
    pub(super) fn start(&mut self, direction: Direction) -> Result<HookYield, VmFault> {
        self.enter(START, direction as u32)
    }

    /// Resumes a waiting hook.
    ///
    /// # Errors
    /// The reason of the failure.
    pub(super) fn resume(&mut self, number: u32) -> Result<HookYield, VmFault> {
        self.enter(RESUME, number)
    }

    /// Drops a waiting hook.
    pub(super) fn forget(&mut self, number: u32) {
        // This only removes a value from a table; it can fail only for lack of memory, which the next entry detects
        // too.
        let _ = self.enter(DROP, number);
    }

    /// Whether the VM must be replaced.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_full || self.vm.is_exhausted()
    }

    #[inline]
    fn enter(&mut self, way: c_int, number: u32) -> Result<HookYield, VmFault> {
        self.vm.push(way);
        // SAFETY: there is room on the stack.
        unsafe { ffi::lua_pushinteger(self.state(), number as ffi::lua_Integer) };
        let state = self.state();
        let entered = self.vm.enter(state, |state| {
            // SAFETY: the function and its argument are on the stack.
            unsafe { ffi::lua_pcall(state, 1, 1, 0) }
        });
        if let Err(fault) = entered {
            self.vm.truncate(DROP);
            return Err(fault);
        }
        // SAFETY: the call left one value.
        let code = unsafe { ffi::lua_tointeger(state, -1) };
        self.vm.truncate(DROP);
        self.read(code)
    }

    #[inline]
    fn read(&mut self, code: ffi::lua_Integer) -> Result<HookYield, VmFault> {
        let code = u32::try_from(code).unwrap_or(u32::MAX);
        let wait = match HookCode::from_number(code % HOOK_FACTOR) {
            Some(HookCode::Done) => return Ok(HookYield::Done),
            Some(HookCode::Responded) => return Ok(HookYield::Responded),
            Some(HookCode::Body) => HookWait::Body,
            Some(HookCode::Piece) => HookWait::Piece,
            Some(HookCode::Trailers) => HookWait::Trailers,
            Some(HookCode::Call) => HookWait::Call,
            Some(HookCode::Failed) | None => {
                let why = String::from_utf8_lossy(&self.stage().answer).into_owned();
                if why == NO_MEMORY {
                    self.is_full = true;
                    return Err(self.vm.limits().memory_fault());
                }
                return Err(VmFault::Script(why));
            }
        };
        Ok(HookYield::Waits(wait, code / HOOK_FACTOR))
    }

    #[inline]
    fn state(&self) -> *mut lua_State {
        self.vm.state()
    }
}

impl Drop for LuaInstance {
    fn drop(&mut self) {
        // SAFETY: the pointer came from a box. The VM is closed after this, which runs none of its code.
        drop(unsafe { Box::from_raw(self.stage.as_ptr()) });
    }
}

/// Host's Lua code of the VM in load order, after `layout.lua`; each file gets a table with the constants and the
/// results of those before.
const API: [&str; 8] = [
    include_str!("api/json.lua"),
    include_str!("api/log.lua"),
    include_str!("api/headers.lua"),
    include_str!("api/body.lua"),
    include_str!("api/call.lua"),
    include_str!("api/info.lua"),
    include_str!("api/stats.lua"),
    include_str!("api/handle.lua"),
];

/// Stack positions.
const INTERNAL: c_int = 1;
const START: c_int = 2;
const RESUME: c_int = 3;
const DROP: c_int = 4;
/// LuaJIT's message for lack of memory; raised inside a coroutine, it arrives as an ordinary error text.
const NO_MEMORY: &str = "not enough memory";
