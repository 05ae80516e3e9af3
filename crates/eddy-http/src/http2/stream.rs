//! One stream: a request and its answer.

use super::code::ErrorCode;
use crate::head::HeadFault;

/// A request's head as its stream brought it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FramedHead {
    /// The head as text, for [`crate::RequestHead::parse_framed`]; empty where there is a fault.
    pub text: Vec<u8>,
    /// Why it is not to be read.
    pub fault: Option<HeadFault>,
    /// Whether a body or trailers follow.
    pub has_body: bool,
}

/// What reading a body brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// This many bytes.
    Bytes(usize),
    /// Nothing yet; the stream is among the woken once there is.
    Nothing,
    /// The body has ended.
    End,
}

/// The stream was reset, or the connection has ended: nobody waits for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

/// Who has reset a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

/// Why data is not wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unwanted {
    /// We have ended the stream; the data crossed that.
    Late,
    /// The client itself has ended it.
    Closed,
    /// It breaks a rule.
    Refused(ErrorCode),
}

/// The state of a stream that an exchange has, or will have.
#[derive(Debug)]
pub(super) struct Stream {
    /// Until the exchange takes it.
    pub(super) head: FramedHead,
    /// What has come of the body and was not read; those before `body_start` were.
    pub(super) body: Vec<u8>,
    pub(super) body_start: usize,
    /// Trailers, as the end of a chunked body.
    pub(super) trailers: Vec<u8>,
    /// Whether the client has ended its side.
    pub(super) is_recv_ended: bool,
    /// By whom the stream was reset, if it was: nothing comes or goes any more.
    pub(super) reset: Option<Side>,
    /// Data that the client has announced and not sent, where it has announced any.
    pub(super) owed: Option<u64>,
    /// What the client may still send.
    pub(super) recv_window: i64,
    /// What was read, and is to be told to the client.
    pub(super) unreleased: u32,
    /// What we may still send.
    pub(super) send_window: i64,
    pub(super) is_answered: bool,
    /// Whether we have ended our side.
    pub(super) is_send_ended: bool,
}

impl Stream {
    pub(super) fn new(head: FramedHead, length: Option<u64>, recv_window: u32, send_window: i64) -> Self {
        Self {
            is_recv_ended: !head.has_body,
            head,
            body: Vec::new(),
            body_start: 0,
            trailers: Vec::new(),
            reset: None,
            owed: length,
            recv_window: recv_window.into(),
            unreleased: 0,
            send_window,
            is_answered: false,
            is_send_ended: false,
        }
    }

    /// What has come and was not read.
    pub(super) fn unread(&self) -> &[u8] {
        self.body.get(self.body_start..).unwrap_or_default()
    }

    /// Takes `count` bytes of the body away.
    pub(super) fn consume(&mut self, count: usize) {
        self.body_start += count;
        if self.body_start >= self.body.len() {
            self.body.clear();
            self.body_start = 0;
            // A stream at rest holds nothing.
            self.body.shrink_to(0);
        }
    }

    /// Puts data behind what has come; `frame_bytes` is what it counts, `ends` whether it is the last.
    ///
    /// # Errors
    /// Why it is not wanted; nothing of it is kept then.
    pub(super) fn receive(&mut self, data: &[u8], frame_bytes: usize, ends: bool) -> Result<(), Unwanted> {
        match self.reset {
            Some(Side::Server) => return Err(Unwanted::Late),
            Some(Side::Client) => return Err(Unwanted::Closed),
            None if self.is_recv_ended => return Err(Unwanted::Refused(ErrorCode::StreamClosed)),
            None => {}
        }
        self.recv_window -= i64::try_from(frame_bytes).unwrap_or(i64::MAX);
        if self.recv_window < 0 {
            return Err(Unwanted::Refused(ErrorCode::FlowControl));
        }
        if let Some(owed) = &mut self.owed {
            let left = owed.checked_sub(data.len() as u64).filter(|left| !ends || *left == 0);
            *owed = left.ok_or(Unwanted::Refused(ErrorCode::Protocol))?;
        }
        // What was read is dropped before the memory grows for it.
        if self.body_start > 0 && self.body.len() + data.len() > self.body.capacity() {
            self.body.drain(..self.body_start);
            self.body_start = 0;
        }
        self.body.extend_from_slice(data);
        self.is_recv_ended = ends;
        Ok(())
    }

    /// Ends the client's side by trailers; whether all that was announced has come.
    pub(super) fn end(&mut self) -> bool {
        self.is_recv_ended = true;
        self.owed.is_none_or(|owed| owed == 0)
    }

    /// Ends the stream for both sides; what has come is of no use. Who was first counts.
    pub(super) fn end_both(&mut self, by: Side) {
        self.reset.get_or_insert(by);
        self.body = Vec::new();
        self.body_start = 0;
    }
}
