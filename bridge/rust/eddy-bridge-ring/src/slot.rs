//! A oneshot channel whose receiver waits as a thread or as a future.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Instant;

/// A slot that is filled at most once, and emptied by one waiter.
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

    /// Fills the slot, unless it was filled before, and wakes the waiter.
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

    /// Whether it was filled, even if the content was taken since.
    pub(crate) fn is_filled(&self) -> bool {
        self.is_filled.load(Acquire)
    }

    /// Takes the content; `None` if there is none or it was taken.
    pub(crate) fn take(&self) -> Option<T> {
        if !self.is_filled() {
            return None;
        }
        self.lock().content.take()
    }

    /// Takes the content, or registers the task to be woken.
    pub(crate) fn poll_take(&self, context: &Context<'_>) -> Poll<T> {
        let mut state = self.lock();
        if let Some(content) = state.content.take() {
            return Poll::Ready(content);
        }
        state.waker = Some(context.waker().clone());
        Poll::Pending
    }

    /// Blocks the thread until the slot is filled or the deadline has passed.
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

/// Wakes a parked thread.
struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
