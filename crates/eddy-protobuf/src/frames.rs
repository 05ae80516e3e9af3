//! gRPC framing: a flag and a length before each message.

use crate::fault::{ProtobufError, ProtobufErrorKind, ProtobufResult};
use crate::limits::ProtobufLimits;

/// Splits a stream into frames as it arrives.
#[derive(Clone, Debug)]
pub struct Frames {
    compressed: Compressed,
    message_bytes_max: usize,
    head: [u8; HEAD_BYTES],
    head_bytes: usize,
    /// Remaining bytes of the message.
    left: u64,
    is_within: bool,
    offset: u64,
}

/// Treatment of compressed frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compressed {
    /// Compressed frames are an error.
    Refuse,
    /// Compressed frames are marked as such, and their bytes are passed through.
    Pass,
}

/// The next event in a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameEvent<'p> {
    /// A message begins.
    Start {
        /// Length in bytes.
        length: u32,
        /// Whether the message is compressed.
        is_compressed: bool,
    },
    /// Bytes of the message.
    Data(&'p [u8]),
    /// The message ends.
    End,
}

impl Frames {
    /// Creates a decoder for one direction of one call.
    pub fn new(compressed: Compressed, limits: &ProtobufLimits) -> Self {
        Self {
            compressed,
            message_bytes_max: limits.message_bytes_max,
            head: [0; HEAD_BYTES],
            head_bytes: 0,
            left: 0,
            is_within: false,
            offset: 0,
        }
    }

    /// Takes the next event from the front of `piece`; returns `None` when the piece is consumed.
    ///
    /// # Errors
    /// [`ProtobufErrorKind::FrameFlag`], [`ProtobufErrorKind::FrameCompressed`],
    /// [`ProtobufErrorKind::MessageTooLarge`]; the offset counts from the beginning of the call.
    /// # Spec
    /// [gRPC over HTTP/2](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md), Length-Prefixed-Message.
    pub fn next<'p>(&mut self, piece: &mut &'p [u8]) -> ProtobufResult<Option<FrameEvent<'p>>> {
        if self.is_within {
            return Ok(self.next_data(piece));
        }
        while let (Some(place), Some((byte, rest))) =
            (self.head.get_mut(self.head_bytes), piece.split_first())
        {
            *place = *byte;
            self.head_bytes += 1;
            self.offset += 1;
            *piece = rest;
        }
        let [flag, length @ ..] = self.head;
        if self.head_bytes > 0 && flag > 1 {
            return Err(self.fault(ProtobufErrorKind::FrameFlag));
        }
        if self.head_bytes < HEAD_BYTES {
            return Ok(None);
        }
        if flag == 1 && self.compressed == Compressed::Refuse {
            return Err(self.fault(ProtobufErrorKind::FrameCompressed));
        }
        let length = u32::from_be_bytes(length);
        if length as usize > self.message_bytes_max {
            return Err(self.fault(ProtobufErrorKind::MessageTooLarge));
        }
        self.left = u64::from(length);
        self.is_within = true;
        self.head_bytes = 0;
        Ok(Some(FrameEvent::Start { length, is_compressed: flag == 1 }))
    }

    fn next_data<'p>(&mut self, piece: &mut &'p [u8]) -> Option<FrameEvent<'p>> {
        if self.left == 0 {
            self.is_within = false;
            return Some(FrameEvent::End);
        }
        let bytes = usize::try_from(self.left).unwrap_or(usize::MAX).min(piece.len());
        if bytes == 0 {
            return None;
        }
        let (data, rest) = piece.split_at(bytes);
        *piece = rest;
        self.left -= bytes as u64;
        self.offset += bytes as u64;
        Some(FrameEvent::Data(data))
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// [`ProtobufErrorKind::Truncated`] within a frame.
    pub fn finish(&self) -> ProtobufResult {
        if self.is_within || self.head_bytes > 0 {
            return Err(self.fault(ProtobufErrorKind::Truncated));
        }
        Ok(())
    }

    /// Returns the header of a frame that is not compressed.
    pub fn plain_head(length: u32) -> [u8; HEAD_BYTES] {
        let [one, two, three, four] = length.to_be_bytes();
        [0, one, two, three, four]
    }

    /// Returns a frame header.
    pub fn head(length: u32, is_compressed: bool) -> [u8; HEAD_BYTES] {
        let [one, two, three, four] = length.to_be_bytes();
        [u8::from(is_compressed), one, two, three, four]
    }

    fn fault(&self, kind: ProtobufErrorKind) -> ProtobufError {
        ProtobufError::new(self.offset - self.head_bytes as u64, kind)
    }
}

const HEAD_BYTES: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the messages of a stream that arrives in pieces of `step` bytes, and whether each is compressed.
    fn messages(stream: &[u8], step: usize, compressed: Compressed) -> ProtobufResult<Vec<(bool, Vec<u8>)>> {
        let mut frames =
            Frames::new(compressed, &ProtobufLimits { message_bytes_max: 1000, ..ProtobufLimits::default() });
        let mut messages: Vec<(bool, Vec<u8>)> = Vec::new();
        let mut ends = 0;
        for mut piece in stream.chunks(step) {
            while let Some(event) = frames.next(&mut piece)? {
                match event {
                    FrameEvent::Start { is_compressed, .. } => messages.push((is_compressed, Vec::new())),
                    FrameEvent::Data(data) => messages.last_mut().unwrap().1.extend_from_slice(data),
                    FrameEvent::End => ends += 1,
                }
            }
        }
        frames.finish()?;
        assert_eq!(ends, messages.len());
        Ok(messages)
    }

    #[test]
    fn frames_are_parsed_in_any_chunking() {
        let stream = [&[0, 0, 0, 0, 3][..], b"abc", &[1, 0, 0, 0, 0], &[0, 0, 0, 0, 1], b"x"].concat();
        let expected = vec![(false, b"abc".to_vec()), (true, Vec::new()), (false, b"x".to_vec())];
        for step in 1..=stream.len() {
            assert_eq!(messages(&stream, step, Compressed::Pass), Ok(expected.clone()), "by {step}");
        }
    }

    #[test]
    fn faults_report_their_offset() {
        let check = |stream: &[u8], compressed, offset, kind| {
            for step in 1..=stream.len() {
                assert_eq!(
                    messages(stream, step, compressed),
                    Err(ProtobufError::new(offset, kind)),
                    "by {step}"
                );
            }
        };
        check(&[0, 0, 0, 0, 1, 9, 2], Compressed::Pass, 6, ProtobufErrorKind::FrameFlag);
        check(&[1, 0, 0, 0, 0], Compressed::Refuse, 0, ProtobufErrorKind::FrameCompressed);
        check(&[0, 0xff, 0xff, 0xff, 0xff], Compressed::Pass, 0, ProtobufErrorKind::MessageTooLarge);
        check(&[0, 0, 0, 0, 2, 9], Compressed::Pass, 6, ProtobufErrorKind::Truncated);
        check(&[0, 0, 0], Compressed::Pass, 0, ProtobufErrorKind::Truncated);
    }
}
