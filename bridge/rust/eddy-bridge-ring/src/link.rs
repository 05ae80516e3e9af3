//! A link between two processes.

use std::hint::spin_loop;
use std::io;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::task::{Context, Poll};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, eventfd};

use crate::assembler::{Assembler, LinkMessage};
use crate::calls::{CallResult, Calls, Expiry, NewCall};
use crate::fault::{CallError, LinkEndReason, LinkError};
use crate::frame::RingFrameKind;
use crate::handler::CallHandler;
use crate::hello::Agreed;
use crate::inbound::{Inbound, InboundPoll, ReaderRole};
use crate::incoming::IncomingCalls;
use crate::limits::LinkLimits;
use crate::memory::Memory;
use crate::outbox::{Outbox, OutgoingMessage, SendError};
use crate::reader;
use crate::ring::{LinkRole, piece_bytes_max, split};
use crate::shared::LinkState;
use crate::slot::OneshotSlot;
use crate::socket::PeerWaker;

/// A link to another process. Clones share the link; it ends when the last of them is dropped.
#[derive(Clone, Debug)]
pub struct ProcessLink {
    shared: Arc<LinkState>,
    /// Ends the link on drop. The link's own threads do not hold it.
    _owner: Arc<LinkCloseGuard>,
}

#[derive(Debug)]
struct LinkCloseGuard(Arc<LinkState>);

impl Drop for LinkCloseGuard {
    fn drop(&mut self) {
        self.0.end(LinkEndReason::Closed);
    }
}

impl ProcessLink {
    /// Calls the other process and waits for the answer.
    ///
    /// # Errors
    /// Every [`CallError`]; it always returns by the timeout. A timeout over a day counts as a day.
    ///
    /// # Cost
    /// One copy of the bytes on each side in each direction. System calls only where a side sleeps: after
    /// [`LinkLimits::spin`] without work.
    pub fn call(&self, method: u32, bytes: &[u8], timeout: Duration) -> CallResult {
        let timeout = timeout.min(TIMEOUT_MAX);
        let deadline = Instant::now() + timeout;
        if self.shared.reader.get() == Some(&thread::current().id()) {
            return Err(CallError::OnReader);
        }
        self.check_length(bytes.len())?;
        let NewCall { call, slot, .. } = self.shared.calls.open(None)?;
        let letter = OutgoingMessage {
            kind: RingFrameKind::Call,
            call,
            detail: method,
            timeout_ms: whole_ms(timeout),
            bytes,
        };
        let sent = self.shared.outbox.send(&letter, deadline);
        if let Err(SendError::Fault(fault)) = &sent {
            self.shared.end(fault.clone());
        }
        if sent.is_ok() {
            self.watch(&slot, deadline.min(Instant::now() + self.shared.spin));
            if let Some(outcome) = slot.wait(deadline) {
                return outcome;
            }
        }
        if self.shared.calls.forget(call) {
            self.shared.cancel(call);
        }
        // The answer may have arrived at the last moment.
        slot.take().unwrap_or(Err(CallError::Timeout(timeout)))
    }

    /// Starts a call of the other process. The call is sent when this returns; the future yields the answer. Dropping
    /// the future cancels the call.
    ///
    /// # Errors
    /// Errors that prevent the call from being sent; all others are returned by the future. A timeout over a day
    /// counts as a day.
    pub fn call_async(
        &self,
        method: u32,
        bytes: Vec<u8>,
        timeout: Duration,
    ) -> Result<PendingCall, CallError> {
        let timeout = timeout.min(TIMEOUT_MAX);
        self.check_length(bytes.len())?;
        let expiry = Expiry { deadline: Instant::now() + timeout, timeout };
        let NewCall { call, slot, outlasts_sleep } = self.shared.calls.open(Some(expiry))?;
        let pending = PendingCall { link: self.clone(), call, slot };
        let timeout_ms = whole_ms(timeout);
        let message = LinkMessage { kind: RingFrameKind::Call, call, detail: method, timeout_ms, bytes };
        match self.shared.outbox.send_nowait(message) {
            Ok(()) => {}
            Err(SendError::Fault(fault)) => self.shared.end(fault),
            Err(SendError::Late | SendError::Full) => {
                self.shared.calls.forget(call);
                return Err(CallError::Busy(self.shared.calls.limit()));
            }
        }
        if outlasts_sleep {
            self.shared.wake_reader();
        }
        Ok(pending)
    }

    /// Returns why the link has ended, if it has.
    pub fn fault(&self) -> Option<LinkEndReason> {
        self.shared.fault.get().cloned()
    }

    /// Ends the link: pending calls on both sides fail, and so do later ones.
    pub fn close(&self) {
        self.shared.end(LinkEndReason::Closed);
    }

