//! Assembles messages from pieces.

use crate::fault::Misconduct;
use crate::frame::{RingFrameHeader, RingFrameKind};

/// A message of the other side.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LinkMessage {
    /// Never `More`.
    pub(crate) kind: RingFrameKind,
    pub(crate) call: u64,
    pub(crate) detail: u32,
    pub(crate) timeout_ms: u32,
    pub(crate) bytes: Vec<u8>,
}

/// Assembles messages from consecutive pieces.
///
/// A writer never interleaves the pieces of two messages; if it abandons a message, it simply begins the next. So
/// there is at most one unfinished message, and its memory grows with the bytes received, not with the announced
/// length.
#[derive(Debug)]
pub(crate) struct Assembler {
    message_bytes_max: u64,
    piece_bytes_max: u64,
    unfinished: Option<(LinkMessage, u64)>,
}

impl Assembler {
    pub(crate) fn new(message_bytes_max: usize, piece_bytes_max: usize) -> Self {
        let [message_bytes_max, piece_bytes_max] = [message_bytes_max as u64, piece_bytes_max as u64];
        Self { message_bytes_max, piece_bytes_max, unfinished: None }
    }

    /// Whether the frame begins or continues a message that only the link's own thread may handle.
    pub(crate) fn is_for_reader(&self, frame: &RingFrameHeader) -> bool {
        let kind = match (&self.unfinished, frame.kind) {
            (Some((message, _)), RingFrameKind::More) => message.kind,
            (_, kind) => kind,
        };
        matches!(kind, RingFrameKind::Call | RingFrameKind::Cancel)
    }

    /// Returns the buffer to which the bytes of a frame are to be appended.
    pub(crate) fn accept(&mut self, frame: &RingFrameHeader) -> Result<&mut Vec<u8>, Misconduct> {
        if frame.kind != RingFrameKind::More {
            if frame.total > self.message_bytes_max {
                return Err(Misconduct::Length { bytes: frame.total, limit: self.message_bytes_max });
            }
            let RingFrameHeader { kind, call, detail, timeout_ms, total, .. } = *frame;
            self.unfinished =
                Some((LinkMessage { kind, call, detail, timeout_ms, bytes: Vec::new() }, total));
        }
        let piece_bytes_max = self.piece_bytes_max;
        let (message, total) = self.unfinished.as_mut().ok_or(Misconduct::Stray)?;
        if message.call != frame.call || *total != frame.total {
            return Err(Misconduct::Stray);
        }
        let expected = (*total - message.bytes.len() as u64).min(piece_bytes_max);
        if u64::from(frame.bytes) != expected || (frame.kind == RingFrameKind::More && expected == 0) {
            return Err(Misconduct::Piece { bytes: frame.bytes.into(), expected });
        }
        Ok(&mut message.bytes)
    }

    /// Returns the message if its last piece has arrived.
    pub(crate) fn take_whole(&mut self) -> Option<LinkMessage> {
        let (message, _) =
            self.unfinished.take_if(|(message, total)| message.bytes.len() as u64 == *total)?;
        Some(message)
    }
}
