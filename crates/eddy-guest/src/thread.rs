//! Requirements of guest runtimes on the threads that enter them, and on the end of the process.

use std::cell::Cell;
use std::ptr;

thread_local! {
    static IS_PREPARED: Cell<bool> = const { Cell::new(false) };
}

/// Gives this thread a signal stack of 64 KiB, once.
///
/// A Go runtime uses the signal stack that it finds when a thread first enters it. The standard library's has 8 KiB,
/// which a signal frame with a handler can exceed. Every entry into a guest calls this function. The thread must not
/// end before the process does, because its old signal stack would be restored while the guest uses it.
#[inline]
pub fn prepare_thread() {
    if !IS_PREPARED.get() {
        set_signal_stack();
    }
}

#[cold]
fn set_signal_stack() {
    IS_PREPARED.set(true);
    // Never freed: the kernel may write to it as long as the thread lives.
    let stack = Vec::leak(vec![0_u8; SIGNAL_STACK_BYTES]);
    let new = libc::stack_t { ss_sp: stack.as_mut_ptr().cast(), ss_flags: 0, ss_size: SIGNAL_STACK_BYTES };
    // SAFETY: `new` describes memory that is never freed and that nothing else uses; no old stack is requested.
    let outcome = unsafe { libc::sigaltstack(&raw const new, ptr::null_mut()) };
    debug_assert_eq!(
        outcome, 0,
        "a large enough signal stack is taken, unless a signal is being handled on one"
    );
}

/// Ends the process at once: no `atexit` handlers, no destructors of threads or libraries.
///
/// Threads inside a guest run until the very end; tearing down anything they use could crash them.
pub fn exit_now(code: u8) -> ! {
    // SAFETY: `_exit` may be called at any time on any thread.
    unsafe { libc::_exit(i32::from(code)) }
}

const SIGNAL_STACK_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_gets_a_large_signal_stack() {
        prepare_thread();
        prepare_thread();
        assert_eq!(signal_stack_bytes(), SIGNAL_STACK_BYTES);
    }

    /// Returns the size of this thread's signal stack; 0 if there is none.
    fn signal_stack_bytes() -> usize {
        let mut old = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: 0, ss_size: 0 };
        // SAFETY: no new stack is set, and `old` may be written to.
        let outcome = unsafe { libc::sigaltstack(ptr::null(), &raw mut old) };
        if outcome != 0 || old.ss_flags & libc::SS_DISABLE != 0 { 0 } else { old.ss_size }
    }
}
