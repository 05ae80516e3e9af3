//! Scratch buffer for values of edits.

use std::io::Write;

/// Buffer on the stack; longer values move to the heap.
#[derive(Debug)]
pub(super) struct Scratch {
    room: [u8; ROOM_BYTES],
    len: usize,
    spilled: Vec<u8>,
}

impl Scratch {
    /// Creates an empty buffer.
    pub(super) fn new() -> Self {
        Self { room: [0; ROOM_BYTES], len: 0, spilled: Vec::new() }
    }

    /// Removes all bytes.
    pub(super) fn clear(&mut self) {
        self.len = 0;
        self.spilled.clear();
    }

    /// Appends bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        match self.room.get_mut(self.len..end) {
            Some(place) if self.spilled.is_empty() => {
                place.copy_from_slice(bytes);
                self.len = end;
            }
            _ => {
                if self.spilled.is_empty() {
                    self.spilled.extend_from_slice(self.room.get(..self.len).unwrap_or_default());
                }
                self.spilled.extend_from_slice(bytes);
            }
        }
    }

    /// Appends formatted text.
    pub(super) fn format(&mut self, arguments: std::fmt::Arguments<'_>) {
        // Writing here never fails.
        let _ = self.write_fmt(arguments);
    }

    /// Returns all bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        if self.spilled.is_empty() { self.room.get(..self.len).unwrap_or_default() } else { &self.spilled }
    }
}

impl Write for Scratch {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Enough for nearly every header.
const ROOM_BYTES: usize = 512;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Scratch;

    proptest! {
        #[test]
        fn no_bytes_are_lost_when_moving_to_the_heap(pieces in proptest::collection::vec(".{0,200}", 0..12)) {
            let mut scratch = Scratch::new();
            for piece in &pieces {
                scratch.push(piece.as_bytes());
            }
            let whole = pieces.concat();
            prop_assert_eq!(scratch.bytes(), whole.as_bytes());
            scratch.clear();
            scratch.format(format_args!("{}", 7));
            prop_assert_eq!(scratch.bytes(), b"7");
        }
    }
}
