//! Values that continue in the next piece.

/// Returns the part of a value with `left` remaining bytes that is in `rest`, and how many bytes remain after that.
#[inline]
pub(crate) fn front(rest: &[u8], left: u64) -> (&[u8], u64) {
    let piece = usize::try_from(left).map_or(rest, |left| rest.get(..left).unwrap_or(rest));
    (piece, left - piece.len() as u64)
}
