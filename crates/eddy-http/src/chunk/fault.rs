//! Why a chunked body is refused.

use std::error::Error;
use std::fmt;

use crate::field::LineFault;

/// Why a chunked body is refused.
///
/// Where the message ends is then unknown: nothing that follows on the connection can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChunkFault {
    /// A size that is not one to sixteen hexadecimal digits, or more than 2^63 - 1.
    BadSize,
    /// A chunk extension against the grammar (RFC 9112 §7.1.1).
    BadExtension,
    /// More bytes of extensions in a message than the limit.
    ExtensionsTooLarge,
    /// No CR LF after a size or after the data of a chunk.
    BadLineEnd,
    /// A trailer field against the grammar of fields (RFC 9112 §5).
    BadTrailer,
    /// More bytes or fields of trailers than the limit.
    TrailersTooLarge,
}

impl ChunkFault {
    /// The status that answers a request refused so, if it can be answered still.
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

    /// A word for the access record and metrics.
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
