//! Sending of messages to the peer.

use super::connection::{Http2, Http2ReadStage};
use super::frame::{
    self, FLAG_END_HEADERS, FLAG_END_STREAM, FRAME_BYTES_MAX, signed, write_frame, write_frame_head,
};
use super::hpack::{encode_field, encode_status};
use super::stream::{Gone, Http2StreamState};

impl Http2 {
    /// Sends the first head of `text`, in the form in which eddy writes heads towards a client: interim or final.
    /// Returns its length. `ends` means that nothing follows it.
    ///
    /// # Errors
    /// When the stream was reset or its response is complete.
    ///
    /// # Cost
    /// One pass; no allocation once as much was sent before.
    pub fn send_head(&mut self, id: u32, text: &[u8], ends: bool) -> Result<usize, Gone> {
        let is_first = !self.has_sent_block;
        let Some(stream) = open(&mut self.streams, id) else { return Err(Gone) };
        let mut lines = Lines(text);
        let status = lines.next().and_then(status_of).unwrap_or(500);
        let mut block = std::mem::take(&mut self.sent_block);
        encode_status(&mut block, status, is_first);
        encode_lines(&mut block, &mut self.sent_name, &mut lines, b"");
        let length = text.len() - lines.0.len();
        if status >= 200 {
            stream.is_answered = true;
            stream.is_send_ended = ends;
        }
        self.write_block(id, block, if ends && status >= 200 { FLAG_END_STREAM } else { 0 });
        Ok(length)
    }

    /// Sends as much data as the windows and the output allow, `first` before `second`; returns the number of bytes.
    /// With 0 the stream has to wait, and is among the woken ones when it can continue. `ends` means that nothing
    /// follows.
    ///
    /// # Errors
    /// When the stream was reset or its message is complete.
    ///
    /// # Cost
    /// One copy.
    pub fn send_data(&mut self, id: u32, first: &[u8], second: &[u8], ends: bool) -> Result<usize, Gone> {
        let total = first.len() + second.len();
        let mut sent = 0;
        while sent < total {
            let has_room = !self.is_full();
            let Some(stream) = open(&mut self.streams, id) else { return Err(Gone) };
            let window = usize::try_from(stream.send_window.min(self.send_window)).unwrap_or(0);
            let count = window.min(FRAME_BYTES_MAX).min(total - sent);
            if count == 0 || !has_room {
                // An update of the stream window wakes the stream by itself.
                if (stream.send_window > 0 || !has_room) && !self.stalled.contains(&id) {
                    self.stalled.push(id);
                }
                break;
            }
            let is_last = ends && sent + count == total;
            stream.send_window -= signed(count);
            stream.is_send_ended = is_last;
            self.send_window -= signed(count);
            let flags = if is_last { FLAG_END_STREAM } else { 0 };
            write_frame_head(&mut self.out, count, frame::DATA, flags, id);
            for (piece, start) in [(first, 0), (second, first.len())] {
                let from = sent.saturating_sub(start).min(piece.len());
                let to = (sent + count).saturating_sub(start).min(piece.len());
                self.out.extend_from_slice(piece.get(from..to).expect("data is sent in its order"));
            }
            sent += count;
        }
        Ok(sent)
    }

    /// Ends the message, with `trailers` in the form of [`crate::write_trailers`]; empty for none.
    ///
    /// # Errors
    /// When the stream was reset or its message is complete.
    pub fn send_end(&mut self, id: u32, trailers: &[u8]) -> Result<(), Gone> {
        let Some(stream) = open(&mut self.streams, id) else { return Err(Gone) };
        stream.is_send_ended = true;
        let mut block = std::mem::take(&mut self.sent_block);
        for line in Lines(trailers.strip_prefix(b"0\r\n").unwrap_or_default()) {
            if let Some((name, value)) = split_line(line) {
                encode_field(&mut block, &name.to_ascii_lowercase(), value);
            }
        }
        if block.is_empty() {
            self.sent_block = block;
            write_frame(&mut self.out, frame::DATA, FLAG_END_STREAM, id, &[]);
        } else {
            self.write_block(id, block, FLAG_END_STREAM);
        }
        Ok(())
    }

    /// Whether data can be sent on this stream now: the output has space, and both windows are open.
    pub fn is_writable(&self, id: u32) -> bool {
        self.streams.get(&id).is_none_or(|stream| {
            stream.reset.is_some() || (stream.send_window > 0 && self.send_window > 0 && !self.is_full())
        })
    }

    /// Writes a field block in as many frames as needed, and keeps its memory for the next; `end_flag` is
    /// [`FLAG_END_STREAM`] if the stream ends with it, or 0.
    pub(super) fn write_block(&mut self, id: u32, mut block: Vec<u8>, end_flag: u8) {
        self.has_sent_block = true;
        let mut pieces = block.chunks(FRAME_BYTES_MAX).peekable();
        let mut kind = frame::HEADERS;
        while let Some(piece) = pieces.next() {
            let mut flags = if pieces.peek().is_none() { FLAG_END_HEADERS } else { 0 };
            if kind == frame::HEADERS {
                flags |= end_flag;
            }
            write_frame(&mut self.out, kind, flags, id, piece);
            kind = frame::CONTINUATION;
        }
        block.clear();
        block.shrink_to(KEPT_BYTES_MAX);
        self.sent_block = block;
        debug_assert!(self.stage != Http2ReadStage::Preface, "nothing is answered before it was asked");
    }
}

/// Encodes the lines of a head up to its end, without fields named `without`; `name` is scratch memory.
pub(super) fn encode_lines(block: &mut Vec<u8>, name: &mut Vec<u8>, lines: &mut Lines<'_>, without: &[u8]) {
    for line in lines.by_ref() {
        if line.is_empty() {
            break;
        }
        let Some((before, value)) = split_line(line) else { continue };
        name.clear();
        name.extend(before.iter().map(u8::to_ascii_lowercase));
        if !is_connection_specific(name) && name != without {
            encode_field(block, name, value);
        }
    }
}

/// Returns a stream that can still be written to.
fn open(
    streams: &mut std::collections::BTreeMap<u32, Http2StreamState>,
    id: u32,
) -> Option<&mut Http2StreamState> {
    streams.get_mut(&id).filter(|stream| stream.reset.is_none() && !stream.is_send_ended)
}

/// Lines of a text that eddy wrote.
pub(super) struct Lines<'t>(pub(super) &'t [u8]);

impl<'t> Iterator for Lines<'t> {
    type Item = &'t [u8];

    fn next(&mut self) -> Option<&'t [u8]> {
        let end = memchr::memchr(b'\n', self.0)?;
        let (line, rest) = self.0.split_at_checked(end + 1)?;
        self.0 = rest;
        line.strip_suffix(b"\r\n")
    }
}

pub(super) fn split_line(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = memchr::memchr(b':', line)?;
    let (name, rest) = line.split_at_checked(colon)?;
    Some((name, rest.strip_prefix(b": ")?))
}

/// Returns the status of a line such as `HTTP/1.1 200 OK`.
fn status_of(line: &[u8]) -> Option<u16> {
    str::from_utf8(line.get(9..12)?).ok()?.parse().ok()
}

/// Whether a field is about an HTTP/1 connection (RFC 9113 §8.2.2), or is replaced by `:authority`.
fn is_connection_specific(name: &[u8]) -> bool {
    matches!(
        name,
        b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade" | b"host"
    )
}

/// Capacity above which memory is freed after a block.
const KEPT_BYTES_MAX: usize = 8 * 1024;
