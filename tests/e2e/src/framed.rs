//! An HTTP/2 client that sends arbitrary frames, valid or not, and returns the frames it receives.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::wire::within;

/// Frame types.
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

/// Flags END_STREAM and END_HEADERS.
pub const ENDS: u8 = 5;
/// Flag END_HEADERS.
pub const HEAD: u8 = 4;

/// An HTTP/2 frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawHttp2Frame {
    /// Frame type.
    pub kind: u8,
    /// Frame flags.
    pub flags: u8,
    /// Stream identifier.
    pub stream: u32,
    /// Frame payload.
    pub payload: Vec<u8>,
}

impl RawHttp2Frame {
    /// Encodes the frame.
    pub fn bytes(&self) -> Vec<u8> {
        frame(self.kind, self.flags, self.stream, &self.payload)
    }

    /// Returns the 32-bit number at an offset of the payload: an error code, a window, a stream.
    pub fn number(&self, at: usize) -> u32 {
        let bytes = self.payload.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(u32::MAX, u32::from_be_bytes)
    }

    /// Whether the frame ends its stream.
    pub fn ends(&self) -> bool {
        matches!(self.kind, kind::DATA | kind::HEADERS) && self.flags & 1 != 0
    }

    /// Whether the frame begins a response with this status, which must have a static HPACK index (RFC 7541, appendix
    /// A).
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

/// Encodes a frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(0).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Encodes a header block without compression.
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

/// Encodes the header block of a request for a path, with additional fields.
pub fn request(method: &str, path: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let fields = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "a.test")];
    block(&[&fields, more].concat())
}

/// Encodes a header block that inserts its last field into the dynamic table with a value of 3,900 bytes and then
/// references it `repeats` more times, at one byte each.
///
/// It is the only field in the table: [`repeated`] references it again.
pub fn bomb(fields: &[(&str, &str)], repeats: usize) -> Vec<u8> {
    let mut out = block(fields);
    out.extend_from_slice(b"\x40\x05x-big\x7f\xbd\x1d");
    out.resize(out.len() + 3_900, b'v');
    out.resize(out.len() + repeats, 0xbe);
    out
}

/// Encodes a header block that references the field of an earlier [`bomb`] `repeats` times.
pub fn repeated(fields: &[(&str, &str)], repeats: usize) -> Vec<u8> {
    let mut out = block(fields);
    out.resize(out.len() + repeats, 0xbe);
    out
}

/// An HTTP/2 connection.
#[derive(Debug)]
pub struct Http2WireClient {
    stream: TcpStream,
    input: Vec<u8>,
}

impl Http2WireClient {
    /// Connects and sends the preface with this SETTINGS payload.
    ///
    /// # Errors
    /// When the connection fails.
    pub async fn connect(address: SocketAddr, settings: &[u8]) -> Result<Self> {
        let stream = TcpStream::connect(address).await.context("cannot connect")?;
        stream.set_nodelay(true)?;
        let mut client = Self { stream, input: Vec::new() };
        client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await?;
        client.send(&frame(kind::SETTINGS, 0, 0, settings)).await?;
        Ok(client)
    }

    /// Sends raw bytes.
    ///
    /// # Errors
    /// When the connection is closed.
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

    /// Returns the next frame, or `None` at the end of the connection, also after a reset.
    ///
    /// # Errors
    /// When no frame arrives in time.
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

    /// Returns the next matching frame; frames before it are discarded.
    ///
    /// # Errors
    /// When none arrives before the end of the connection, or in time.
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
        anyhow::bail!("the connection ended before {what}; frames before (type, stream, bytes): {before:?}")
    }
}

/// Removes the frame at the front of `input`, if it is complete.
pub fn take_frame(input: &mut Vec<u8>) -> Option<RawHttp2Frame> {
    let [a, b, c, kind, flags, s @ ..] = *input.first_chunk::<9>()?;
    let end = 9 + (usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c));
    let payload = input.get(9..end)?.to_vec();
    input.drain(..end);
    Some(RawHttp2Frame { kind, flags, stream: u32::from_be_bytes(s), payload })
}
