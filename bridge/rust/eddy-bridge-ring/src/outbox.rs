//! Sending side of a link: at once on the calling thread, or later on the sender thread where the caller must not
//! block.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::assembler::LinkMessage;
use crate::fault::{LinkEndReason, Misconduct};
use crate::frame::{RingFrameHeader, RingFrameKind};
use crate::ring::{Producer, piece_bytes_max};
use crate::socket::PeerWaker;

/// Outgoing ring with its queue of delayed messages.
#[derive(Debug)]
pub(crate) struct Outbox {
    out: Mutex<Out>,
    /// Signalled when there may be room, when a long message is complete, or when the link has ended.
    changed: Condvar,
    /// Signalled when a message is queued.
    queued_signal: Condvar,
    bell: PeerWaker,
    piece_bytes_max: usize,
    stall: Duration,
    queued_max: usize,
}

#[derive(Debug)]
struct Out {
    producer: Producer,
    /// Whether a message longer than the available room is being sent: all others wait.
    is_taken: bool,
    /// Messages for the sender thread.
    late: VecDeque<LinkMessage>,
    ended: Option<LinkEndReason>,
}

/// Why a message was not sent.
#[derive(Debug)]
pub(crate) enum SendError {
    /// The deadline passed.
    Late,
    /// Too many messages are queued already.
    Full,
    /// The other side violates the protocol or reads nothing: the link must be ended.
    Fault(LinkEndReason),
}

impl From<Misconduct> for SendError {
    fn from(misconduct: Misconduct) -> Self {
        Self::Fault(misconduct.into())
    }
}

/// A message to be sent, by reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutgoingMessage<'a> {
    pub(crate) kind: RingFrameKind,
    pub(crate) call: u64,
    pub(crate) detail: u32,
    pub(crate) timeout_ms: u32,
    pub(crate) bytes: &'a [u8],
}

impl Outbox {
    pub(crate) fn new(
        producer: Producer,
        bell: PeerWaker,
        ring_bytes: usize,
        stall: Duration,
        queued_max: usize,
    ) -> Self {
        let out = Out { producer, is_taken: false, late: VecDeque::new(), ended: None };
        Self {
            out: Mutex::new(out),
            changed: Condvar::new(),
            queued_signal: Condvar::new(),
            bell,
            piece_bytes_max: piece_bytes_max(ring_bytes),
            stall,
            queued_max,
        }
    }

    /// Sends a message, and waits for room if necessary.
    pub(crate) fn send(&self, letter: &OutgoingMessage<'_>, deadline: Instant) -> Result<(), SendError> {
        let mut out = self.lock();
        while out.is_taken {
            out = self.wait(out, deadline)?;
        }
        out.live()?;
        if letter.bytes.len() <= self.piece_bytes_max
            && out.producer.try_push(&letter.frame(0, letter.bytes), letter.bytes)?
        {
            self.ring(out);
            return Ok(());
        }
        out.is_taken = true;
        let (mut out, result) = self.send_pieces(out, letter, deadline);
        out.is_taken = false;
        drop(out);
        self.changed.notify_all();
        result
    }

    /// Sends a message if there is room at once; otherwise queues it for the sender thread.
    pub(crate) fn send_nowait(&self, message: LinkMessage) -> Result<(), SendError> {
        let mut out = self.lock();
        out.live()?;
        let letter = OutgoingMessage::of(&message);
        let is_free = !out.is_taken && out.late.is_empty() && message.bytes.len() <= self.piece_bytes_max;
        if is_free && out.producer.try_push(&letter.frame(0, letter.bytes), letter.bytes)? {
            self.ring(out);
            return Ok(());
        }
        // Answers must be sent: they get the same capacity once more.
        let is_answer = matches!(message.kind, RingFrameKind::Answer | RingFrameKind::Failure);
        let queued_max = if is_answer { 2 * self.queued_max } else { self.queued_max };
        if out.late.len() >= queued_max {
            return Err(SendError::Full);
        }
        out.late.push_back(message);
        drop(out);
        self.queued_signal.notify_one();
        Ok(())
    }

    /// Sends queued messages until the link ends; the main loop of the sender thread.
    pub(crate) fn run_sender(&self) -> Result<(), LinkEndReason> {
        loop {
            let mut out = self.lock();
            let message = loop {
                if out.ended.is_some() {
                    return Ok(());
                }
                if let Some(message) = out.late.pop_front() {
                    break message;
                }
                out = self.queued_signal.wait(out).expect(NO_PANIC);
            };
            drop(out);
            match self.send(&OutgoingMessage::of(&message), Instant::now() + FOREVER) {
                Ok(()) => {}
                Err(SendError::Fault(fault)) => return Err(fault),
                Err(SendError::Late | SendError::Full) => return Err(LinkEndReason::Stalled(self.stall)),
            }
        }
    }

