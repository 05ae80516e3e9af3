//! Memory that an exchange leaves to the next one.

/// Capacity above which memory is freed after an exchange rather than kept for the next.
const KEPT_BYTES_MAX: usize = 8 * 1024;

/// Empties a vector for the next exchange.
pub(crate) fn recycle(bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.shrink_to(KEPT_BYTES_MAX);
}
