//! UTF-8 in pieces.

/// What a piece of a string is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chunk {
    /// This many bytes are whole characters; fewer than four are the beginning of one more.
    Valid(usize),
    /// The byte at this place can't be.
    Invalid(usize),
}

/// Looks at a piece that begins with a whole character; `is_last` if the string ends with it.
#[inline]
pub(crate) fn valid_chunk(piece: &[u8], is_last: bool) -> Chunk {
    match std::str::from_utf8(piece) {
        Ok(_) => Chunk::Valid(piece.len()),
        Err(error) if error.error_len().is_none() && !is_last => Chunk::Valid(error.valid_up_to()),
        Err(error) => Chunk::Invalid(error.valid_up_to()),
    }
}
