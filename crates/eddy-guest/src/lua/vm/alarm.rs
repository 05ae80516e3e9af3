//! Alarm timer of a thread: a signal to the thread itself, independent of other threads.

use std::cell::Cell;
use std::mem::{self, MaybeUninit};
use std::ptr;
use std::sync::Once;
use std::time::Duration;

/// Signal handler of an alarm.
pub(super) type AlarmHandler = extern "C" fn(libc::c_int);

/// Timer of this thread.
struct Timer(libc::timer_t);

thread_local! {
    /// ID of the timer, null before it is created.
    static NAME: Cell<libc::timer_t> = const { Cell::new(ptr::null_mut()) };
    static IS_MADE: Cell<bool> = const { Cell::new(false) };
    static OWNER: Cell<Option<Timer>> = const { Cell::new(None) };
}

/// Makes this thread call `handler` once after `delay`, wherever it is executing by then. The handler is the same in all
/// calls and async-signal-safe.
///
/// # Panics
/// If the thread has no timer yet and the system refuses one.
///
/// # Cost
/// One system call.
pub(super) fn set(delay: Duration, handler: AlarmHandler) {
    if !IS_MADE.get() {
        make(handler);
    }
    let time = libc::itimerspec { it_interval: timespec(Duration::ZERO), it_value: timespec(delay) };
    // SAFETY: the timer is this thread's and lives as long as the thread; the old time is not requested.
    unsafe { libc::timer_settime(NAME.get(), 0, &raw const time, ptr::null_mut()) };
}

/// Returns the CPU time that this thread has used.
pub(super) fn cpu_time() -> Duration {
    let mut time = timespec(Duration::ZERO);
    // SAFETY: `time` may be written to.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cold]
fn make(handler: AlarmHandler) {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| set_handler(handler));
    unblock();
    // SAFETY: zeros are a valid event without notification.
    let mut event: libc::sigevent = unsafe { mem::zeroed() };
    event.sigev_notify = libc::SIGEV_THREAD_ID;
    event.sigev_signo = signal_number();
    // SAFETY: the call only returns a value.
    event.sigev_notify_thread_id = unsafe { libc::gettid() };
    let mut timer = MaybeUninit::uninit();
    // SAFETY: the event is complete, and the timer may be written to.
    let outcome = unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, timer.as_mut_ptr()) };
    assert_eq!(outcome, 0, "a thread may have a timer: {}", std::io::Error::last_os_error());
    // SAFETY: the call succeeded, so the ID has been written.
    let timer = unsafe { timer.assume_init() };
    OWNER.set(Some(Timer(timer)));
    NAME.set(timer);
    IS_MADE.set(true);
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: the timer was created by `make` and is deleted once, when its thread ends.
        unsafe { libc::timer_delete(self.0) };
    }
}

fn set_handler(handler: AlarmHandler) {
    // SAFETY: zeros are an empty mask and no flags.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = handler as libc::sighandler_t;
    // On the signal stack: when the alarm fires, the thread may be on a small stack of another runtime.
    action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: `action` is complete, and the handler is async-signal-safe.
    let outcome = unsafe { libc::sigaction(signal_number(), &raw const action, ptr::null_mut()) };
    assert_eq!(outcome, 0, "the number is one of a real-time signal");
}

/// Unblocks the signal for this thread.
fn unblock() {
    // SAFETY: zeros are a mask.
    let mut mask: libc::sigset_t = unsafe { mem::zeroed() };
    // SAFETY: `mask` is ours.
    unsafe { libc::sigemptyset(&raw mut mask) };
    // SAFETY: as above, and the number is valid.
    unsafe { libc::sigaddset(&raw mut mask, signal_number()) };
    // SAFETY: `mask` is complete; the old one is not requested.
    unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const mask, ptr::null_mut()) };
}

/// Returns a signal number that neither the C library nor the Go runtime uses.
fn signal_number() -> libc::c_int {
    libc::SIGRTMIN() + 7
}

fn timespec(time: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}
