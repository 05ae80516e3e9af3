//! Transfer of one body from its source stream to its sink stream, with framing written anew.

use std::io;
use std::task::{Context, Poll, ready};

use eddy_http::{BodyReader, CHUNK_END, CONTINUE, ChunkFault, Fields, write_chunk_header, write_trailers};
use eddy_io::{Buffer, Stream};

use crate::h2::{AfterData, H2Stream};

/// Maximum data size that is copied behind its head or chunk header, which costs less than a gathering write; larger
/// data is written from the buffer that it was read into.
const COPY_BYTES_MAX: usize = 2 * 1024;
/// Maximum body bytes copied for mirrors and retries.
const MIRROR_COPY_BYTES_MAX: usize = 1024 * 1024;
/// Maximum body bytes kept for sending the request again after a refused stream or GOAWAY.
const RESEND_COPY_BYTES_MAX: usize = 64 * 1024;
/// Bytes staged before they are written.
const STAGE_BYTES_MAX: usize = 16 * 1024;

/// Framing that marks the end of an outgoing body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OutputFraming {
    /// By length or by the end of the connection, or there is no body: data is written as is.
    #[default]
    Plain,
    /// Chunked transfer coding.
    Chunked,
    /// HTTP/2 frames.
    Frames,
}

impl OutputFraming {
    /// Writes the end of a body: for chunked framing to `out`, for frames the trailers to `tail`.
    fn write_end(self, out: &mut Vec<u8>, tail: &mut Vec<u8>, trailers: Fields<'_>) {
        match self {
            Self::Plain => {}
            Self::Chunked => write_trailers(out, trailers),
            Self::Frames if trailers.is_empty() => {}
            Self::Frames => write_trailers(tail, trailers),
        }
    }
}

/// Mismatch between a body and its announced length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LengthMismatch {
    TooLong,
    TooShort,
}

/// One direction of an exchange.
///
/// Bytes are written in this order: `out`, then the first `ready` bytes of the source buffer.
#[derive(Debug, Default)]
pub(crate) struct Pump {
    pub(crate) reader: BodyReader,
    /// Head and framing to be written.
    pub(crate) out: Vec<u8>,
    /// Number of bytes in `out` that belong to heads; in HTTP/2 they become frames of their own.
    heads: usize,
    sent: usize,
    ready: usize,
    /// Whether a chunk end must follow once `ready` bytes are written.
    is_chunk_end_due: bool,
    framing: OutputFraming,
    /// Announced data bytes still to come; `None` when the framing marks the end. Counted only when filters see the
    /// body.
    owed: Option<u64>,
    is_finished: bool,
    /// Trailers, and whether the end has been sent, when frames mark the end.
    tail: Vec<u8>,
    is_end_framed: bool,
    /// Data bytes found in the body so far.
    pub(crate) data_bytes: u64,
    /// Data bytes written so far.
    pub(crate) written_bytes: u64,
    /// Copy of the data found so far, if one is wanted.
    pub(crate) copy: Option<BodyCopy>,
}

/// Copy of a body, up to a limit.
#[derive(Debug)]
pub(crate) struct BodyCopy {
    pub(crate) bytes: Vec<u8>,
    bytes_max: usize,
    /// Whether the body exceeded the limit, so that the copy is useless.
    pub(crate) is_too_large: bool,
}

impl BodyCopy {
    /// Creates a copy that is sent to mirrors or in a retry.
    pub(crate) fn for_others() -> Self {
        Self { bytes: Vec::new(), bytes_max: MIRROR_COPY_BYTES_MAX, is_too_large: false }
    }

    /// Creates a copy for sending the request again to another endpoint when the first has not processed it.
    pub(crate) fn for_resend() -> Self {
        Self { bytes_max: RESEND_COPY_BYTES_MAX, ..Self::for_others() }
    }

    fn add(&mut self, data: &[u8]) {
        if self.is_too_large || self.bytes.len() + data.len() > self.bytes_max {
            self.is_too_large = true;
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(data);
        }
    }
}

impl Pump {
    /// Prepares for another body; `out` is empty and takes the head.
    pub(crate) fn clear(&mut self) {
        self.restart();
        self.data_bytes = 0;
        self.written_bytes = 0;
        self.copy = None;
    }

    /// Discards the written head, so that another one can be written; body data found so far must be staged again.
    pub(crate) fn restart(&mut self) {
        self.out.clear();
        self.heads = 0;
        self.sent = 0;
        self.ready = 0;
        self.is_chunk_end_due = false;
        self.framing = OutputFraming::Plain;
        self.owed = None;
        self.is_finished = false;
        self.tail.clear();
        self.is_end_framed = false;
    }

