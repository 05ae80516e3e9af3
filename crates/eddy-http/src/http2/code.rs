//! Why streams and connections end.

use std::error::Error;
use std::fmt;

use super::meter::Abuse;

/// The error codes of HTTP/2.
///
/// # Spec
/// [RFC 9113 §7](https://www.rfc-editor.org/rfc/rfc9113#section-7)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ErrorCode {
    /// Nothing is wrong.
    NoError = 0x0,
    /// The other side breaks the protocol.
    Protocol = 0x1,
    /// Something failed at our side.
    Internal = 0x2,
    /// More was sent than the window allows.
    FlowControl = 0x3,
    /// A frame on a stream that is closed.
    StreamClosed = 0x5,
    /// A frame of a wrong size.
    FrameSize = 0x6,
    /// The stream was not worked on; it may be sent again.
    RefusedStream = 0x7,
    /// The stream is not needed any more.
    Cancel = 0x8,
    /// The compressed fields cannot be read.
    Compression = 0x9,
    /// What a tunnel led to has broken off.
    Connect = 0xa,
    /// The other side asks for too much.
    EnhanceYourCalm = 0xb,
}

/// Why a connection can't go on. The peer has been told by a `GOAWAY`, which is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Http2Fault {
    /// The peer breaks the protocol.
    Protocol(ErrorCode),
    /// The peer has used up its budget.
    Abuse(Abuse),
}

impl Http2Fault {
    /// What the peer is told.
    pub fn code(self) -> ErrorCode {
        match self {
            Self::Protocol(code) => code,
            Self::Abuse(_) => ErrorCode::EnhanceYourCalm,
        }
    }
}

impl fmt::Display for Http2Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol(code) => write!(f, "the peer breaks the protocol: {code:?}"),
            Self::Abuse(abuse) => write!(f, "the peer asks for too much work: {}", abuse.label()),
        }
    }
}

impl Error for Http2Fault {}

/// What a frame leads to that can't be taken: the end of its stream, or of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Stream(u32, ErrorCode),
    Connection(ErrorCode),
    /// The budget was used up.
    Spent(Abuse),
}

impl From<Abuse> for Refused {
    fn from(abuse: Abuse) -> Self {
        Self::Spent(abuse)
    }
}

impl Refused {
    pub(super) const PROTOCOL: Self = Self::Connection(ErrorCode::Protocol);
    pub(super) const FRAME_SIZE: Self = Self::Connection(ErrorCode::FrameSize);
    pub(super) const COMPRESSION: Self = Self::Connection(ErrorCode::Compression);
}
