//! Asynchronous calls from Rust to Go.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::block::{Block, TICKET, header};
use crate::fault::BridgeError;
use crate::go::GoExports;
use crate::thread;
use crate::wire::{BridgeRead, BridgeWrite};

/// Future result of a goroutine. Dropping it earlier cancels the goroutine's context.
pub(crate) struct Promise {
    slot: Arc<PromiseSlot>,
    go: GoExports,
}

/// State shared by caller and goroutine. Each holds a reference; the call's memory is freed with the last one.
struct PromiseSlot {
    state: Mutex<PromiseState>,
}

struct PromiseState {
    /// In use by Go until `is_over`.
    block: Option<Block>,
    is_over: bool,
    waker: Option<Waker>,
}

/// A block that Go has filled in.
pub(crate) struct Answered(Block);

impl Promise {
    /// Starts a goroutine that runs a method.
    ///
    /// # Errors
    ///
    /// The request is too large.
    pub(crate) fn start<A: BridgeWrite>(
        go: GoExports,
        target: u64,
        arguments: &A,
    ) -> Result<Self, BridgeError> {
        thread::prepare();
        let slot = Arc::new(PromiseSlot {
            state: Mutex::new(PromiseState { block: None, is_over: false, waker: None }),
        });
        let block = Block::of(target, arguments, Arc::as_ptr(&slot).expose_provenance() as u64)?;
        let mut state = slot.lock();
        let block = state.block.insert(block);
        let at = block.as_mut_ptr();
        drop(state);
        // The reference that `complete` takes back.
        let _ = Arc::into_raw(Arc::clone(&slot));
        // SAFETY: the block is laid out for this function. Its words are not moved or freed until `complete` is
        // called, because the slot holds them until then.
        unsafe { (go.start)(at) };
        Ok(Self { slot, go })
    }
}

impl Answered {
    /// Reads the result.
    ///
    /// # Errors
    ///
    /// As [`Block::answer`].
    pub(crate) fn answer<R: for<'m> BridgeRead<'m>>(self) -> Result<R, BridgeError> {
        // SAFETY: Go filled in the block before it called `complete`.
        unsafe { self.0.answer() }
    }
}

impl Future for Promise {
    type Output = Result<Answered, BridgeError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.slot.lock();
        if state.is_over
            && let Some(block) = state.block.take()
        {
            return Poll::Ready(Ok(Answered(block)));
        }
        if !state.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            state.waker = Some(context.waker().clone());
        }
        Poll::Pending
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        let is_over = self.slot.lock().is_over;
        if !is_over {
            let ticket = Arc::as_ptr(&self.slot).expose_provenance() as u64;
            // SAFETY: a ticket is a number that Go looks up; its call may have ended meanwhile. It can't be that of
            // another call, because we hold the slot whose address it is.
            unsafe { (self.go.cancel)(ticket) };
        }
    }
}

impl PromiseSlot {
    fn lock(&self) -> MutexGuard<'_, PromiseState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PromiseState {
    fn drop(&mut self) {
        if self.is_over
            && let Some(block) = self.block.take()
        {
            // SAFETY: Go filled in the block before it called `complete`.
            unsafe { block.discard() };
        }
    }
}

/// Called by Go when it has filled in the block of a call.
///
/// # Safety
///
/// The block is one that [`Promise::start`] passed to Go, for which this was not called yet.
pub(crate) unsafe extern "C" fn complete(block: *mut u64) -> usize {
    // SAFETY: it is a block that nothing else uses now.
    let ticket = unsafe { header(block) }[TICKET];
    let slot = std::ptr::with_exposed_provenance::<PromiseSlot>(usize::try_from(ticket).unwrap_or(0));
    // SAFETY: the ticket is the reference that `Promise::start` gave away, which is released here.
    let slot = unsafe { Arc::from_raw(slot) };
    let waker = {
        let mut state = slot.lock();
        state.is_over = true;
        state.waker.take()
    };
    if let Some(waker) = waker {
        waker.wake();
    }
    0
}