    /// Whether all body data found so far can be staged again.
    pub(crate) fn can_repeat(&self) -> bool {
        self.copy.as_ref().is_some_and(|copy| !copy.is_too_large)
    }

    /// Returns the data found so far, if it can be staged again, and consumes what the source still holds of it.
    pub(crate) fn take_copied(&mut self, source: &mut Buffer) -> Vec<u8> {
        let Some(copy) = self.copy.take_if(|copy| !copy.is_too_large) else { return Vec::new() };
        source.consume(std::mem::take(&mut self.ready));
        copy.bytes
    }

    /// Sets the framing of the body, and the announced length if there is one.
    pub(crate) fn set_framing(&mut self, framing: OutputFraming, announced: Option<u64>) {
        self.framing = framing;
        self.owed = announced;
    }

    /// Checks whether data from filters fits the announced length. `is_last` marks the last data.
    pub(crate) fn check_length(&self, data: usize, is_last: bool) -> Result<(), LengthMismatch> {
        let Some(owed) = self.owed else { return Ok(()) };
        match owed.checked_sub(data as u64) {
            None => Err(LengthMismatch::TooLong),
            Some(missing) if is_last && missing > 0 => Err(LengthMismatch::TooShort),
            Some(_) => Ok(()),
        }
    }

    /// Whether there are bytes to write.
    pub(crate) fn has_output(&self) -> bool {
        let owes_end = self.framing == OutputFraming::Frames && self.is_finished && !self.is_end_framed;
        self.sent < self.out.len() || self.ready > 0 || owes_end
    }

    /// Whether a staged head has not been written yet.
    pub(crate) fn has_head(&self) -> bool {
        self.heads > 0
    }

    /// Whether so much is staged that it must be written before more is staged.
    pub(crate) fn is_full(&self) -> bool {
        self.sent > 0 || self.ready > 0 || self.out.len() >= STAGE_BYTES_MAX
    }

    /// Whether the staged bytes have been written in part.
    pub(crate) fn is_half_sent(&self) -> bool {
        self.sent > 0
    }

    /// Whether data that was taken out of the source's framing has not been written yet.
    pub(crate) fn has_data_ready(&self) -> bool {
        self.ready > 0
    }

    /// Whether everything, including the end of the body, has been staged and written.
    pub(crate) fn is_finished(&self) -> bool {
        self.is_finished && !self.has_output()
    }

    /// Stages the part of the source buffer that can be written.
    ///
    /// # Errors
    /// When the chunked framing of the source is broken.
    pub(crate) fn stage(&mut self, source: &mut Buffer) -> Result<(), ChunkFault> {
        while self.ready == 0 && !self.reader.is_done() && self.out.len() < STAGE_BYTES_MAX {
            let piece = self.reader.next(source.held())?;
            source.consume(piece.skip);
            if piece.data == 0 {
                break;
            }
            self.data_bytes += piece.data as u64;
            if let Some(copy) = &mut self.copy {
                copy.add(source.front(piece.data));
            }
            self.stage_data(source, piece.data);
        }
        // In frames, the end of the body is marked on the last data.
        let is_staged = self.ready == 0 || self.framing == OutputFraming::Frames;
        if self.reader.is_done() && is_staged && !self.is_finished {
            self.is_finished = true;
            let Self { framing, out, tail, reader, .. } = self;
            framing.write_end(out, tail, reader.trailers());
        }
        Ok(())
    }

    /// Stages the interim response that asks a client for its body.
    pub(crate) fn push_continue(&mut self) {
        self.out.extend_from_slice(CONTINUE);
        self.end_head();
    }

    /// Marks everything staged so far as heads.
    pub(crate) fn end_head(&mut self) {
        self.heads = self.out.len();
    }

    /// Returns the number of body bytes that can be spliced from stream to stream: the rest of a body of known length
    /// whose data is unchanged, when nothing waits to be written and no copy is wanted.
    pub(crate) fn spliceable_bytes(&self) -> u64 {
        let is_as_it_is = self.framing == OutputFraming::Plain && self.copy.is_none() && !self.has_output();
        if is_as_it_is { self.reader.length_left() } else { 0 }
    }

    /// Records that bytes of the body were read and spliced.
    pub(crate) fn note_passed(&mut self, bytes: u64) {
        self.reader.note_passed(bytes);
        self.data_bytes += bytes;
    }

