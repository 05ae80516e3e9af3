//! Memory for values that a module reads: it stays in place until the module's hook returns.

/// Copies of bytes whose addresses do not change while more are added.
#[derive(Debug, Default)]
pub(super) struct Arena {
    chunks: Vec<Vec<u8>>,
    bytes: usize,
}

impl Arena {
    /// Copies bytes; `None` if a hook has read more than [`ARENA_BYTES_MAX`].
    ///
    /// # Cost
    /// An allocation per 4 KiB; none for the first 4 KiB of most hooks.
    pub(super) fn copy(&mut self, bytes: &[u8]) -> Option<&[u8]> {
        if self.bytes + bytes.len() > ARENA_BYTES_MAX {
            return None;
        }
        self.bytes += bytes.len();
        let has_room = self.chunks.last().is_some_and(|chunk| chunk.capacity() - chunk.len() >= bytes.len());
        if !has_room {
            self.chunks.push(Vec::with_capacity(bytes.len().max(CHUNK_BYTES)));
        }
        let chunk = self.chunks.last_mut()?;
        let start = chunk.len();
        // Never reallocates: there is room.
        chunk.extend_from_slice(bytes);
        chunk.get(start..)
    }

    /// Frees all copies; a chunk of the usual size is kept.
    pub(super) fn clear(&mut self) {
        self.bytes = 0;
        self.chunks.truncate(1);
        match self.chunks.first_mut() {
            Some(chunk) if chunk.capacity() <= CHUNK_BYTES => chunk.clear(),
            _ => self.chunks.clear(),
        }
    }
}

/// Maximum size of the values that a hook reads, in bytes.
const ARENA_BYTES_MAX: usize = 64 << 20;
const CHUNK_BYTES: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_stay_in_place() {
        let mut arena = Arena::default();
        let mut places = Vec::new();
        for number in 0..3000_u32 {
            let bytes = number.to_ne_bytes();
            places.push((arena.copy(&bytes).unwrap().as_ptr(), number));
        }
        let large = arena.copy(&[7; 100_000]).unwrap().as_ptr();
        for (place, number) in places {
            // SAFETY: the arena has not been cleared.
            assert_eq!(unsafe { place.cast::<u32>().read_unaligned() }, number);
        }
        // SAFETY: as above.
        assert_eq!(unsafe { large.read() }, 7);
        arena.clear();
        assert_eq!(arena.chunks.len(), 1, "a chunk of the usual size is kept");
        assert!(arena.copy(&vec![0; ARENA_BYTES_MAX + 1]).is_none());
    }
}
