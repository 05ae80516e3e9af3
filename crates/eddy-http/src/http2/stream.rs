//! One stream: a request and its answer, seen from either side.

use super::code::ErrorCode;
use crate::head::HeadFault;
use crate::websocket::WEBSOCKET_ACCEPT_BYTES;

/// A request's head as its stream brought it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct H2Head {
    /// The head as text, for [`crate::RequestHead::parse_framed`]; empty where there is a fault.
    pub text: Vec<u8>,
    /// Why it is not to be read.
    pub fault: Option<HeadFault>,
    /// Whether a body or trailers follow, or what is for a tunnel.
    pub has_body: bool,
    /// Whether it asks for a tunnel: `CONNECT`, or an extended one, which reads as an upgrade of HTTP/1.1 without its key.
    pub is_tunnel: bool,
}

/// What reading a body brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyReadResult {
    /// This many bytes.
    Bytes(usize),
    /// Nothing yet; the stream is among the woken once there is.
    Nothing,
    /// The body has ended.
    End,
}

/// The part of a body that has come and was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Its length.
    pub bytes: usize,
    /// Whether the body ends with it.
    pub is_last: bool,
}

/// The stream was reset, or the connection has ended: nobody waits for the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

/// What became of a request that was sent and is not answered, or not to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The server says that it has not looked at it: it may be sent again, whatever it is.
    Refused,
    /// The server has taken its leave before it looked at it: the same, and the server is well.
    Left,
    /// The server has given it up.
    Reset,
    /// The head of the answer is none that is taken.
    Head(HeadFault),
    /// The answer, or the connection as a whole, breaks the protocol.
    Broken,
    /// The connection has ended.
    Cut,
}

/// Who has reset a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResetInitiator {
    Peer,
    Own,
}

/// Why data is not wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unwanted {
    /// We have ended the stream; the data crossed that.
    Late,
    /// The peer itself has ended it.
    Closed,
    /// It breaks a rule.
    Refused(ErrorCode),
}

/// The state of a stream that an exchange has, or will have.
#[derive(Debug)]
pub(super) struct Http2StreamState {
    /// The head of a request that has come, until its exchange takes it.
    pub(super) head: H2Head,
    /// What has come of the body and was not read; those before `body_start` were. Heads of answers stand before it.
    pub(super) body: Vec<u8>,
    pub(super) body_start: usize,
    /// How much of what was not read is heads, which no window counts.
    pub(super) head_bytes: usize,
    /// How much of its heads and trailers is out of proportion to what was received of them.
    pub(super) excess: usize,
    /// Trailers, as the end of a chunked body.
    pub(super) trailers: Vec<u8>,
    /// Whether the peer has ended its side.
    pub(super) is_recv_ended: bool,
    /// Whether it is for a tunnel, which has no trailers.
    pub(super) is_tunnel: bool,
    /// By whom the stream was reset, if it was: nothing comes or goes any more.
    pub(super) reset: Option<ResetInitiator>,
    /// What became of our request, if it was lost.
    pub(super) loss: Option<Loss>,
    /// Data that the peer has announced and not sent, where it has announced any.
    pub(super) owed: Option<u64>,
    /// What the peer may still send.
    pub(super) recv_window: i64,
    /// What was read, and is to be told to the peer.
    pub(super) unreleased: u32,
    /// What we may still send.
    pub(super) send_window: i64,
    /// Whether the final head of the answer was sent, or has come.
    pub(super) is_answered: bool,
    /// Whether our request is one whose answer has no body (`HEAD`).
    pub(super) is_for_head: bool,
    /// What agreement to our request says over HTTP/1.1, where it asks for a WebSocket.
    pub(super) accept: Option<[u8; WEBSOCKET_ACCEPT_BYTES]>,
    /// Whether anything was to follow the final head of the answer that has come.
    pub(super) has_body: bool,
    /// Whether we have ended our side.
    pub(super) is_send_ended: bool,
}

impl Http2StreamState {
    /// A stream on which nothing has come or gone.
    pub(super) fn new(recv_window: u32, send_window: u32) -> Self {
        Self {
            head: H2Head::default(),
            is_tunnel: false,
            body: Vec::new(),
            body_start: 0,
            head_bytes: 0,
            excess: 0,
            trailers: Vec::new(),
            is_recv_ended: false,
            reset: None,
            loss: None,
            owed: None,
            recv_window: recv_window.into(),
            unreleased: 0,
            send_window: send_window.into(),
            is_answered: false,
            is_for_head: false,
            accept: None,
            has_body: true,
            is_send_ended: false,
        }
    }

    /// How much of what has come and was not read is data, which the windows count.
    pub(super) fn unread_data(&self) -> usize {
        self.unread().len().saturating_sub(self.head_bytes)
    }

    /// Takes note of a request that the peer has given up, unless its answer is there as a whole. What has come is still read.
    pub(super) fn lose(&mut self, loss: Loss) {
        self.is_send_ended = true;
        if !self.is_recv_ended {
            self.loss.get_or_insert(loss);
            self.reset.get_or_insert(ResetInitiator::Peer);
        }
    }

    /// What has come and was not read.
    pub(super) fn unread(&self) -> &[u8] {
        self.body.get(self.body_start..).unwrap_or_default()
    }

    /// Takes `count` bytes away; how many of them were data.
    pub(super) fn consume(&mut self, count: usize) -> usize {
        let of_heads = count.min(self.head_bytes);
        self.head_bytes -= of_heads;
        self.body_start += count;
        if self.body_start >= self.body.len() {
            self.body.clear();
            self.body_start = 0;
            // A stream at rest holds nothing.
            self.body.shrink_to(0);
        }
        count - of_heads
    }

    /// Puts data behind what has come; `frame_bytes` is what it counts, `ends` whether it is the last.
    ///
    /// # Errors
    /// Why it is not wanted; nothing of it is kept then.
    pub(super) fn receive(&mut self, data: &[u8], frame_bytes: usize, ends: bool) -> Result<(), Unwanted> {
        match self.reset {
            Some(ResetInitiator::Own) => return Err(Unwanted::Late),
            Some(ResetInitiator::Peer) => return Err(Unwanted::Closed),
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

    /// Ends the peer's side by trailers; whether all that was announced has come.
    pub(super) fn end(&mut self) -> bool {
        self.is_recv_ended = true;
        self.owed.is_none_or(|owed| owed == 0)
    }

    /// Ends the stream for both sides; what has come is of no use. Who was first counts.
    pub(super) fn end_both(&mut self, by: ResetInitiator) {
        self.reset.get_or_insert(by);
        self.body = Vec::new();
        self.body_start = 0;
        self.head_bytes = 0;
    }
}