    /// Wakes the threads that wait for room.
    pub(crate) fn wake_blocked_writers(&self) {
        // Invariant: a thread that found no room waits before this lock can be acquired, so that no wake is lost.
        drop(self.lock());
        self.changed.notify_all();
    }

    /// Stops sending.
    pub(crate) fn end(&self, fault: &LinkEndReason) {
        let mut out = self.lock();
        out.ended.get_or_insert_with(|| fault.clone());
        out.late.clear();
        drop(out);
        self.changed.notify_all();
        self.queued_signal.notify_all();
    }

    /// Sends all pieces of a message, whose turn it is.
    fn send_pieces<'o>(
        &'o self,
        mut out: MutexGuard<'o, Out>,
        letter: &OutgoingMessage<'_>,
        deadline: Instant,
    ) -> (MutexGuard<'o, Out>, Result<(), SendError>) {
        let mut sent = 0;
        loop {
            let rest = letter.bytes.get(sent..).unwrap_or_default();
            let piece = rest.get(..self.piece_bytes_max).unwrap_or(rest);
            let result;
            (out, result) = self.send_piece(out, &letter.frame(sent, piece), piece, deadline);
            sent += piece.len();
            if result.is_err() || sent == letter.bytes.len() {
                return (out, result);
            }
        }
    }

    fn send_piece<'o>(
        &'o self,
        mut out: MutexGuard<'o, Out>,
        frame: &RingFrameHeader,
        piece: &[u8],
        deadline: Instant,
    ) -> (MutexGuard<'o, Out>, Result<(), SendError>) {
        let mut seen = (out.producer.reader_position(), Instant::now());
        let mut has_asked = false;
        loop {
            match out.live().and_then(|()| Ok(out.producer.try_push(frame, piece)?)) {
                Err(error) => return (out, Err(error)),
                Ok(true) => {
                    if out.producer.must_wake_reader() {
                        self.bell.ring();
                    }
                    return (out, Ok(()));
                }
                Ok(false) => {}
            }
            if !has_asked {
                // Room that was freed before the request causes no wake: try once more.
                out.producer.request_writer_wake();
                has_asked = true;
                continue;
            }
            let now = Instant::now();
            let position = out.producer.reader_position();
            if position != seen.0 {
                seen = (position, now);
            }
            if now >= seen.1 + self.stall {
                return (out, Err(SendError::Fault(LinkEndReason::Stalled(self.stall))));
            }
            if now >= deadline {
                return (out, Err(SendError::Late));
            }
            let left = deadline.min(seen.1 + self.stall).saturating_duration_since(now);
            (out, _) = self.changed.wait_timeout(out, left).expect(NO_PANIC);
            has_asked = false;
        }
    }

    /// Waits for a change.
    fn wait<'o>(
        &'o self,
        out: MutexGuard<'o, Out>,
        deadline: Instant,
    ) -> Result<MutexGuard<'o, Out>, SendError> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(SendError::Late);
        }
        let (out, _) = self.changed.wait_timeout(out, left).expect(NO_PANIC);
        out.live()?;
        Ok(out)
    }

    /// Wakes the other side if it sleeps.
    fn ring(&self, out: MutexGuard<'_, Out>) {
        let is_asleep = out.producer.must_wake_reader();
        drop(out);
        if is_asleep {
            self.bell.ring();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Out> {
        self.out.lock().expect(NO_PANIC)
    }
}

impl Out {
    fn live(&self) -> Result<(), SendError> {
        match &self.ended {
            Some(fault) => Err(SendError::Fault(fault.clone())),
            None => Ok(()),
        }
    }
}

impl<'a> OutgoingMessage<'a> {
    fn of(message: &'a LinkMessage) -> Self {
        let LinkMessage { kind, call, detail, timeout_ms, bytes } = message;
        Self { kind: *kind, call: *call, detail: *detail, timeout_ms: *timeout_ms, bytes }
    }

    /// Returns the frame of the piece that begins at offset `sent`.
    fn frame(&self, sent: usize, piece: &[u8]) -> RingFrameHeader {
        RingFrameHeader {
            kind: if sent == 0 { self.kind } else { RingFrameKind::More },
            bytes: u32::try_from(piece.len()).expect("a piece is shorter than a ring"),
            call: self.call,
            detail: self.detail,
            timeout_ms: self.timeout_ms,
            total: self.bytes.len() as u64,
        }
    }
}

const NO_PANIC: &str = "nothing panics while the way out is locked";
/// Queued messages have no deadline of their own; the stall timeout of the ring ends them.
const FOREVER: Duration = Duration::from_secs(24 * 3600);
