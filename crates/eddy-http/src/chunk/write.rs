//! Writer of the chunked transfer coding.

use crate::field::{FieldId, FieldRef, Fields, Traits};

/// Writes the size line of a chunk of `len` bytes.
///
/// A chunk without data would end the body: for zero bytes nothing is written, and nothing must be sent.
pub fn write_chunk_header(out: &mut Vec<u8>, len: usize) {
    debug_assert!(len > 0, "an empty chunk ends the body");
    if len == 0 {
        return;
    }
    let digits = (len.ilog2() / 4 + 1) as usize;
    for place in (0..digits).rev() {
        let digit = (len >> (place * 4)) & 0xf;
        out.extend(b"0123456789abcdef".get(digit));
    }
    out.extend_from_slice(CHUNK_END);
}

/// Writes the last chunk and those trailers that may be forwarded.
pub fn write_trailers(out: &mut Vec<u8>, trailers: Fields<'_>) {
    out.extend_from_slice(b"0\r\n");
    for field in trailers.iter().filter(is_trailer_allowed) {
        out.extend_from_slice(field.name);
        out.extend_from_slice(b": ");
        out.extend_from_slice(field.value);
        out.extend_from_slice(CHUNK_END);
    }
    out.extend_from_slice(CHUNK_END);
}

/// Whether a trailer field may be forwarded.
///
/// Of the names that eddy knows, only those with the same meaning after the body pass (`Grpc-Status`, `Server-Timing`,
/// `ETag`); an unknown name passes, unless some programs would take it for a known one.
///
/// # Spec
/// [RFC 9110 §6.5.1](https://www.rfc-editor.org/rfc/rfc9110#section-6.5.1)
pub fn is_trailer_allowed(field: &FieldRef<'_>) -> bool {
    field.id == FieldId::Other || field.id.traits().has(Traits::TRAILER)
}

/// Bytes after the data of a chunk.
pub const CHUNK_END: &[u8] = b"\r\n";

/// The last chunk of a body without trailers.
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";
