//! Reader of an incoming body: locates its data in the received bytes, and its end.

use crate::chunk::{ChunkDecoder, ChunkFault, ChunkLimits, ChunkStep};
use crate::field::Fields;
use crate::head::{RequestBody, ResponseBody};

/// Reads a body of any framing, piece by piece.
#[derive(Clone, Debug)]
pub struct BodyReader {
    framing: BodyFraming,
    chunks: ChunkDecoder,
}

/// Searches for the end of a body in received bytes without consuming them.
#[derive(Debug)]
pub struct BodyProbe {
    reader: BodyReader,
    /// Number of bytes searched.
    seen: usize,
}

impl BodyProbe {
    /// Returns whether the body ends within `held`, to which bytes may have been appended since the last call.
    ///
    /// # Cost
    /// Linear in the appended bytes.
    pub fn finds_end(&mut self, held: &[u8]) -> bool {
        while !self.reader.is_done() {
            let rest = held.get(self.seen..).expect("bytes were appended to those seen before");
            match self.reader.next(rest) {
                Ok(piece) if piece.skip + piece.data > 0 => self.seen += piece.skip + piece.data,
                Ok(_) => return false,
                // The reader of these bytes will find the error, too.
                Err(_) => return true,
            }
        }
        true
    }
}

/// Structure of the first bytes of a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BodyPiece {
    /// Bytes of framing to discard.
    pub skip: usize,
    /// Bytes of data after the framing; 0 when more must be read or the body has ended.
    pub data: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyFraming {
    Done,
    Length(u64),
    Chunked,
    UntilClose,
    /// The end of the body, and the beginning of whatever follows it, can no longer be determined.
    Broken(ChunkFault),
}

impl Default for BodyReader {
    fn default() -> Self {
        Self { framing: BodyFraming::Done, chunks: ChunkDecoder::new(ChunkLimits::default()) }
    }
}

impl BodyReader {
    /// Begins a request body.
    pub fn begin_request(&mut self, body: RequestBody) {
        self.begin(match body {
            RequestBody::None => BodyFraming::Done,
            RequestBody::Length(length) => BodyFraming::Length(length),
            RequestBody::Chunked => BodyFraming::Chunked,
        });
    }

    /// Begins the body of a request in HTTP/2 frames, which mark its end.
    pub fn begin_http2(&mut self, body: RequestBody) {
        self.begin(match body {
            RequestBody::None => BodyFraming::Done,
            RequestBody::Length(length) => BodyFraming::Length(length),
            RequestBody::Chunked => BodyFraming::UntilClose,
        });
    }

    /// Ends a body in HTTP/2 frames; returns whether it may end here with these trailers. They are written as the end of
    /// a chunked body, empty for none, and may not violate the syntax or a limit.
    pub fn end_http2(&mut self, trailers: &[u8]) -> bool {
        if !self.end_of_stream() {
            return false;
        }
        let mut rest = trailers;
        while !rest.is_empty() {
            let Ok(ChunkStep::More { consumed } | ChunkStep::Done { consumed }) = self.chunks.decode(rest)
            else {
                return false;
            };
            rest = rest.get(consumed..).expect("no more is consumed than was given");
        }
        true
    }

    /// Returns a probe that looks ahead from the current position.
    pub fn probe(&self) -> BodyProbe {
        BodyProbe { reader: self.clone(), seen: 0 }
    }

    /// Begins a response body.
    pub fn begin_response(&mut self, body: ResponseBody) {
        self.begin(match body {
            ResponseBody::None => BodyFraming::Done,
            ResponseBody::Length(length) => BodyFraming::Length(length),
            ResponseBody::Chunked => BodyFraming::Chunked,
            ResponseBody::UntilClose => BodyFraming::UntilClose,
        });
    }

    /// Returns the structure of the front of `held`; all of it must be consumed before the next call.
    ///
    /// # Errors
    /// When the chunked framing is broken, and at every call after that.
    pub fn next(&mut self, held: &[u8]) -> Result<BodyPiece, ChunkFault> {
        match self.framing {
            BodyFraming::Done => Ok(BodyPiece::default()),
            BodyFraming::Length(left) => {
                let data = usize::try_from(left).map_or(held.len(), |left| left.min(held.len()));
                let left = left - data as u64;
                self.framing = if left == 0 { BodyFraming::Done } else { BodyFraming::Length(left) };
                Ok(BodyPiece { skip: 0, data })
            }
            BodyFraming::UntilClose => Ok(BodyPiece { skip: 0, data: held.len() }),
            BodyFraming::Broken(fault) => Err(fault),
            BodyFraming::Chunked => match self.chunks.decode(held) {
                Ok(ChunkStep::Data { skip, len }) => Ok(BodyPiece { skip, data: len }),
                Ok(ChunkStep::More { consumed }) => Ok(BodyPiece { skip: consumed, data: 0 }),
                Ok(ChunkStep::Done { consumed }) => {
                    self.framing = BodyFraming::Done;
                    Ok(BodyPiece { skip: consumed, data: 0 })
                }
                Err(fault) => {
                    // The bytes are still buffered; a later read must not find another end in them.
                    self.framing = BodyFraming::Broken(fault);
                    Err(fault)
                }
            },
        }
    }

