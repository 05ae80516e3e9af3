//! Readers and writers of ABI structures in a module's memory, which is little-endian.

use std::ops::Range;

/// Reader of a module's memory, which the module may have changed arbitrarily; reads outside of it yield nothing.
#[derive(Clone, Copy)]
pub(super) struct GuestMemoryReader<'m>(pub(super) &'m [u8]);

impl<'m> GuestMemoryReader<'m> {
    /// Returns the bytes at an address.
    pub(super) fn bytes(self, at: u64, len: u64) -> Option<&'m [u8]> {
        let start = usize::try_from(at).ok()?;
        let end = start.checked_add(usize::try_from(len).ok()?)?;
        self.0.get(start..end)
    }

    fn array<const N: usize>(self, at: u64) -> Option<[u8; N]> {
        self.bytes(at, N as u64)?.try_into().ok()
    }

    /// Reads a byte; 0 outside of the memory.
    pub(super) fn u8(self, at: u64) -> u8 {
        self.array(at).map_or(0, u8::from_le_bytes)
    }

    /// Reads a 32-bit number; 0 outside of the memory.
    pub(super) fn u32(self, at: u64) -> u32 {
        self.array(at).map_or(0, u32::from_le_bytes)
    }

    /// Reads a 64-bit number; 0 outside of the memory.
    pub(super) fn u64(self, at: u64) -> u64 {
        self.array(at).map_or(0, u64::from_le_bytes)
    }

    /// Reads the text that an `eddy_text` at an address refers to, if it is within the memory and at most `max` bytes
    /// long.
    pub(super) fn text(self, at: u64, max: usize) -> Option<&'m [u8]> {
        let len = self.u64(at + 8);
        if len == 0 {
            return Some(&[]);
        }
        self.bytes(self.u64(at), len).filter(|text| text.len() <= max)
    }
}

/// Writer into a buffer allocated by the module, filled from its beginning.
pub(super) struct GuestMemoryWriter<'m> {
    room: &'m mut [u8],
    /// Address of the buffer in the memory.
    base: u64,
    used: usize,
}

impl<'m> GuestMemoryWriter<'m> {
    /// Creates a writer of a buffer at an address.
    pub(super) fn new(room: &'m mut [u8], base: u32) -> Self {
        Self { room, base: u64::from(base), used: 0 }
    }

    /// Reserves space for a structure and returns its position.
    pub(super) fn take(&mut self, len: usize) -> WrittenOffset {
        let at = self.used.next_multiple_of(8);
        self.used = at + len;
        debug_assert!(self.used <= self.room.len(), "the room was measured before");
        WrittenOffset { at, address: self.base + at as u64 }
    }

    /// Appends bytes.
    pub(super) fn put(&mut self, bytes: &[u8]) -> WrittenOffset {
        if bytes.is_empty() {
            return WrittenOffset { at: 0, address: 0 };
        }
        let place = self.take(bytes.len());
        self.set(place, 0, bytes);
        place
    }

    /// Writes into reserved space.
    #[inline]
    pub(super) fn set(&mut self, place: WrittenOffset, offset: usize, bytes: &[u8]) {
        let start = place.at + offset;
        if let Some(room) = self.room.get_mut(start..start + bytes.len()) {
            room.copy_from_slice(bytes);
        }
    }

    /// Writes an `eddy_text` into reserved space, and appends its bytes.
    pub(super) fn text(&mut self, place: WrittenOffset, offset: usize, bytes: &[u8]) {
        let text = self.put(bytes);
        self.set(place, offset, &text.address.to_le_bytes());
        self.set(place, offset + 8, &(bytes.len() as u64).to_le_bytes());
    }

    /// Reserves zeroed space for one or more structures.
    pub(super) fn zeroed(&mut self, len: usize) -> WrittenOffset {
        let place = self.take(len);
        let range: Range<usize> = place.at..place.at + len;
        if let Some(room) = self.room.get_mut(range) {
            room.fill(0);
        }
        place
    }
}

/// Position in a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenOffset {
    at: usize,
    /// Address in the memory.
    pub(super) address: u64,
}

impl WrittenOffset {
    /// Returns the position `bytes` further on.
    pub(super) fn plus(self, bytes: usize) -> Self {
        Self { at: self.at + bytes, address: self.address + bytes as u64 }
    }
}

/// Returns the maximum space that a structure needs, with alignment.
pub(super) const fn rounded(len: usize) -> usize {
    len + 7
}