    pub(crate) fn start(
        stream: UnixStream,
        memory: Memory,
        side: LinkRole,
        limits: &LinkLimits,
        agreed: &Agreed,
        handler: Arc<dyn CallHandler>,
    ) -> Result<Self, LinkError> {
        let socket = Arc::new(stream);
        let bell = PeerWaker::new(Arc::clone(&socket));
        let ring_bytes = agreed.ring_bytes;
        let (producer, consumer) = split(Arc::new(memory), ring_bytes, side);
        // No thread polls until the first wake.
        consumer.rest();
        let assembler = Assembler::new(limits.message_bytes_max, piece_bytes_max(ring_bytes));
        let calls_max = limits.calls_max.min(agreed.calls_max);
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let shared = Arc::new(LinkState {
            agreed: *agreed,
            spin: limits.spin,
            calls: Calls::new(calls_max),
            served: IncomingCalls::new(limits),
            outbox: Outbox::new(producer, bell.clone(), ring_bytes, limits.stall, 2 * limits.calls_max),
            inbound: Mutex::new(Inbound { consumer, assembler, bell }),
            handler,
            socket,
            wake: wake.map_err(|error| LinkError::Socket(error.into()))?,
            reader: OnceLock::new(),
            fault: OnceLock::new(),
        });
        let owner = Arc::new(LinkCloseGuard(Arc::clone(&shared)));
        start_threads(&shared).map_err(LinkError::Thread)?;
        Ok(Self { shared, _owner: owner })
    }

    fn check_length(&self, bytes: usize) -> Result<(), CallError> {
        let limit = self.shared.agreed.message_bytes_max;
        if bytes > limit { Err(CallError::TooLong { bytes, limit }) } else { Ok(()) }
    }

    /// Polls the ring for an answer, which is faster than being woken. It also reads messages for other threads.
    fn watch(&self, slot: &OneshotSlot<CallResult>, until: Instant) {
        let mut may_lead = true;
        while !slot.is_filled() && Instant::now() < until {
            if may_lead && let Ok(inbound) = self.shared.inbound.try_lock() {
                may_lead = self.lead(inbound, slot, until);
            } else {
                (0..SPINS_PER_POLL).for_each(|_| spin_loop());
            }
        }
    }

    /// Reads until the slot is filled or the time is over. Returns `false` if the link's own thread has to continue.
    fn lead(
        &self,
        mut inbound: MutexGuard<'_, Inbound>,
        slot: &OneshotSlot<CallResult>,
        until: Instant,
    ) -> bool {
        inbound.consumer.watch();
        loop {
            let next = match inbound.next(ReaderRole::Caller) {
                Ok(InboundPoll::Message(message)) => self.shared.handle_answer(message).map(|()| None),
                Ok(next) => Ok(Some(next)),
                Err(misconduct) => Err(misconduct),
            };
            match next {
                Ok(Some(InboundPoll::ForLink)) => {
                    drop(inbound);
                    self.shared.wake_reader();
                    return false;
                }
                Ok(_) if slot.is_filled() || Instant::now() >= until => break,
                Ok(_) => (0..SPINS_PER_POLL).for_each(|_| spin_loop()),
                Err(misconduct) => {
                    drop(inbound);
                    self.shared.end(misconduct.into());
                    return false;
                }
            }
        }
        if !inbound.consumer.rest() {
            inbound.consumer.watch();
            drop(inbound);
            self.shared.wake_reader();
        }
        true
    }
}

/// A call in flight. Dropping it cancels the call; it keeps the link open.
#[derive(Debug)]
#[must_use = "a call is cancelled when this is dropped"]
pub struct PendingCall {
    link: ProcessLink,
    call: u64,
    slot: Arc<OneshotSlot<CallResult>>,
}

impl Future for PendingCall {
    type Output = CallResult;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<CallResult> {
        self.slot.poll_take(context)
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        let shared = &self.link.shared;
        if shared.calls.forget(self.call) {
            shared.cancel(self.call);
        }
    }
}

/// Starts the link's own thread, and the thread that sends delayed messages.
fn start_threads(shared: &Arc<LinkState>) -> io::Result<()> {
    let sender = Arc::clone(shared);
    thread::Builder::new().name("ring-sender".to_owned()).spawn(move || {
        if let Err(fault) = sender.outbox.run_sender() {
            sender.end(fault);
        }
    })?;
    let reader = Arc::clone(shared);
    let started = thread::Builder::new().name("ring-reader".to_owned()).spawn(move || {
        let _ = reader.reader.set(thread::current().id());
        reader::run(&reader);
    })?;
    let _ = shared.reader.set(started.thread().id());
    Ok(())
}

/// Returns the timeout as sent to the other side: rounded up, so that the callee never gives up first.
fn whole_ms(timeout: Duration) -> u32 {
    u32::try_from(timeout.as_micros().div_ceil(1000)).expect("a day has fewer milliseconds")
}

/// Maximum timeout of a call, so that no sum of instants overflows.
const TIMEOUT_MAX: Duration = Duration::from_secs(24 * 3600);
/// Spin iterations between two polls of the ring.
const SPINS_PER_POLL: usize = 8;