    /// Whether the body has ended.
    pub fn is_done(&self) -> bool {
        self.framing == BodyFraming::Done
    }

    /// Records the end of the stream; returns whether the body may end there.
    pub fn end_of_stream(&mut self) -> bool {
        if self.framing == BodyFraming::UntilClose {
            self.framing = BodyFraming::Done;
        }
        self.is_done()
    }

    /// Whether so much is still to come that a large buffer pays off.
    pub fn is_bulk(&self, small: usize) -> bool {
        match self.framing {
            BodyFraming::Done | BodyFraming::Broken(_) => false,
            BodyFraming::Length(left) => left > small as u64,
            BodyFraming::Chunked | BodyFraming::UntilClose => true,
        }
    }

    /// Returns the remaining bytes of a body of known length; 0 for any other body.
    pub fn length_left(&self) -> u64 {
        if let BodyFraming::Length(left) = self.framing { left } else { 0 }
    }

    /// Records that bytes of a body of known length were transferred without this reader.
    pub fn note_passed(&mut self, bytes: u64) {
        let left = self.length_left().saturating_sub(bytes);
        if let BodyFraming::Length(_) = self.framing {
            self.framing = if left == 0 { BodyFraming::Done } else { BodyFraming::Length(left) };
        }
    }

    /// Returns the trailers of a chunked body that has ended.
    pub fn trailers(&self) -> Fields<'_> {
        self.chunks.trailers()
    }

    fn begin(&mut self, framing: BodyFraming) {
        self.framing = if framing == BodyFraming::Length(0) { BodyFraming::Done } else { framing };
        self.chunks.reset();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `wire` in pieces of `step` bytes; returns the data and the number of bytes left over.
    fn read(reader: &mut BodyReader, wire: &[u8], step: usize) -> Result<(Vec<u8>, usize), ChunkFault> {
        let (mut data, mut held, mut rest) = (Vec::new(), Vec::new(), wire);
        while !reader.is_done() {
            if rest.is_empty() {
                break;
            }
            let (piece, left) = rest.split_at(step.min(rest.len()));
            held.extend_from_slice(piece);
            rest = left;
            loop {
                let piece = reader.next(&held)?;
                data.extend(held.drain(..piece.skip + piece.data).skip(piece.skip));
                if piece.data == 0 || reader.is_done() {
                    break;
                }
            }
        }
        Ok((data, held.len() + rest.len()))
    }

    #[test]
    fn each_framing_yields_its_data_and_leaves_the_next_message() {
        for step in 1..20 {
            let mut reader = BodyReader::default();
            reader.begin_request(RequestBody::Length(5));
            assert_eq!(read(&mut reader, b"helloGET", step), Ok((b"hello".to_vec(), 3)), "step {step}");
            reader.begin_response(ResponseBody::Chunked);
            let wire = b"3\r\nhel\r\n2;x\r\nlo\r\n0\r\nA: b\r\n\r\nGET";
            assert_eq!(read(&mut reader, wire, step), Ok((b"hello".to_vec(), 3)), "step {step}");
            assert_eq!(reader.trailers().first_named(b"a"), Some(b"b".as_slice()));
            reader.begin_request(RequestBody::None);
            assert_eq!(read(&mut reader, b"GET", step), Ok((Vec::new(), 3)));
        }
    }

    #[test]
    fn only_a_close_delimited_body_may_end_with_the_connection() {
        let mut reader = BodyReader::default();
        reader.begin_response(ResponseBody::UntilClose);
        assert_eq!(reader.next(b"abc"), Ok(BodyPiece { skip: 0, data: 3 }));
        assert!(!reader.is_done());
        assert!(reader.end_of_stream() && reader.is_done());
        reader.begin_response(ResponseBody::Length(4));
        assert_eq!(reader.next(b"abc"), Ok(BodyPiece { skip: 0, data: 3 }));
        assert!(!reader.end_of_stream());
        reader.begin_response(ResponseBody::Chunked);
        assert!(!reader.end_of_stream());
        reader.begin_response(ResponseBody::Length(0));
        assert!(reader.end_of_stream());
    }

    #[test]
    fn a_probe_finds_the_end_of_a_body_without_consuming_it() {
        let ends = |body: RequestBody, pieces: &[&str]| {
            let mut reader = BodyReader::default();
            reader.begin_request(body);
            let mut probe = reader.probe();
            let mut held = String::new();
            let found = pieces.iter().map(|piece| {
                held.push_str(piece);
                probe.finds_end(held.as_bytes())
            });
            found.collect::<Vec<_>>()
        };
        assert_eq!(ends(RequestBody::Length(5), &["", "hell", "o", "GET /"]), [false, false, true, true]);
        assert_eq!(
            ends(RequestBody::Chunked, &["5\r\nhel", "lo\r\n0\r", "\n\r", "\n"]),
            [false, false, false, true]
        );
        assert_eq!(ends(RequestBody::Chunked, &["zz\r\n"]), [true]);
        assert_eq!(ends(RequestBody::None, &[""]), [true]);
    }

    #[test]
    fn broken_chunks_are_refused() {
        let mut reader = BodyReader::default();
        reader.begin_request(RequestBody::Chunked);
        assert!(read(&mut reader, b"5\nhello\r\n", 3).is_err());
    }
}
