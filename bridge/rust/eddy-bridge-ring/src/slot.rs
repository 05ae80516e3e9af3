//! A place where one side leaves something and the other waits for it, as a thread or as a future.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Instant;

/// A place that is filled at most once, and emptied by one waiter.
#[derive(Debug)]
pub(crate) struct OneshotSlot<T> {
    is_filled: AtomicBool,
    state: Mutex<OneshotState<T>>,
}

#[derive(Debug)]
struct OneshotState<T> {
    content: Option<T>,
    waker: Option<Waker>,
}

impl<T> OneshotSlot<T> {
    pub(crate) fn new() -> Self {
        Self {
            is_filled: AtomicBool::new(false),
            state: Mutex::new(OneshotState { content: None, waker: None }),
        }
    }

    /// Leaves something, unless something was left before, and wakes who waits.
    pub(crate) fn fill(&self, content: T) {
        let mut state = self.lock();
        if self.is_filled() {
            return;
        }
        state.content = Some(content);
        self.is_filled.store(true, Release);
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Whether something was left, even if it was taken since.
    pub(crate) fn is_filled(&self) -> bool {
        self.is_filled.load(Acquire)
    }

    /// What was left, once.
    pub(crate) fn take(&self) -> Option<T> {
        if !self.is_filled() {
            return None;
        }
        self.lock().content.take()
    }

    /// What was left, or a promise to wake the task.
    pub(crate) fn poll_take(&self, context: &Context<'_>) -> Poll<T> {
        let mut state = self.lock();
        if let Some(content) = state.content.take() {
            return Poll::Ready(content);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// Has the thread sleep until something is left or a moment has come.
    pub(crate) fn wait(&self, deadline: Instant) -> Option<T> {
        let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
        loop {
            if let Poll::Ready(content) = self.poll_take(&Context::from_waker(&waker)) {
                return Some(content);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            thread::park_timeout(left);
        }
    }

    fn lock(&self) -> MutexGuard<'_, OneshotState<T>> {
        self.state.lock().expect("nothing panics while a slot is locked")
    }
}

/// Wakes a thread that is parked.
struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
