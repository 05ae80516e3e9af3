//! Incremental decoder of the chunked transfer coding.

use super::ChunkFault;
use super::size_line::{SizeLine, SizeStep};
use crate::field::{Field, Fields, parse_lines};
use crate::octet::is_text;

/// Limits on the parts of a chunked body that are not data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkLimits {
    /// Maximum bytes of all chunk extensions of a message. Default 16 KiB.
    pub extension_bytes_max: u32,
    /// Maximum bytes of a trailer section. Default 8 KiB.
    pub trailer_bytes_max: u32,
    /// Maximum trailer fields; repeated fields count each. Default 32.
    pub trailer_fields_max: u16,
}

impl Default for ChunkLimits {
    fn default() -> Self {
        Self { extension_bytes_max: 16 * 1024, trailer_bytes_max: 8 * 1024, trailer_fields_max: 32 }
    }
}

/// Decodes the chunked coding of a body as it arrives; reusable for the next body.
///
/// Extensions are validated and dropped. Trailers are kept, apart from the head, for [`ChunkDecoder::trailers`].
///
/// # Cost
/// Linear in the bytes, however they are split. Data is not copied; trailers are copied once.
///
/// # Spec
/// [RFC 9112 §7.1](https://www.rfc-editor.org/rfc/rfc9112#section-7.1), with CR LF as the only line end.
#[derive(Clone, Debug)]
pub struct ChunkDecoder {
    limits: ChunkLimits,
    state: ChunkDecoderState,
    extension_bytes: u32,
    trailer_bytes: Vec<u8>,
    trailers: Vec<Field>,
}

