//! One stream: a request and its response, seen from either side.

use super::code::ErrorCode;
use super::frame::{self, signed, write_frame};
use crate::head::HeadFault;
use crate::websocket::WEBSOCKET_ACCEPT_BYTES;

/// A request head received on a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct H2Head {
    /// Head in text form, for [`crate::RequestHead::parse_http2`]; empty where there is a fault.
    pub text: Vec<u8>,
    /// Reason for rejecting the head.
    pub fault: Option<HeadFault>,
    /// Whether a body, trailers or tunnel data follow.
    pub has_body: bool,
    /// Whether the request asks for a tunnel: `CONNECT` or extended `CONNECT`; the latter reads as an HTTP/1.1 upgrade
    /// without key.
    pub is_tunnel: bool,
}

/// Result of reading a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyReadResult {
    /// Number of bytes read.
    Bytes(usize),
    /// Nothing yet; the stream is woken when there is more.
    Nothing,
    /// The end of the body.
    End,
}

/// Received and unread part of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Length, bytes.
    pub bytes: usize,
    /// Whether the body ends with it.
    pub is_last: bool,
}

/// The stream was reset or the connection has ended: there is no recipient for the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

/// Reason why a request was lost: it has no response, or an incomplete one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The server refused the stream without processing it: the request may be sent again, whatever its method.
    Refused,
    /// The server sent GOAWAY before processing it: the request may be sent again, and the server counts as healthy.
    GoawayBeforeProcessing,
    /// The server has reset the stream.
    Reset,
    /// The response head was rejected.
    Head(HeadFault),
    /// The response or the connection violates the protocol.
    Broken,
    /// The connection has ended.
    ConnectionEnded,
}

/// Side that reset a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResetInitiator {
    Peer,
    Own,
}

/// Reason for rejecting data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DataRejection {
    /// This side has ended the stream; the data crossed the reset.
    Late,
    /// The peer itself has ended the stream.
    Closed,
    /// A violation of the protocol.
    Refused(ErrorCode),
}

/// State of a stream with a current or future exchange.
#[derive(Debug, Default)]
pub(super) struct Http2StreamState {
    /// Received request head, until its exchange takes it.
    pub(super) head: H2Head,
    /// Received data, unread from `body_start` on. Response heads come first.
    pub(super) body: Vec<u8>,
    pub(super) body_start: usize,
    /// Length of the heads in the unread data; they do not count towards a window.
    pub(super) head_bytes: usize,
    /// Excess of heads and trailers over their received bytes.
    pub(super) excess: usize,
    /// Trailers, in the form of the end of a chunked body.
    pub(super) trailers: Vec<u8>,
    /// Whether the peer has ended its side.
    pub(super) is_recv_ended: bool,
    /// Whether it is a tunnel, which has no trailers.
    pub(super) is_tunnel: bool,
    /// Side that reset the stream, if it was reset: nothing is received or sent any more.
    pub(super) reset: Option<ResetInitiator>,
    /// Reason why the request of this side was lost, if it was.
    pub(super) loss: Option<Loss>,
    /// Announced data that has not arrived, if a length was announced.
    pub(super) owed: Option<u64>,
    /// Receive window.
    pub(super) recv_window: i64,
    /// Size of the receive window: bytes that the peer may send before they are read.
    pub(super) window: u32,
    /// Bytes received in the present round of [`super::growth`], or since the last one.
    pub(super) round_received: u32,
    /// Bytes of data read in the present round.
    pub(super) round_read: u32,
    /// Highest rate of a round, in bytes per millisecond.
    pub(super) rate_max: u64,
    /// Bytes read, but not yet acknowledged by WINDOW_UPDATE.
    pub(super) unreleased: u32,
    /// Send window.
    pub(super) send_window: i64,
    /// Whether the final response head was sent or received.
    pub(super) is_answered: bool,
    /// Whether the request of this side has a response without a body (`HEAD`).
    pub(super) is_for_head: bool,
    /// `Sec-WebSocket-Accept` of the HTTP/1.1 form of an acceptance, where the request of this side asks for a
    /// WebSocket.
    pub(super) accept: Option<[u8; WEBSOCKET_ACCEPT_BYTES]>,
    /// Whether anything follows the received final response head.
    pub(super) has_body: bool,
    /// Whether this side has ended its direction.
    pub(super) is_send_ended: bool,
}

