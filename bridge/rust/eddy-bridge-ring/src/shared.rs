//! What the threads of a link share.

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

/// What the threads of a link share.
pub(crate) struct LinkState {
    pub(crate) agreed: Agreed,
    pub(crate) spin: Duration,
    pub(crate) calls: Calls,
    pub(crate) served: IncomingCalls,
    pub(crate) outbox: Outbox,
    pub(crate) inbound: Mutex<Inbound>,
    pub(crate) handler: Arc<dyn CallHandler>,
    pub(crate) socket: Arc<UnixStream>,
    /// Wakes the link's own thread. The other process does not have it.
    pub(crate) wake: OwnedFd,
    /// The link's own thread.
    pub(crate) reader: OnceLock<ThreadId>,
    pub(crate) fault: OnceLock<LinkEndReason>,
}

impl LinkState {
    /// Ends the link, with everybody who waits. Only the first reason counts.
    pub(crate) fn end(&self, fault: LinkEndReason) {
        let fault = self.fault.get_or_init(|| fault);
        self.calls.end(fault);
        self.outbox.end(fault);
        self.served.cancel_all();
        // The other side sees it at once; where it is gone already, there is nothing to shut down.
        let _ = self.socket.shutdown(Shutdown::Both);
        self.wake_reader();
    }

    /// Has the link's own thread look at everything.
    pub(crate) fn wake_reader(&self) {
        // A count that is full wakes as well.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
    }

    /// Takes a message that is no call to where it belongs.
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

    /// Gives a call of the other side to the handler.
    pub(crate) fn handle_call(self: &Arc<Self>, message: LinkMessage) -> Result<(), Misconduct> {
        let call = message.call;
        let Some(cancellation) = self.served.enter(call, message.bytes.len())? else {
            let failure = CallFailure::new(
                CallFailure::BUSY,
                "as many calls, or bytes of calls, as are allowed at a time are being served",
            );
            let bytes = failure.text.into_bytes();
            self.send_soon(LinkMessage {
                kind: RingFrameKind::Failure,
                call,
                detail: failure.code,
                timeout_ms: 0,
                bytes,
            });
            return Ok(());
        };
        let incoming = Incoming::new(Arc::clone(self), message, cancellation);
        // A panic drops the call, which tells the caller.
        let _ = catch_unwind(AssertUnwindSafe(|| self.handler.handle(incoming)));
        Ok(())
    }

    /// Sends what nobody waits for; the link ends where that can't be.
    pub(crate) fn send_soon(&self, message: LinkMessage) {
        let kind = message.kind;
        match self.outbox.send_soon(message) {
            Err(SendError::Fault(fault)) => self.end(fault),
            // So many calls without taking an answer: nobody does that who keeps to what was agreed.
            Err(SendError::Full) if kind != RingFrameKind::Cancel => self.end(Misconduct::Flood.into()),
            // A call that is not cancelled ends by its deadline.
            Ok(()) | Err(SendError::Late | SendError::Full) => {}
        }
    }

    /// Tells the other side that nobody waits for an answer any longer.
    pub(crate) fn cancel(&self, call: u64) {
        self.send_soon(LinkMessage {
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
