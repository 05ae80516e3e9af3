//! Byte buffers that are filled from one side and emptied from the other, and a pool of them.

use crate::pool::{Pool, Reusable, Reuse};

/// Size of a buffer for heads and small bodies, in bytes.
pub const BUFFER_BYTES_SMALL: usize = 4 * 1024;
/// Size of a buffer for large bodies, in bytes.
pub const BUFFER_BYTES_LARGE: usize = 64 * 1024;

/// Maximum idle buffers of each size in a pool.
const IDLE_MAX: usize = 64;

/// Byte buffer between a reader and a writer.
///
/// Invariant: `start <= end <= bytes.len()`; every byte is initialised.
#[derive(Debug, Default)]
pub struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

/// Result of filling a buffer from a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// This many bytes were added.
    Bytes(usize),
    /// The stream has ended.
    End,
}

impl Buffer {
    /// Returns an empty buffer of `capacity` bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { bytes: vec![0; capacity], start: 0, end: 0 }
    }

    /// Returns the held bytes.
    pub fn held(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Returns the first `count` held bytes.
    ///
    /// # Panics
    /// When fewer bytes are held.
    pub fn front(&self, count: usize) -> &[u8] {
        self.held().get(..count).expect("the caller has counted bytes that are held")
    }

    /// Returns the number of held bytes.
    pub fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether no byte is held.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Returns the number of bytes that the buffer can hold.
    pub fn capacity(&self) -> usize {
        self.bytes.len()
    }

    /// Discards the first `count` held bytes (all, if there are fewer).
    pub fn consume(&mut self, count: usize) {
        self.start = self.end.min(self.start + count);
        if self.start == self.end {
            self.clear();
        }
    }

    /// Discards all bytes.
    pub fn clear(&mut self) {
        self.start = 0;
        self.end = 0;
    }

    /// Returns the free space behind the held bytes; moves them to the front first if there is none.
    pub fn room(&mut self) -> &mut [u8] {
        if self.end == self.bytes.len() && self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        &mut self.bytes[self.end..]
    }

    /// Counts `count` bytes written into [`Self::room`] as held.
    ///
    /// # Panics
    /// When `count` exceeds the free space.
    pub fn fill(&mut self, count: usize) {
        assert!(self.end + count <= self.bytes.len(), "more bytes than there was room for");
        self.end += count;
    }

    /// Grows the capacity to at least `capacity`; held bytes are kept.
    pub fn grow(&mut self, capacity: usize) {
        if self.bytes.len() < capacity {
            self.bytes.resize(capacity, 0);
        }
    }

    /// Appends the bytes of `other`.
    pub fn append(&mut self, other: &[u8]) {
        if self.bytes.len() - self.end < other.len() {
            let held = self.len();
            self.bytes.copy_within(self.start..self.end, 0);
            self.start = 0;
            self.end = held;
            self.grow(held + other.len());
        }
        let end = self.end + other.len();
        self.bytes[self.end..end].copy_from_slice(other);
        self.end = end;
    }
}

/// Bounded pool of empty buffers in two sizes, for one worker.
#[derive(Debug, Default)]
pub struct BufferPool {
    small: Pool<Buffer, IDLE_MAX>,
    large: Pool<Buffer, IDLE_MAX>,
}

impl BufferPool {
    /// Returns an empty buffer of [`BUFFER_BYTES_SMALL`].
    pub fn take_small(&self) -> Buffer {
        self.small.take_idle().unwrap_or_else(|| Buffer::with_capacity(BUFFER_BYTES_SMALL))
    }

    /// Returns an empty buffer of [`BUFFER_BYTES_LARGE`].
    pub fn take_large(&self) -> Buffer {
        self.large.take_idle().unwrap_or_else(|| Buffer::with_capacity(BUFFER_BYTES_LARGE))
    }

    /// Returns a buffer to the pool. A buffer of another size, or beyond the pool's limit, is freed.
    pub fn put(&self, buffer: Buffer) {
        match buffer.capacity() {
            BUFFER_BYTES_SMALL => self.small.put(buffer),
            BUFFER_BYTES_LARGE => self.large.put(buffer),
            _ => {}
        }
    }

    /// Returns the buffer in `place` to the pool, if there is one, and leaves a buffer without capacity.
    pub fn release(&self, place: &mut Buffer) {
        if place.capacity() > 0 {
            self.put(std::mem::take(place));
        }
    }

    /// As [`Self::release`], if the buffer is empty.
    pub fn release_empty(&self, place: &mut Buffer) {
        if place.is_empty() {
            self.release(place);
        }
    }

    /// Frees the buffers that were not needed since the last sweep.
    pub fn sweep(&self) {
        drop((self.small.sweep(), self.large.sweep()));
    }
}

impl Reusable for Buffer {
    fn empty(&mut self) -> Reuse {
        self.clear();
        Reuse::Keep
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_written() {
        let mut buffer = Buffer::with_capacity(8);
        buffer.room()[..6].copy_from_slice(b"abcdef");
        buffer.fill(6);
        buffer.consume(4);
        buffer.append(b"ghij");
        assert_eq!(buffer.held(), b"efghij");
        buffer.append(b"klmnop");
        assert_eq!(buffer.held(), b"efghijklmnop");
        assert_eq!(buffer.capacity(), 12);
        buffer.consume(99);
        assert!(buffer.is_empty());
        assert_eq!(buffer.room().len(), 12);
    }

    #[test]
    fn a_full_buffer_makes_room_by_compacting() {
        let mut buffer = Buffer::with_capacity(4);
        buffer.append(b"abcd");
        assert!(buffer.room().is_empty());
        buffer.consume(3);
        assert_eq!(buffer.room().len(), 3);
        assert_eq!(buffer.held(), b"d");
    }

    #[test]
    fn a_pooled_buffer_is_returned_empty() {
        let pool = BufferPool::default();
        for mut buffer in [pool.take_small(), pool.take_large()] {
            buffer.append(b"somebody's secret");
            pool.put(buffer);
        }
        assert!(pool.take_small().is_empty() && pool.take_large().is_empty());
    }

    #[test]
    fn a_buffer_of_another_size_is_not_pooled() {
        let pool = BufferPool::default();
        pool.put(Buffer::with_capacity(17));
        assert!(pool.small.take_idle().is_none() && pool.large.take_idle().is_none());
    }

    #[test]
    fn only_an_empty_buffer_is_released_while_bytes_wait() {
        let pool = BufferPool::default();
        let mut buffer = pool.take_small();
        buffer.append(b"a");
        pool.release_empty(&mut buffer);
        assert_eq!(buffer.held(), b"a");
        buffer.consume(1);
        pool.release_empty(&mut buffer);
        assert_eq!(buffer.capacity(), 0);
        assert!(pool.small.take_idle().is_some());
    }
}
