//! Reasons for rejecting a chunked body.

use crate::fault_table::fault_table;
use crate::field::LineFault;

fault_table! {
    /// Reason for rejecting a chunked body.
    ///
    /// The end of the message is then unknown: no further bytes on the connection can be trusted.
    ChunkFault {
        /// A size that is not one to sixteen hexadecimal digits, or more than 2^63 - 1.
        BadSize = 400, "bad_chunk_size";
        /// A chunk extension that violates the grammar (RFC 9112 §7.1.1).
        BadExtension = 400, "bad_chunk_extension";
        /// More bytes of extensions in a message than the limit.
        ExtensionsTooLarge = 400, "chunk_extensions_too_large";
        /// Missing CR LF after a size or after the data of a chunk.
        BadLineEnd = 400, "bad_chunk_line_end";
        /// A trailer field that violates the grammar of fields (RFC 9112 §5).
        BadTrailer = 400, "bad_trailer";
        /// More bytes or fields in the trailer section than the limit.
        TrailersTooLarge = 431, "trailers_too_large";
    }
}

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