impl Http2StreamState {
    /// Creates a stream without received or sent data.
    pub(super) fn new(window: u32, send_window: u32) -> Self {
        Self {
            recv_window: window.into(),
            window,
            send_window: send_window.into(),
            has_body: true,
            ..Self::default()
        }
    }

    /// Returns the length of unread data without heads, as the windows count it.
    pub(super) fn unread_data(&self) -> usize {
        self.unread().len().saturating_sub(self.head_bytes)
    }

    /// Records that the peer has abandoned a request, unless its response is complete. Received data can still be read.
    pub(super) fn lose(&mut self, loss: Loss) {
        self.is_send_ended = true;
        if !self.is_recv_ended {
            self.loss.get_or_insert(loss);
            self.reset.get_or_insert(ResetInitiator::Peer);
        }
    }

    /// Returns the unread data.
    pub(super) fn unread(&self) -> &[u8] {
        self.body.get(self.body_start..).expect("no more is read than was received")
    }

    /// Removes `count` unread bytes; returns how many of them were body data.
    pub(super) fn consume(&mut self, count: usize) -> usize {
        let of_heads = count.min(self.head_bytes);
        self.head_bytes -= of_heads;
        self.body_start += count;
        if self.body_start >= self.body.len() {
            self.body.clear();
            self.body_start = 0;
            // An idle stream holds no memory.
            self.body.shrink_to(0);
        }
        let of_data = count - of_heads;
        self.round_read = self.round_read.saturating_add(u32::try_from(of_data).unwrap_or(u32::MAX));
        of_data
    }

    /// Appends data; `frame_bytes` is its flow-control size, `ends` whether it is the last.
    ///
    /// # Errors
    /// The reason for rejecting the data; nothing of it is kept.
    pub(super) fn receive(
        &mut self,
        data: &[u8],
        frame_bytes: usize,
        ends: bool,
    ) -> Result<(), DataRejection> {
        match self.reset {
            Some(ResetInitiator::Own) => return Err(DataRejection::Late),
            Some(ResetInitiator::Peer) => return Err(DataRejection::Closed),
            None if self.is_recv_ended => return Err(DataRejection::Refused(ErrorCode::StreamClosed)),
            None => {}
        }
        self.recv_window -= signed(frame_bytes);
        if self.recv_window < 0 {
            return Err(DataRejection::Refused(ErrorCode::FlowControl));
        }
        if let Some(owed) = &mut self.owed {
            let left = owed.checked_sub(data.len() as u64).filter(|left| !ends || *left == 0);
            *owed = left.ok_or(DataRejection::Refused(ErrorCode::Protocol))?;
        }
        let received = u32::try_from(frame_bytes).unwrap_or(u32::MAX);
        self.round_received = self.round_received.saturating_add(received);
        // Consumed data is dropped before the buffer grows, once that moves no more than it drops.
        let is_worth_moving = self.body_start > 0 && self.body_start >= self.body.len() / 2;
        if is_worth_moving && self.body.len() + data.len() > self.body.capacity() {
            self.body.drain(..self.body_start);
            self.body_start = 0;
        }
        self.body.extend_from_slice(data);
        self.is_recv_ended = ends;
        Ok(())
    }

    /// Grows the window by `more` bytes and writes the WINDOW_UPDATE, with the credit for what was read.
    pub(super) fn grow(&mut self, more: u32, id: u32, out: &mut Vec<u8>) {
        self.window += more;
        let credit = more + std::mem::take(&mut self.unreleased);
        if credit > 0 {
            self.recv_window += i64::from(credit);
            write_frame(out, frame::WINDOW_UPDATE, 0, id, &credit.to_be_bytes());
        }
    }

    /// Ends the peer's side with trailers; returns whether all announced data has arrived.
    pub(super) fn end(&mut self) -> bool {
        self.is_recv_ended = true;
        self.owed.is_none_or(|owed| owed == 0)
    }

    /// Ends both directions of the stream and drops received data. The first initiator is kept.
    pub(super) fn end_both(&mut self, by: ResetInitiator) {
        self.reset.get_or_insert(by);
        self.body = Vec::new();
        self.body_start = 0;
        self.head_bytes = 0;
    }
}
