//! A client of HTTP/2 that sends the frames it is told to, right or wrong, and tells which come back.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::wire::within;

/// The types of frames.
pub mod kind {
    #![expect(missing_docs, reason = "RFC 9113 §6")]
    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
    pub const PRIORITY: u8 = 2;
    pub const RST_STREAM: u8 = 3;
    pub const SETTINGS: u8 = 4;
    pub const PUSH_PROMISE: u8 = 5;
    pub const PING: u8 = 6;
    pub const GOAWAY: u8 = 7;
    pub const WINDOW_UPDATE: u8 = 8;
    pub const CONTINUATION: u8 = 9;
}

/// Ends the stream and the block of fields.
pub const ENDS: u8 = 5;
/// Ends the block of fields.
pub const HEAD: u8 = 4;

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawHttp2Frame {
    /// Its type.
    pub kind: u8,
    /// Its flags.
    pub flags: u8,
    /// Its stream.
    pub stream: u32,
    /// What it holds.
    pub payload: Vec<u8>,
}

impl RawHttp2Frame {
    /// Its bytes.
    pub fn bytes(&self) -> Vec<u8> {
        frame(self.kind, self.flags, self.stream, &self.payload)
    }

    /// The number that its payload has at a place: an error code, a window, a stream.
    pub fn number(&self, at: usize) -> u32 {
        let bytes = self.payload.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(u32::MAX, u32::from_be_bytes)
    }

    /// Whether it ends its stream.
    pub fn ends(&self) -> bool {
        matches!(self.kind, kind::DATA | kind::HEADERS) && self.flags & 1 != 0
    }

    /// Whether it begins an answer with this status, one of those that have an index of their own (RFC 7541, appendix A).
    pub fn has_status(&self, status: u16) -> bool {
        let index = match status {
            200 => 0x88,
            204 => 0x89,
            400 => 0x8c,
            404 => 0x8d,
            500 => 0x8e,
            _ => return false,
        };
        self.kind == kind::HEADERS && self.payload.iter().find(|byte| **byte != 0x20) == Some(&index)
    }
}

/// The bytes of a frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(0).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A block of fields, none of them compressed.
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in fields {
        out.push(0);
        for text in [name, value] {
            out.push(u8::try_from(text.len()).unwrap_or(0) & 0x7f);
            out.extend_from_slice(text.as_bytes());
        }
    }
    out
}

/// The fields of a request for a path, and more.
pub fn request(method: &str, path: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let fields = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "a.test")];
    block(&[&fields, more].concat())
}

/// A header block whose last header is put into the dynamic table with a value of 3,900 bytes, and then named `repeats` times
/// more, one byte each. It is the only one in the table: [`repeated`] names it again.
pub fn bomb(fields: &[(&str, &str)], repeats: usize) -> Vec<u8> {
    let mut out = block(fields);
    out.extend_from_slice(b"\x40\x05x-big\x7f\xbd\x1d");
    out.resize(out.len() + 3_900, b'v');
    out.resize(out.len() + repeats, 0xbe);
    out
}

/// A header block that names the header of an earlier [`bomb`] this often.
pub fn repeated(fields: &[(&str, &str)], repeats: usize) -> Vec<u8> {
    let mut out = block(fields);
    out.resize(out.len() + repeats, 0xbe);
    out
}

/// A connection.
#[derive(Debug)]
pub struct FramedClient {
    stream: TcpStream,
    input: Vec<u8>,
}

impl FramedClient {
    /// Connects and begins, with settings of this payload.
    ///
    /// # Errors
    /// When there is no connection.
    pub async fn connect(address: SocketAddr, settings: &[u8]) -> Result<Self> {
        let stream = TcpStream::connect(address).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        let mut client = Self { stream, input: Vec::new() };
        client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await?;
        client.send(&frame(kind::SETTINGS, 0, 0, settings)).await?;
        Ok(client)
    }

    /// Sends bytes.
    ///
    /// # Errors
    /// When the connection is gone.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(bytes).await?)
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub async fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Result<()> {
        self.send(&frame(kind, flags, stream, payload)).await
    }

    /// The next frame; `None` at the end, by a reset too.
    ///
    /// # Errors
    /// When nothing comes in time.
    pub async fn next(&mut self) -> Result<Option<RawHttp2Frame>> {
        loop {
            if let Some(frame) = take_frame(&mut self.input) {
                return Ok(Some(frame));
            }
            match within("a frame", self.stream.read_buf(&mut self.input)).await? {
                Ok(0) | Err(_) => return Ok(None),
                Ok(_) => {}
            }
        }
    }

    /// The next frame that is wanted; those before it are let be.
    ///
    /// # Errors
    /// When it does not come before the end, or in time.
    pub async fn until(
        &mut self,
        what: &str,
        is_wanted: impl Fn(&RawHttp2Frame) -> bool,
    ) -> Result<RawHttp2Frame> {
        let mut before = Vec::new();
        while let Some(frame) = self.next().await? {
            if is_wanted(&frame) {
                return Ok(frame);
            }
            before.push((frame.kind, frame.stream, frame.payload.len()));
        }
        anyhow::bail!("the end came before {what}; before it (type, stream, bytes) {before:?}")
    }
}

/// Takes the frame that `input` begins with away, if it is all there.
pub fn take_frame(input: &mut Vec<u8>) -> Option<RawHttp2Frame> {
    let [a, b, c, kind, flags, s @ ..] = *input.first_chunk::<9>()?;
    let end = 9 + (usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c));
    let payload = input.get(9..end)?.to_vec();
    input.drain(..end);
    Some(RawHttp2Frame { kind, flags, stream: u32::from_be_bytes(s), payload })
}
