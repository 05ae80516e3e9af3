//! UTF-8 in pieces.

/// What a piece of a string is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Utf8Chunk {
    /// This many bytes are whole characters; fewer than four are the beginning of one more.
    Valid(usize),
    /// The byte at this place can't be.
    Invalid(usize),
}

/// Looks at a piece that begins with a whole character; `is_last` if the string ends with it.
#[inline]
pub(crate) fn valid_chunk(piece: &[u8], is_last: bool) -> Utf8Chunk {
    match std::str::from_utf8(piece) {
        Ok(_) => Utf8Chunk::Valid(piece.len()),
        Err(error) if error.error_len().is_none() && !is_last => Utf8Chunk::Valid(error.valid_up_to()),
        Err(error) => Utf8Chunk::Invalid(error.valid_up_to()),
    }
}
