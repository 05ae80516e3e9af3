//! Buffer for an incomplete item at the boundary of two pieces.

use super::HEADER_BYTES_MAX;

/// Holds fewer bytes than an item's head has, until more arrive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joint {
    held: [u8; JOINT_BYTES],
    count: usize,
}

impl Default for Joint {
    fn default() -> Self {
        Self { held: [0; JOINT_BYTES], count: 0 }
    }
}

impl Joint {
    /// Whether nothing is held, so that the input may end here.
    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Discards the held bytes.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Passes all bytes in order to `run`, which consumes as much as it can from the front of a window and returns
    /// how much. The rest must be shorter than the head of an item.
    pub(crate) fn drive<E>(
        &mut self,
        mut piece: &[u8],
        mut run: impl FnMut(&[u8]) -> Result<usize, E>,
    ) -> Result<(), E> {
        while self.count > 0 && !piece.is_empty() {
            let held = self.count;
            let room = &mut self.held[held..];
            let more = room.len().min(piece.len());
            for (place, byte) in room.iter_mut().zip(piece) {
                *place = *byte;
            }
            let window = &self.held[..held + more];
            let used = run(window)?;
            if used >= held {
                // The rest of the window is in the piece.
                self.count = 0;
                piece = &piece[used - held..];
            } else {
                self.held.copy_within(used..held + more, 0);
                self.count = held + more - used;
                piece = &piece[more..];
                debug_assert!(self.count < JOINT_BYTES, "the head of an item fits");
            }
        }
        if piece.is_empty() {
            return Ok(());
        }
        let used = run(piece)?;
        let rest = &piece[used..];
        debug_assert!(rest.len() < HEADER_BYTES_MAX, "only the beginning of an item is left");
        for (place, byte) in self.held.iter_mut().zip(rest) {
            *place = *byte;
        }
        self.count = rest.len().min(JOINT_BYTES);
        Ok(())
    }
}

/// Twice the size of an item's head, so that the joined window always contains a complete one.
const JOINT_BYTES: usize = 2 * HEADER_BYTES_MAX;
