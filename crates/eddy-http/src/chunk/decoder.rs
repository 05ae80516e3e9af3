//! Chunks taken apart as they arrive.

use super::ChunkFault;
use super::size_line::{SizeLine, SizeStep};
use crate::field::{Field, Fields, parse_lines};
use crate::octet::is_text;

/// How much of a chunked body may be something else than data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkLimits {
    /// Most bytes of all chunk extensions of a message. Default 16 KiB.
    pub extension_bytes_max: u32,
    /// Most bytes of a trailer section. Default 8 KiB.
    pub trailer_bytes_max: u32,
    /// Most trailer fields, repeated ones counted each. Default 32.
    pub trailer_fields_max: u16,
}

impl Default for ChunkLimits {
    fn default() -> Self {
        Self { extension_bytes_max: 16 * 1024, trailer_bytes_max: 8 * 1024, trailer_fields_max: 32 }
    }
}

/// Takes the chunked coding off a body as it arrives; to be used again for the next.
///
/// Extensions are checked and dropped. Trailers are kept, apart from the head, for [`ChunkDecoder::trailers`].
///
/// # Cost
/// Linear in the bytes however they are cut. Data is not copied; trailers are, once.
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

/// What the next bytes of a chunked body are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkStep {
    /// Data of a chunk after `skip` bytes of framing: take both away from the input and call again.
    Data {
        /// Framing bytes before the data.
        skip: usize,
        /// Data bytes; at least one.
        len: usize,
    },
    /// The whole input was framing: take it away and call again with more.
    More {
        /// All bytes of the input.
        consumed: usize,
    },
    /// The body has ended; what follows in the input belongs to the next message.
    Done {
        /// Framing bytes up to the end of the body.
        consumed: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkDecoderState {
    /// In the line before the data.
    Size(SizeLine),
    /// In the data; how much of it is to come, at least one byte.
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
    /// A decoder at the begin of a body.
    pub fn new(limits: ChunkLimits) -> Self {
        Self { limits, state: START, extension_bytes: 0, trailer_bytes: Vec::new(), trailers: Vec::new() }
    }

    /// Makes ready for the next body.
    pub fn reset(&mut self) {
        self.state = START;
        self.extension_bytes = 0;
        self.trailer_bytes.clear();
        self.trailers.clear();
    }

    /// Whether the body has ended.
    pub fn is_done(&self) -> bool {
        self.state == ChunkDecoderState::Done
    }

    /// The trailer fields as sent; none before the body has ended.
    ///
    /// They are no part of the head and are not to become one; see [`super::is_trailer_allowed`].
    pub fn trailers(&self) -> Fields<'_> {
        Fields::new(&self.trailer_bytes, &self.trailers)
    }

    /// Looks at the next bytes of the body. After the end it answers [`ChunkStep::Done`] and takes nothing.
    ///
    /// # Errors
    /// A [`ChunkFault`]; the decoder is of no use until it is reset.
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
                    at += self.take_trailers(input.get(at..).unwrap_or_default())?;
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

    /// Asserts what holds between calls.
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

    /// Takes bytes of the trailer section up to its end; answers with how many.
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
