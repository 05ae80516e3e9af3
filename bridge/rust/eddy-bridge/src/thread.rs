//! Signal stack of threads that call Go.

use std::cell::{Cell, RefCell};
use std::ptr;

/// Gives this thread a signal stack of 64 KiB until it ends; later calls do nothing.
///
/// Go adopts the signal stack that it finds when a thread first enters it. Rust threads have one of 8 KiB, which the
/// frame of a signal and a handler can exceed.
#[inline]
pub(crate) fn prepare() {
    if !IS_PREPARED.get() {
        IS_PREPARED.set(true);
        STACK.with_borrow_mut(SignalStack::set);
    }
}

struct SignalStack {
    memory: Vec<u8>,
}

impl SignalStack {
    #[cold]
    fn set(&mut self) {
        self.memory = vec![0; BYTES];
        let new = libc::stack_t { ss_sp: self.memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: BYTES };
        // SAFETY: `new` describes memory that nothing else uses and that `drop` takes back first; the old stack is
        // not requested.
        let outcome = unsafe { libc::sigaltstack(&raw const new, ptr::null_mut()) };
        debug_assert_eq!(outcome, 0, "a stack is taken, unless a signal is being handled on one");
    }
}

impl Drop for SignalStack {
    fn drop(&mut self) {
        let mut current = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: 0, ss_size: 0 };
        // SAFETY: no new stack is set, and `current` is ours to be written.
        let outcome = unsafe { libc::sigaltstack(ptr::null(), &raw mut current) };
        if outcome == 0 && current.ss_sp == self.memory.as_mut_ptr().cast() {
            let none = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
            // SAFETY: without a signal stack, signals use the thread's own stack.
            unsafe { libc::sigaltstack(&raw const none, ptr::null_mut()) };
        }
    }
}

thread_local! {
    static IS_PREPARED: Cell<bool> = const { Cell::new(false) };
    static STACK: RefCell<SignalStack> = const { RefCell::new(SignalStack { memory: Vec::new() }) };
}

const BYTES: usize = 64 * 1024;
