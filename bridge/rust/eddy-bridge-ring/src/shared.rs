//! State shared by the threads of a link.

use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::thread::ThreadId;
use std::time::Duration;

use crate::assembler::LinkMessage;
use crate::calls::Calls;
use crate::fault::{CallError, CallFailure, LinkEndReason, Misconduct};
use crate::frame::RingFrameKind;
use crate::handler::CallHandler;
use crate::hello::Agreed;
use crate::inbound::Inbound;
use crate::incoming::{Incoming, IncomingCalls};
use crate::outbox::{Outbox, SendError};

/// State shared by the threads of a link.
pub(crate) struct LinkState {
    pub(crate) agreed: Agreed,
    pub(crate) spin: Duration,
    pub(crate) calls: Calls,
    pub(crate) served: IncomingCalls,
    pub(crate) outbox: Outbox,
    pub(crate) inbound: Mutex<Inbound>,
    pub(crate) handler: Arc<dyn CallHandler>,
    pub(crate) socket: Arc<UnixStream>,
    /// Wakes the link's own thread. The other process has no access to it.
    pub(crate) wake: OwnedFd,
    /// The link's own thread.
    pub(crate) reader: OnceLock<ThreadId>,
    pub(crate) fault: OnceLock<LinkEndReason>,
}

impl LinkState {
    /// Ends the link and all waits. Only the first reason counts.
    pub(crate) fn end(&self, fault: LinkEndReason) {
        let fault = self.fault.get_or_init(|| fault);
        self.calls.end(fault);
        self.outbox.end(fault);
        self.served.cancel_all();
        // The other side notices it at once; if it is gone already, the error is ignored.
        let _ = self.socket.shutdown(Shutdown::Both);
        self.wake_reader();
    }

    /// Makes the link's own thread check everything.
    pub(crate) fn wake_reader(&self) {
        // A saturated counter wakes as well.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }

    /// Delivers a message that is not a call.
    pub(crate) fn handle_answer(&self, message: LinkMessage) -> Result<(), Misconduct> {
        let LinkMessage { kind, call, detail, bytes, .. } = message;
        match kind {
            RingFrameKind::Answer => self.calls.finish(call, Ok(bytes)),
            RingFrameKind::Failure => {
                let failure = CallFailure::new(detail, String::from_utf8_lossy(&bytes));
                self.calls.finish(call, Err(CallError::Failed(failure)))
            }
            RingFrameKind::Cancel => {
                self.served.cancel(call);
                Ok(())
            }
            RingFrameKind::Call | RingFrameKind::More => Ok(()),
        }
    }

    /// Passes a call of the other side to the handler.
    pub(crate) fn handle_call(self: &Arc<Self>, message: LinkMessage) -> Result<(), Misconduct> {
        let call = message.call;
        let Some(cancellation) = self.served.enter(call, message.bytes.len())? else {
            let failure = CallFailure::new(
                CallFailure::BUSY,
                "the limit of concurrent calls, or of their bytes, is reached",
            );
            let bytes = failure.text.into_bytes();
            self.send_nowait(LinkMessage {
                kind: RingFrameKind::Failure,
                call,
                detail: failure.code,
                timeout_ms: 0,
                bytes,
            });
            return Ok(());
        };
        let incoming = Incoming::new(Arc::clone(self), message, cancellation);
        // A panic drops the call, which reports the failure to the caller.
        let _ = catch_unwind(AssertUnwindSafe(|| self.handler.handle(incoming)));
        Ok(())
    }

    /// Sends a message without waiting; ends the link if that is impossible.
    pub(crate) fn send_nowait(&self, message: LinkMessage) {
        let kind = message.kind;
        match self.outbox.send_nowait(message) {
            Err(SendError::Fault(fault)) => self.end(fault),
            // So many calls without reading an answer: no peer that keeps to the agreed limits does that.
            Err(SendError::Full) if kind != RingFrameKind::Cancel => self.end(Misconduct::Flood.into()),
            // A call that is not cancelled ends by its deadline.
            Ok(()) | Err(SendError::Late | SendError::Full) => {}
        }
    }

    /// Notifies the other side that a call is cancelled.
    pub(crate) fn cancel(&self, call: u64) {
        self.send_nowait(LinkMessage {
            kind: RingFrameKind::Cancel,
            call,
            detail: 0,
            timeout_ms: 0,
            bytes: Vec::new(),
        });
    }

    pub(crate) fn lock_inbound(&self) -> MutexGuard<'_, Inbound> {
        self.inbound.lock().expect("nothing panics while the way in is locked")
    }
}

impl std::fmt::Debug for LinkState {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Shared")
            .field("agreed", &self.agreed)
            .field("fault", &self.fault)
            .finish_non_exhaustive()
    }
}
