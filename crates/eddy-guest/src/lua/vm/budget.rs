//! CPU time budget of an entry into a VM.

use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, compiler_fence};
use std::time::Duration;

use mlua_sys::{self as ffi, lua_Debug, lua_State};

use super::alarm;
use super::limits::REFUSED_BYTES;

/// CPU accounting of a thread's entries, for the signal handler of its alarm.
///
/// The members are atomic because the handler interrupts the thread anywhere. No other thread accesses them, so only
/// the compiler's ordering matters.
#[derive(Debug)]
struct CpuBudget {
    /// Incremented at each entry and each return: odd while the thread is inside a VM.
    turn: AtomicU64,
    /// CPU time that this entry may use.
    cpu_nanos: AtomicU64,
    state: AtomicPtr<lua_State>,
    is_over: AtomicBool,
    /// Address of the thread's stack at the entry.
    stack: AtomicUsize,
    /// Whether an alarm is pending.
    is_armed: AtomicBool,
    /// Turn found by the last alarm, and the thread's CPU time at that moment.
    seen_turn: AtomicU64,
    seen_nanos: AtomicU64,
}

thread_local! {
    static BUDGET: CpuBudget = const { CpuBudget::new() };
}

/// Guard of one entry, which ends when it is dropped.
#[derive(Debug)]
pub(super) struct CpuBudgetGuard {
    state: *mut lua_State,
}

impl CpuBudgetGuard {
    /// Begins an entry of this thread into a VM.
    ///
    /// # Panics
    /// If the thread is already inside a VM.
    ///
    /// # Cost
    /// A few stores; a system call if the thread has not been inside any VM for a while.
    #[inline]
    pub(super) fn begin(state: *mut lua_State, cpu_nanos: u64) -> Self {
        BUDGET.with(|budget| {
            let turn = budget.turn.load(Ordering::Relaxed);
            assert!(turn.is_multiple_of(2), "a thread is inside of one machine at a time");
            budget.state.store(state, Ordering::Relaxed);
            budget.cpu_nanos.store(cpu_nanos, Ordering::Relaxed);
            budget.is_over.store(false, Ordering::Relaxed);
            budget.stack.store(stack_place(), Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
            budget.turn.store(turn + 1, Ordering::Relaxed);
            // The alarm is disarmed only by a handler that found no new turn.
            compiler_fence(Ordering::SeqCst);
            if !budget.is_armed.load(Ordering::Relaxed) {
                budget.arm(TICK);
            }
        });
        Self { state }
    }
}

impl Drop for CpuBudgetGuard {
    #[inline]
    fn drop(&mut self) {
        let is_over = BUDGET.with(|budget| {
            budget.turn.store(budget.turn.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            // From here on the handler does not access the VM.
            compiler_fence(Ordering::SeqCst);
            budget.is_over.load(Ordering::Relaxed)
        });
        if is_over {
            // SAFETY: the VM lives, and this thread is the only one that uses it.
            unsafe { ffi::lua_sethook(self.state, None, 0, 0) };
        }
    }
}

/// Whether this thread's current or last entry has used up its CPU time.
#[inline]
pub(super) fn is_over() -> bool {
    BUDGET.with(|budget| budget.is_over.load(Ordering::Relaxed))
}

/// Returns the growth of this thread's stack since its last entry, in bytes.
pub(super) fn stack_bytes() -> usize {
    BUDGET.with(|budget| budget.stack.load(Ordering::Relaxed)).saturating_sub(stack_place())
}

/// Returns the approximate end of the thread's stack, which grows downwards.
#[inline]
fn stack_place() -> usize {
    let here = 0_u8;
    ptr::from_ref(&here).addr()
}

/// Checks the CPU time; called by the signal handler of the alarm. It is async-signal-safe.
extern "C" fn handle_alarm(_: c_int) {
    BUDGET.with(CpuBudget::look);
}

impl CpuBudget {
    const fn new() -> Self {
        Self {
            turn: AtomicU64::new(0),
            cpu_nanos: AtomicU64::new(0),
            state: AtomicPtr::new(ptr::null_mut()),
            is_over: AtomicBool::new(false),
            stack: AtomicUsize::new(0),
            is_armed: AtomicBool::new(false),
            seen_turn: AtomicU64::new(0),
            seen_nanos: AtomicU64::new(0),
        }
    }

    fn look(&self) {
        let turn = self.turn.load(Ordering::Relaxed);
        let is_inside = !turn.is_multiple_of(2);
        let is_new = turn != self.seen_turn.load(Ordering::Relaxed);
        if is_new {
            self.seen_turn.store(turn, Ordering::Relaxed);
            self.seen_nanos.store(nanos(alarm::cpu_time()), Ordering::Relaxed);
        }
        match (is_inside, is_new) {
            (false, false) => self.is_armed.store(false, Ordering::Relaxed),
            (_, true) => self.arm(TICK),
            (true, false) => self.measure(),
        }
    }

    /// Ends the entry, which the last alarm found as well, if it has used up its CPU time.
    fn measure(&self) {
        let used = nanos(alarm::cpu_time()).saturating_sub(self.seen_nanos.load(Ordering::Relaxed));
        let rest = self.cpu_nanos.load(Ordering::Relaxed).saturating_sub(used);
        if rest == 0 {
            self.end_entry();
        }
        self.arm(Duration::from_nanos(rest).clamp(TICK_MIN, TICK));
    }

    /// Makes every further instruction call [`leave`].
    ///
    /// This is repeated at each alarm until the entry has ended, because LuaJIT may just have been about to overwrite
    /// the hook.
    fn end_entry(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        let state = self.state.load(Ordering::Relaxed);
        // SAFETY: the turn is odd, so this thread is inside the VM, which therefore lives. LuaJIT allows setting a hook
        // from a signal handler.
        unsafe { ffi::lua_sethook(state, None, 0, 0) };
        // SAFETY: as above.
        unsafe { ffi::lua_sethook(state, Some(leave), ffi::LUA_MASKCOUNT, 1) };
    }

    fn arm(&self, delay: Duration) {
        self.is_armed.store(true, Ordering::Relaxed);
        alarm::set(delay, handle_alarm);
    }
}

/// Debug hook that aborts the running code without running the script's error handlers, which would run with hooks
/// disabled.
unsafe extern "C-unwind" fn leave(state: *mut lua_State, _: *mut lua_Debug) {
    // SAFETY: the call only returns a value.
    if unsafe { lua_isyieldable(state) } != 0 {
        // Yields out of a coroutine in one step, however many protected calls are on the way.
        // SAFETY: LuaJIT allows hooks to yield no values; no frame between here and the coroutine has a destructor.
        unsafe { ffi::lua_yield(state, 0) };
    } else {
        // Unwinds to the innermost protected call, whose next instruction calls this hook again.
        // SAFETY: the VM's account refuses this size, which raises an error; again no destructors.
        unsafe { ffi::lua_newuserdata(state, REFUSED_BYTES) };
    }
}

unsafe extern "C-unwind" {
    /// Whether the coroutine can yield. The bindings crate does not declare it.
    fn lua_isyieldable(state: *mut lua_State) -> c_int;
}

/// Converts a time to nanoseconds.
pub(super) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Alarm interval of a thread while it uses VMs. The start of an entry is known with this precision.
const TICK: Duration = Duration::from_millis(2);
/// Minimum alarm interval.
const TICK_MIN: Duration = Duration::from_micros(200);
