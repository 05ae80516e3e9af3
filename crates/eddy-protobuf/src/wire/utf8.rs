//! Incremental UTF-8 validation.

/// Position of a piece in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PiecePosition {
    /// More follows.
    Inner,
    /// The text ends with the piece, or is the piece.
    Last,
}

/// Validation result of a piece of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Utf8Chunk {
    /// This many bytes are complete characters; the rest, fewer than four bytes, begins another one.
    Valid(usize),
    /// The byte at this position is invalid.
    Invalid(usize),
}

/// Validates a piece that begins at a character boundary.
#[inline]
pub(crate) fn valid_chunk(piece: &[u8], position: PiecePosition) -> Utf8Chunk {
    match std::str::from_utf8(piece) {
        Ok(_) => Utf8Chunk::Valid(piece.len()),
        Err(error) if error.error_len().is_none() && position == PiecePosition::Inner => {
            Utf8Chunk::Valid(error.valid_up_to())
        }
        Err(error) => Utf8Chunk::Invalid(error.valid_up_to()),
    }
}
