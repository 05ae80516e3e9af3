//! Calls of the other process, from their arrival to their answer.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::assembler::LinkMessage;
use crate::fault::{CallFailure, Misconduct};
use crate::frame::RingFrameKind;
use crate::limits::LinkLimits;
use crate::shared::LinkState;
use crate::slot::OneshotSlot;

/// A call of the other process. Dropping it reports to the caller that there is no answer.
#[derive(Debug)]
pub struct Incoming {
    shared: Arc<LinkState>,
    call: u64,
    method: u32,
    bytes: Vec<u8>,
    deadline: Instant,
    cancellation: Cancellation,
    is_answered: bool,
}

impl Incoming {
    pub(crate) fn new(shared: Arc<LinkState>, message: LinkMessage, cancellation: Cancellation) -> Self {
        let deadline = Instant::now() + Duration::from_millis(message.timeout_ms.into());
        let LinkMessage { call, detail: method, bytes, .. } = message;
        Self { shared, call, method, bytes, deadline, cancellation, is_answered: false }
    }

    /// Returns the number of the called method.
    pub fn method(&self) -> u32 {
        self.method
    }

    /// Returns the argument bytes, a copy owned by this process.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns when the caller stops waiting.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Returns a handle that reports when the caller stops waiting.
    pub fn cancellation(&self) -> Cancellation {
        self.cancellation.clone()
    }

    /// Answers the call without blocking: if the ring is full, another thread sends the answer later.
    pub fn answer(mut self, bytes: Vec<u8>) {
        let limit = self.shared.agreed.message_bytes_max;
        if bytes.len() > limit {
            let text = format!("the answer has {} bytes; the caller accepts at most {limit}", bytes.len());
            return self.fail(CallFailure::new(CallFailure::ANSWER_TOO_LONG, text));
        }
        self.send(RingFrameKind::Answer, 0, bytes);
    }

    /// Answers the call with a failure.
    pub fn fail(mut self, failure: CallFailure) {
        self.send(RingFrameKind::Failure, failure.code, failure.text.into_bytes());
    }

    /// Answers the call with the result of a function. A panic of the function becomes a failure with its text.
    pub fn answer_with(self, function: impl FnOnce(&Self) -> Result<Vec<u8>, CallFailure>) {
        match catch_unwind(AssertUnwindSafe(|| function(&self))) {
            Ok(Ok(bytes)) => self.answer(bytes),
            Ok(Err(failure)) => self.fail(failure),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
                self.fail(CallFailure::new(CallFailure::PANICKED, format!("the handler panicked: {text}")));
            }
        }
    }

    fn send(&mut self, kind: RingFrameKind, detail: u32, bytes: Vec<u8>) {
        self.is_answered = true;
        self.shared.served.leave(self.call);
        if !self.cancellation.is_cancelled() {
            self.shared.send_nowait(LinkMessage { kind, call: self.call, detail, timeout_ms: 0, bytes });
        }
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if self.is_answered {
            return;
        }
        let failure = if std::thread::panicking() {
            CallFailure::new(CallFailure::PANICKED, "the handler panicked")
        } else {
            CallFailure::new(CallFailure::UNANSWERED, "the handler did not answer")
        };
        self.send(RingFrameKind::Failure, failure.code, failure.text.into_bytes());
    }
}

/// Cancellation of a call. As a future, it is ready once the caller no longer waits; only one task at a time may
/// await it.
#[derive(Clone, Debug)]
pub struct Cancellation(Arc<OneshotSlot<()>>);

impl Cancellation {
    /// Whether the caller no longer waits for the answer: it gave up, or the link has ended.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_filled()
    }
}

impl Future for Cancellation {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.is_cancelled() {
            return Poll::Ready(());
        }
        let polled = self.0.poll_take(context);
        // Another clone may have taken the content; it counts that the slot was filled.
        if self.is_cancelled() { Poll::Ready(()) } else { polled }
    }
}

/// Calls of the other side that are not answered yet.
#[derive(Debug)]
pub(crate) struct IncomingCalls {
    calls_max: usize,
    bytes_max: usize,
    table: Mutex<IncomingCallTable>,
}

#[derive(Debug, Default)]
struct IncomingCallTable {
    open: HashMap<u64, IncomingCallEntry>,
    /// Sum of the bytes of the open calls.
    bytes: usize,
}

#[derive(Debug)]
struct IncomingCallEntry {
    cancellation: Cancellation,
    bytes: usize,
}

impl IncomingCalls {
    pub(crate) fn new(limits: &LinkLimits) -> Self {
        Self { calls_max: limits.calls_max, bytes_max: limits.calls_bytes_max, table: Mutex::default() }
    }

    /// Registers a call; returns `None` if too many are open, including cancelled ones that are not answered yet.
    pub(crate) fn enter(&self, call: u64, bytes: usize) -> Result<Option<Cancellation>, Misconduct> {
        let mut table = self.lock();
        if table.open.contains_key(&call) {
            return Err(Misconduct::Twice(call));
        }
        let is_full = table.open.len() >= self.calls_max;
        if is_full || (!table.open.is_empty() && table.bytes + bytes > self.bytes_max) {
            return Ok(None);
        }
        let cancellation = Cancellation(Arc::new(OneshotSlot::new()));
        table.open.insert(call, IncomingCallEntry { cancellation: cancellation.clone(), bytes });
        table.bytes += bytes;
        Ok(Some(cancellation))
    }

    /// Whether no call is open.
    pub(crate) fn is_idle(&self) -> bool {
        self.lock().open.is_empty()
    }

    /// Marks a call as cancelled. Its answer may have been sent at the same time.
    pub(crate) fn cancel(&self, call: u64) {
        let cancellation = self.lock().open.get(&call).map(|open| open.cancellation.clone());
        if let Some(cancellation) = cancellation {
            cancellation.0.fill(());
        }
    }

    /// Marks all calls as cancelled because the link has ended.
    pub(crate) fn cancel_all(&self) {
        let all: Vec<_> = self.lock().open.values().map(|open| open.cancellation.clone()).collect();
        for cancellation in all {
            cancellation.0.fill(());
        }
    }

    fn leave(&self, call: u64) {
        let mut table = self.lock();
        if let Some(open) = table.open.remove(&call) {
            table.bytes -= open.bytes;
        }
    }

    fn lock(&self) -> MutexGuard<'_, IncomingCallTable> {
        self.table.lock().expect("nothing panics while the served calls are locked")
    }
}
