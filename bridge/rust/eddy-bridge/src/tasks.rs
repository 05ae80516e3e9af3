//! Calls from Go that are running in Rust, each a future that reports its result to Go.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use crate::block::{EXTENT, HEADER_WORDS, OUTCOME, TICKET, header};
use crate::caught::CatchPanic;
use crate::executor::spawn;
use crate::fault::{BridgeError, BridgeErrorKind};
use crate::thread;

/// Stores the address of Go's function that receives the results of calls.
pub(crate) fn set_complete(address: u64) {
    COMPLETE.store(usize::try_from(address).unwrap_or(0), Ordering::Release);
}

static COMPLETE: AtomicUsize = AtomicUsize::new(0);

/// Runs the future of a call, and reports its result to Go with the call's ticket.
pub(crate) fn run(ticket: u64, call: impl Future<Output = Result<Vec<u64>, BridgeError>> + Send + 'static) {
    let end = Arc::new(CancelSignal::default());
    let is_room = {
        let mut running = running().lock().unwrap_or_else(PoisonError::into_inner);
        let is_room = running.len() < CALLS_MAX;
        if is_room {
            running.insert(ticket, Arc::clone(&end));
        }
        is_room
    };
    if is_room {
        spawn(Box::pin(CallFuture { ticket, end, call: Some(CatchPanic::new(call)) }));
    } else {
        let text = format!("{CALLS_MAX} calls of async methods are in progress");
        complete(ticket, &Err(BridgeError::new(BridgeErrorKind::Overloaded, text)));
    }
}

/// Cancels a call by the ticket in the header of a block.
///
/// # Safety
///
/// The pointer is to the header of a block.
pub(crate) unsafe extern "C" fn cancel(block: *mut u64) -> usize {
    // SAFETY: the caller promises a block.
    let ticket = unsafe { header(block) }[TICKET];
    let end = running().lock().unwrap_or_else(PoisonError::into_inner).get(&ticket).map(Arc::clone);
    if let Some(end) = end {
        end.is_requested.store(true, Ordering::Release);
        let waker = end.waker.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
    0
}

/// Cancellation request of a call.
#[derive(Default)]
struct CancelSignal {
    is_requested: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

fn running() -> &'static Mutex<HashMap<u64, Arc<CancelSignal>>> {
    static RUNNING: OnceLock<Mutex<HashMap<u64, Arc<CancelSignal>>>> = OnceLock::new();
    RUNNING.get_or_init(Mutex::default)
}

/// A call until its end is reported: by its result, its panic, its cancellation, or an executor that drops it.
struct CallFuture {
    ticket: u64,
    end: Arc<CancelSignal>,
    /// `None` once the end was reported.
    call: Option<CatchPanic>,
}

impl Future for CallFuture {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(call) = &mut self.call else { return Poll::Ready(()) };
        let answer = match Pin::new(call).poll(context) {
            Poll::Ready(answer) => answer,
            Poll::Pending => {
                // The waker is set first, so that a cancellation is either seen here or wakes the task.
                *self.end.waker.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(context.waker().clone());
                if !self.end.is_requested.load(Ordering::Acquire) {
                    return Poll::Pending;
                }
                Err(BridgeError::new(BridgeErrorKind::Cancelled, "the context of the call ended"))
            }
        };
        self.tell(&answer);
        Poll::Ready(())
    }
}

impl CallFuture {
    fn tell(&mut self, answer: &Result<Vec<u64>, BridgeError>) {
        // The future is dropped first: when Go is notified, the resources of the call are released.
        drop(self.call.take());
        running().lock().unwrap_or_else(PoisonError::into_inner).remove(&self.ticket);
        complete(self.ticket, answer);
    }
}

impl Drop for CallFuture {
    fn drop(&mut self) {
        if self.call.is_some() {
            self.tell(&Err(BridgeError::new(BridgeErrorKind::Closed, "the executor dropped the call")));
        }
    }
}

/// Reports the result of a call to Go.
fn complete(ticket: u64, answer: &Result<Vec<u64>, BridgeError>) {
    thread::prepare();
    let told;
    let (status, reply) = match answer {
        Ok(reply) => (0, reply),
        Err(fault) => {
            told = crate::method::reply(fault.text.as_str());
            (u64::from(fault.kind as u32), &told)
        }
    };
    let mut block = vec![0; HEADER_WORDS];
    block.extend_from_slice(reply);
    block[EXTENT] = (block.len() as u64) << 32 | HEADER_WORDS as u64;
    block[OUTCOME] = status << 32 | reply.len() as u64;
    block[TICKET] = ticket;
    let address = COMPLETE.load(Ordering::Acquire);
    assert_ne!(address, 0, "Go tells where its function is before it calls");
    // SAFETY: the address is that of `eddy_bridge_go_complete`, of this type.
    let complete = unsafe { std::mem::transmute::<usize, unsafe extern "C" fn(*mut u64)>(address) };
    // SAFETY: the block has a header and a reply, as it states, and Go keeps no pointer into it.
    unsafe { complete(block.as_mut_ptr()) };
}

/// Maximum number of async calls in flight.
const CALLS_MAX: usize = 65_536;
