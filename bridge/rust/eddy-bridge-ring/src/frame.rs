//! Frames: the content of a ring, in words.

use crate::fault::Misconduct;

/// Frame header; `bytes` bytes follow it, padded to whole words.
///
/// ```text
/// word 0   bytes (32 bits) | kind (8) | zero (24)
/// word 1   number of the call
/// word 2   a call's method or a failure's code (32 bits) | a call's time in ms (32)
/// word 3   bytes of the whole message
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RingFrameHeader {
    pub(crate) kind: RingFrameKind,
    pub(crate) bytes: u32,
    pub(crate) call: u64,
    pub(crate) detail: u32,
    pub(crate) timeout_ms: u32,
    pub(crate) total: u64,
}

/// Kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum RingFrameKind {
    /// Begins a call.
    Call = 1,
    /// Begins the answer to a call.
    Answer = 2,
    /// Begins a failure, which is sent instead of an answer.
    Failure = 3,
    /// Cancels a call: the caller no longer waits for its answer.
    Cancel = 4,
    /// The next piece of the message begun last.
    More = 5,
}

impl RingFrameHeader {
    pub(crate) fn to_words(self) -> [u64; FRAME_WORDS] {
        let first = u64::from(self.bytes) | (self.kind as u64) << 32;
        let third = u64::from(self.detail) | u64::from(self.timeout_ms) << 32;
        [first, self.call, third, self.total]
    }

    pub(crate) fn parse([first, call, third, total]: [u64; FRAME_WORDS]) -> Result<Self, Misconduct> {
        if first >> 40 != 0 {
            return Err(Misconduct::Reserved);
        }
        let kind = RingFrameKind::parse(low_byte(first >> 32))?;
        Ok(Self {
            kind,
            bytes: low_half(first),
            call,
            detail: low_half(third),
            timeout_ms: low_half(third >> 32),
            total,
        })
    }

    /// Returns the number of words that the frame occupies in a ring.
    pub(crate) fn words(&self) -> u64 {
        FRAME_WORDS as u64 + u64::from(self.bytes).div_ceil(WORD_BYTES as u64)
    }
}

impl RingFrameKind {
    fn parse(code: u8) -> Result<Self, Misconduct> {
        [Self::Call, Self::Answer, Self::Failure, Self::Cancel, Self::More]
            .into_iter()
            .find(|kind| *kind as u8 == code)
            .ok_or(Misconduct::Kind(code))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is wanted")]
fn low_half(word: u64) -> u32 {
    word as u32
}

#[expect(clippy::cast_possible_truncation, reason = "the lowest byte is what is wanted")]
fn low_byte(word: u64) -> u8 {
    word as u8
}

/// Words of a frame header.
pub(crate) const FRAME_WORDS: usize = 4;
/// Bytes of a word.
pub(crate) const WORD_BYTES: usize = 8;