    /// Stages data that has passed filters.
    pub(crate) fn push_data(&mut self, data: &[u8]) {
        if data.is_empty() {
            return;
        }
        debug_assert_eq!(self.check_length(data.len(), false), Ok(()), "the length was checked before");
        self.owed = self.owed.map(|owed| owed.saturating_sub(data.len() as u64));
        if let Some(copy) = &mut self.copy {
            copy.add(data);
        }
        let is_chunked = self.framing == OutputFraming::Chunked;
        if is_chunked {
            write_chunk_header(&mut self.out, data.len());
        }
        self.out.extend_from_slice(data);
        self.written_bytes += data.len() as u64;
        if is_chunked {
            self.out.extend_from_slice(CHUNK_END);
        }
    }

    /// Stages the end of a body that has passed filters.
    pub(crate) fn finish(&mut self, trailers: Fields<'_>) {
        debug_assert!(!self.is_finished, "a body ends once");
        self.is_finished = true;
        self.framing.write_end(&mut self.out, &mut self.tail, trailers);
    }

    /// Whether the end of the body has been staged.
    pub(crate) fn is_end_staged(&self) -> bool {
        self.is_finished
    }

    /// Writes the staged bytes, with one call if the stream accepts all of them.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        sink: &mut Stream,
        source: &mut Buffer,
    ) -> Poll<io::Result<usize>> {
        let head = self.out.get(self.sent..).expect("no more is sent than was staged");
        let data = source.front(self.ready);
        let head_bytes = head.len();
        let written = ready!(sink.poll_write_two(cx, head, data))?;
        let data_written = written.saturating_sub(head_bytes);
        self.sent += written - data_written;
        self.ready -= data_written;
        self.written_bytes += data_written as u64;
        source.consume(data_written);
        if self.sent == self.out.len() {
            self.out.clear();
            self.heads = 0;
            self.sent = 0;
        }
        if self.ready == 0 && self.is_chunk_end_due && self.out.is_empty() {
            self.is_chunk_end_due = false;
            self.out.extend_from_slice(CHUNK_END);
        }
        Poll::Ready(Ok(written))
    }

    /// As [`Self::poll_write`], but as frames of an HTTP/2 stream: a head, data, or the end.
    ///
    /// # Errors
    /// When the peer is gone.
    pub(crate) fn poll_frames(
        &mut self,
        cx: &Context<'_>,
        stream: &H2Stream,
        source: &mut Buffer,
    ) -> Poll<io::Result<usize>> {
        let ends = self.framing == OutputFraming::Frames && self.is_finished && self.tail.is_empty();
        if self.heads > 0 {
            let ends = ends && self.out.len() == self.heads && self.ready == 0;
            let heads = self.out.get(..self.heads).expect("heads are staged at the front");
            let length = stream.send_head(heads, ends)?;
            self.out.drain(..length);
            self.heads = self.heads.saturating_sub(length);
            self.is_end_framed = ends && self.heads == 0;
            return Poll::Ready(Ok(length));
        }
        let staged = self.out.get(self.sent..).expect("no more is sent than was staged");
        let data = source.front(self.ready);
        if staged.is_empty() && data.is_empty() {
            stream.send_end(&self.tail)?;
            self.is_end_framed = true;
            return Poll::Ready(Ok(0));
        }
        let total = staged.len() + data.len();
        let after = if ends { AfterData::End } else { AfterData::More };
        let sent = ready!(stream.poll_send(cx, staged, data, after))?;
        let from_staged = sent.min(staged.len());
        let from_source = sent - from_staged;
        self.is_end_framed = ends && sent == total;
        self.sent += from_staged;
        self.ready -= from_source;
        self.written_bytes += from_source as u64;
        source.consume(from_source);
        if self.sent == self.out.len() {
            self.out.clear();
            self.sent = 0;
        }
        Poll::Ready(Ok(sent))
    }

    fn stage_data(&mut self, source: &mut Buffer, data: usize) {
        let is_chunked = self.framing == OutputFraming::Chunked;
        if is_chunked {
            write_chunk_header(&mut self.out, data);
        }
        // With nothing staged before it, data is best written from its own buffer.
        if self.out.is_empty() || data > COPY_BYTES_MAX {
            self.ready = data;
            self.is_chunk_end_due = is_chunked;
            return;
        }
        self.out.extend(source.front(data));
        self.written_bytes += data as u64;
        source.consume(data);
        if is_chunked {
            self.out.extend_from_slice(CHUNK_END);
        }
    }
}
