//! Values that go on in the next piece.

/// What `rest` holds of a value that has `left` bytes to come, and how many are to come after that.
#[inline]
pub(crate) fn front(rest: &[u8], left: u64) -> (&[u8], u64) {
    let piece = usize::try_from(left).map_or(rest, |left| rest.get(..left).unwrap_or(rest));
    (piece, left - piece.len() as u64)
}
