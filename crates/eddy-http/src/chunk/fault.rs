//! Reasons for rejecting a chunked body.

use std::error::Error;
use std::fmt;

use crate::field::LineFault;

/// Reason for rejecting a chunked body.
///
/// The end of the message is then unknown: no further bytes on the connection can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChunkFault {
    /// A size that is not one to sixteen hexadecimal digits, or more than 2^63 - 1.
    BadSize,
    /// A chunk extension that violates the grammar (RFC 9112 §7.1.1).
    BadExtension,
    /// More bytes of extensions in a message than the limit.
    ExtensionsTooLarge,
    /// Missing CR LF after a size or after the data of a chunk.
    BadLineEnd,
    /// A trailer field that violates the grammar of fields (RFC 9112 §5).
    BadTrailer,
    /// More bytes or fields in the trailer section than the limit.
    TrailersTooLarge,
}

impl ChunkFault {
    /// Returns the status for the rejected request, if a response is still possible.
    pub fn status(self) -> u16 {
        match self {
            Self::TrailersTooLarge => 431,
            Self::BadSize
            | Self::BadExtension
            | Self::ExtensionsTooLarge
            | Self::BadLineEnd
            | Self::BadTrailer => 400,
        }
    }

    /// Returns the reason code for access log entries and metrics.
    pub fn reason(self) -> &'static str {
        match self {
            Self::BadSize => "bad_chunk_size",
            Self::BadExtension => "bad_chunk_extension",
            Self::ExtensionsTooLarge => "chunk_extensions_too_large",
            Self::BadLineEnd => "bad_chunk_line_end",
            Self::BadTrailer => "bad_trailer",
            Self::TrailersTooLarge => "trailers_too_large",
        }
    }
}

impl fmt::Display for ChunkFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason())
    }
}

impl Error for ChunkFault {}

impl From<LineFault> for ChunkFault {
    fn from(fault: LineFault) -> Self {
        match fault {
            LineFault::TooMany => Self::TrailersTooLarge,
            LineFault::Truncated
            | LineFault::Fold
            | LineFault::Name
            | LineFault::BareCr
            | LineFault::BareLf
            | LineFault::Control => Self::BadTrailer,
        }
    }
}
