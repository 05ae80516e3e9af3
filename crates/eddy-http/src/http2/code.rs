//! Error codes and faults that end streams and connections.

use thiserror::Error;

use super::meter::Abuse;

/// Error codes of HTTP/2.
///
/// # Spec
/// [RFC 9113 §7](https://www.rfc-editor.org/rfc/rfc9113#section-7)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ErrorCode {
    /// No error.
    NoError = 0x0,
    /// The peer violates the protocol.
    Protocol = 0x1,
    /// Internal error on this side.
    Internal = 0x2,
    /// More data than the flow-control window allows.
    FlowControl = 0x3,
    /// A frame on a closed stream.
    StreamClosed = 0x5,
    /// A frame of invalid size.
    FrameSize = 0x6,
    /// The stream was not processed; the request may be sent again.
    RefusedStream = 0x7,
    /// The stream is no longer needed.
    Cancel = 0x8,
    /// Invalid compressed fields.
    Compression = 0x9,
    /// The connection behind a tunnel was reset or closed abnormally.
    Connect = 0xa,
    /// The peer causes excessive load.
    EnhanceYourCalm = 0xb,
}

/// Reason why a connection cannot continue. The output contains the `GOAWAY` frame for the peer.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum Http2Fault {
    /// The peer violates the protocol.
    #[error("the peer violates the protocol: {0:?}")]
    Protocol(ErrorCode),
    /// The peer has used up its abuse budget.
    #[error("the peer causes too much work: {}", .0.label())]
    Abuse(Abuse),
}

impl Http2Fault {
    /// Returns the error code for the peer.
    pub fn code(self) -> ErrorCode {
        match self {
            Self::Protocol(code) => code,
            Self::Abuse(_) => ErrorCode::EnhanceYourCalm,
        }
    }
}

/// Result of a frame that is rejected: the end of its stream or of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Stream(u32, ErrorCode),
    Connection(ErrorCode),
    /// The abuse budget is used up.
    BudgetExhausted(Abuse),
}

impl From<Abuse> for Refused {
    fn from(abuse: Abuse) -> Self {
        Self::BudgetExhausted(abuse)
    }
}

impl Refused {
    pub(super) const PROTOCOL: Self = Self::Connection(ErrorCode::Protocol);
    pub(super) const FRAME_SIZE: Self = Self::Connection(ErrorCode::FrameSize);
    pub(super) const COMPRESSION: Self = Self::Connection(ErrorCode::Compression);
}
