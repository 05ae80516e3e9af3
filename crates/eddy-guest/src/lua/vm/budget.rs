//! The CPU time of an entry: counted while it lasts, and its end.

use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, compiler_fence};
use std::time::Duration;

use mlua_sys::{self as ffi, lua_Debug, lua_State};

use super::alarm;
use super::limits::REFUSED_BYTES;

/// What a thread notes of its entries, for the handler of its alarm.
///
/// Atomic because the handler interrupts the thread anywhere; no other thread sees any of this, so that the compiler's
/// order is the only one that counts.
#[derive(Debug)]
struct CpuBudget {
    /// Grows by one at each entry and each return: odd while the thread is inside.
    turn: AtomicU64,
    /// What this entry may use.
    cpu_nanos: AtomicU64,
    state: AtomicPtr<lua_State>,
    is_over: AtomicBool,
    /// Where the thread's stack was at the entry.
    stack: AtomicUsize,
    /// Whether an alarm will come.
    is_armed: AtomicBool,
    /// The turn that the last alarm found, and the thread's CPU time by then.
    seen_turn: AtomicU64,
    seen_nanos: AtomicU64,
}

thread_local! {
    static BUDGET: CpuBudget = const { CpuBudget::new() };
}

/// One entry; ends when it is dropped.
#[derive(Debug)]
pub(super) struct CpuBudgetGuard {
    state: *mut lua_State,
}

impl CpuBudgetGuard {
    /// Says that this thread is about to enter the machine.
    ///
    /// # Panics
    /// If the thread is inside of one already.
    ///
    /// # Cost
    /// A few stores; a system call when the thread was not inside of any machine for a while.
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
            // The alarm is given up only by a handler that found no new turn.
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
            // From here on the handler leaves the machine alone.
            compiler_fence(Ordering::SeqCst);
            budget.is_over.load(Ordering::Relaxed)
        });
        if is_over {
            // SAFETY: the machine lives, and this thread is the only one that uses it.
            unsafe { ffi::lua_sethook(self.state, None, 0, 0) };
        }
    }
}

/// Whether this thread's entry, or its last one, has used up its time.
#[inline]
pub(super) fn is_over() -> bool {
    BUDGET.with(|budget| budget.is_over.load(Ordering::Relaxed))
}

/// How far this thread's stack has grown since its last entry.
pub(super) fn stack_bytes() -> usize {
    BUDGET.with(|budget| budget.stack.load(Ordering::Relaxed)).saturating_sub(stack_place())
}

/// About where the thread's stack ends now; it grows downwards.
#[inline]
fn stack_place() -> usize {
    let here = 0_u8;
    ptr::from_ref(&here).addr()
}

/// Looks at the time; the handler of the alarm. Does only what a handler may.
pub(super) fn handle_alarm() {
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

    /// Ends the entry that the last alarm found too, if it has used what it may.
    fn measure(&self) {
        let used = nanos(alarm::cpu_time()).saturating_sub(self.seen_nanos.load(Ordering::Relaxed));
        let rest = self.cpu_nanos.load(Ordering::Relaxed).saturating_sub(used);
        if rest == 0 {
            self.end_entry();
        }
        self.arm(Duration::from_nanos(rest).clamp(TICK_MIN, TICK));
    }

    /// From now on every instruction calls [`leave`].
    ///
    /// Done anew at each alarm until the entry has ended, as LuaJIT may just have been about to overwrite what this
    /// sets.
    fn end_entry(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        let state = self.state.load(Ordering::Relaxed);
        // SAFETY: the turn is odd, so this thread is inside of the machine, which therefore lives. Setting a hook
        // from the handler of a signal is what LuaJIT allows.
        unsafe { ffi::lua_sethook(state, None, 0, 0) };
        // SAFETY: as above.
        unsafe { ffi::lua_sethook(state, Some(leave), ffi::LUA_MASKCOUNT, 1) };
    }

    fn arm(&self, delay: Duration) {
        self.is_armed.store(true, Ordering::Relaxed);
        alarm::set(delay);
    }
}

/// The hook: leaves what runs, in a way that no handler of the script's is asked about. One would run with hooks off.
unsafe extern "C-unwind" fn leave(state: *mut lua_State, _: *mut lua_Debug) {
    // SAFETY: the call only answers.
    if unsafe { lua_isyieldable(state) } != 0 {
        // Out of a coroutine in one step, however many protected calls are on the way.
        // SAFETY: LuaJIT lets hooks yield nothing; no frame between here and the coroutine has a destructor.
        unsafe { ffi::lua_yield(state, 0) };
    } else {
        // To the innermost protected call, whose next instruction comes here again.
        // SAFETY: the machine's account refuses so much, which raises an error; again no destructors.
        unsafe { ffi::lua_newuserdata(state, REFUSED_BYTES) };
    }
}

unsafe extern "C-unwind" {
    /// Whether the coroutine can yield. It is not among the declarations that others share.
    fn lua_isyieldable(state: *mut lua_State) -> c_int;
}

/// A time as the budget counts.
pub(super) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// How often a thread looks while it uses machines. The beginning of an entry is known as exactly as this.
const TICK: Duration = Duration::from_millis(2);
/// How soon it looks again at the least.
const TICK_MIN: Duration = Duration::from_micros(200);