/// Result of decoding the next bytes of a chunked body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkStep {
    /// Chunk data after `skip` bytes of framing: remove both from the input and call again.
    Data {
        /// Framing bytes before the data.
        skip: usize,
        /// Data bytes; at least one.
        len: usize,
    },
    /// The whole input was framing: remove it and call again with more.
    More {
        /// Length of the input.
        consumed: usize,
    },
    /// The body is complete; the rest of the input belongs to the next message.
    Done {
        /// Framing bytes up to the end of the body.
        consumed: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkDecoderState {
    /// In the chunk size line.
    Size(SizeLine),
    /// In the data; the number of remaining bytes, at least one.
    Data(u64),
    /// After the data, before its CR.
    DataEnd,
    /// After the data and its CR.
    DataLineFeed,
    /// In the trailer section.
    Trailers,
    /// After the end of the body.
    Done,
}

impl ChunkDecoder {
    /// Creates a decoder at the beginning of a body.
    pub fn new(limits: ChunkLimits) -> Self {
        Self { limits, state: START, extension_bytes: 0, trailer_bytes: Vec::new(), trailers: Vec::new() }
    }

    /// Resets the decoder for the next body.
    pub fn reset(&mut self) {
        self.state = START;
        self.extension_bytes = 0;
        self.trailer_bytes.clear();
        self.trailers.clear();
    }

    /// Whether the body is complete.
    pub fn is_done(&self) -> bool {
        self.state == ChunkDecoderState::Done
    }

    /// Returns the trailer fields as received; empty before the body is complete.
    ///
    /// They are not part of the head and must not be merged into it; see [`super::is_trailer_allowed`].
    pub fn trailers(&self) -> Fields<'_> {
        Fields::new(&self.trailer_bytes, &self.trailers)
    }

    /// Decodes the next bytes of the body. After the end it returns [`ChunkStep::Done`] and consumes nothing.
    ///
    /// # Errors
    /// A [`ChunkFault`]; the decoder is unusable until it is reset.
    pub fn decode(&mut self, input: &[u8]) -> Result<ChunkStep, ChunkFault> {
        let mut at = 0;
        loop {
            match self.state {
                ChunkDecoderState::Data(left) => {
                    let available = input.len().saturating_sub(at);
                    if available == 0 {
                        return Ok(ChunkStep::More { consumed: at });
                    }
                    let len = usize::try_from(left).map_or(available, |left| left.min(available));
                    let rest = left.saturating_sub(len as u64);
                    self.state =
                        if rest == 0 { ChunkDecoderState::DataEnd } else { ChunkDecoderState::Data(rest) };
                    return Ok(ChunkStep::Data { skip: at, len });
                }
                ChunkDecoderState::Done => return Ok(ChunkStep::Done { consumed: at }),
                ChunkDecoderState::Trailers => {
                    at += self.take_trailers(input.split_at(at).1)?;
                    if self.state == ChunkDecoderState::Trailers {
                        return Ok(ChunkStep::More { consumed: at });
                    }
                }
                ChunkDecoderState::Size(_) | ChunkDecoderState::DataEnd | ChunkDecoderState::DataLineFeed => {
                    let Some(&byte) = input.get(at) else { return Ok(ChunkStep::More { consumed: at }) };
                    at += 1;
                    self.take_framing(byte)?;
                }
            }
        }
    }

    /// Asserts the invariants that hold between calls.
    #[cfg(test)]
    pub(super) fn check_invariants(&self) {
        assert!(self.state != ChunkDecoderState::Data(0), "data that is all taken is over");
        assert!(self.extension_bytes <= self.limits.extension_bytes_max);
        assert!(self.trailer_bytes.len() <= self.limits.trailer_bytes_max as usize);
        assert!(self.trailers.is_empty() || self.is_done(), "trailers are read at the end");
    }

    fn take_framing(&mut self, byte: u8) -> Result<(), ChunkFault> {
        self.state = match self.state {
            ChunkDecoderState::DataEnd if byte == b'\r' => ChunkDecoderState::DataLineFeed,
            ChunkDecoderState::DataLineFeed if byte == b'\n' => START,
            ChunkDecoderState::Size(mut line) => match line.take(byte)? {
                SizeStep::Done(0) => ChunkDecoderState::Trailers,
                SizeStep::Done(size) => ChunkDecoderState::Data(size),
                SizeStep::More => ChunkDecoderState::Size(line),
                SizeStep::Extension => {
                    self.extension_bytes += 1;
                    if self.extension_bytes > self.limits.extension_bytes_max {
                        return Err(ChunkFault::ExtensionsTooLarge);
                    }
                    ChunkDecoderState::Size(line)
                }
            },
            ChunkDecoderState::DataEnd
            | ChunkDecoderState::DataLineFeed
            | ChunkDecoderState::Data(_)
            | ChunkDecoderState::Trailers
            | ChunkDecoderState::Done => {
                return Err(ChunkFault::BadLineEnd);
            }
        };
        Ok(())
    }

    /// Consumes bytes of the trailer section up to its end; returns their number.
    fn take_trailers(&mut self, input: &[u8]) -> Result<usize, ChunkFault> {
        for (index, &byte) in input.iter().enumerate() {
            let before = self.trailer_bytes.last().copied();
            let is_fit = match byte {
                b'\n' => before == Some(b'\r'),
                b'\r' => before != Some(b'\r'),
                _ => is_text(byte) && before != Some(b'\r'),
            };
            if !is_fit {
                return Err(ChunkFault::BadTrailer);
            }
            self.trailer_bytes.push(byte);
            if self.trailer_bytes.len() > self.limits.trailer_bytes_max as usize {
                return Err(ChunkFault::TrailersTooLarge);
            }
            if byte == b'\n' && (self.trailer_bytes == b"\r\n" || self.trailer_bytes.ends_with(b"\r\n\r\n")) {
                let fields_max = self.limits.trailer_fields_max.into();
                parse_lines(&self.trailer_bytes, 0, &mut self.trailers, fields_max)?;
                self.state = ChunkDecoderState::Done;
                return Ok(index + 1);
            }
        }
        Ok(input.len())
    }
}

const START: ChunkDecoderState = ChunkDecoderState::Size(SizeLine::new());
