//! A ring of words in shared memory, written by one process and read by the other.
//!
//! Positions count words since the beginning and wrap around at 2^64. Each side keeps its own position in private
//! memory and only publishes it; it never reads it back. The other side's position is read once per use, and checked.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use crate::fault::Misconduct;
use crate::frame::{FRAME_WORDS, RingFrameHeader, WORD_BYTES};
use crate::memory::{AtomicU64, Memory, fence};

/// Role of this process on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkRole {
    /// The side that connected: it writes the first ring and reads the second.
    Connector,
    /// The side that accepted the connection.
    Acceptor,
}

/// Returns both rings of a memory from the view of one side.
pub(crate) fn split(memory: Arc<Memory>, ring_bytes: usize, side: LinkRole) -> (Producer, Consumer) {
    let lane = |index: usize| RingBuffer::new(Arc::clone(&memory), ring_bytes, index);
    let (written, read) = match side {
        LinkRole::Connector => (0, 1),
        LinkRole::Acceptor => (1, 0),
    };
    (Producer { lane: lane(written), tail: 0 }, Consumer { lane: lane(read), head: 0 })
}

/// Returns the bytes of memory of two rings.
pub(crate) fn memory_bytes(ring_bytes: usize) -> usize {
    CONTROL_BYTES + 2 * ring_bytes
}

/// Returns the maximum bytes of a message in one frame: with a quarter of the ring, the reader copies one piece while
/// the next is written.
pub(crate) fn piece_bytes_max(ring_bytes: usize) -> usize {
    ring_bytes / 4
}

/// The writing end of a ring.
#[derive(Debug)]
pub(crate) struct Producer {
    lane: RingBuffer,
    tail: u64,
}

impl Producer {
    /// Writes a frame if there is room for it, and returns whether there was.
    ///
    /// # Panics
    /// If the length of `bytes` is not that of the frame.
    pub(crate) fn try_push(&mut self, frame: &RingFrameHeader, bytes: &[u8]) -> Result<bool, Misconduct> {
        assert_eq!(frame.bytes as usize, bytes.len(), "a frame says how long it is");
        let used = self.lane.distance(self.lane.head().load(Acquire), self.tail)?;
        if frame.words() > self.lane.capacity() - used {
            return Ok(false);
        }
        self.lane.write(self.tail, &frame.to_words());
        self.lane.write_bytes(self.tail.wrapping_add(FRAME_WORDS as u64), bytes);
        self.tail = self.tail.wrapping_add(frame.words());
        self.lane.tail().store(self.tail, Release);
        Ok(true)
    }

    /// Whether the reader sleeps and must be woken; resets the flag, so it returns `true` only once.
    pub(crate) fn must_wake_reader(&self) -> bool {
        takes(self.lane.reader_asleep())
    }

    /// Requests a wake when the reader has made room. There may be room since: try again before waiting.
    pub(crate) fn request_writer_wake(&self) {
        self.lane.writer_asleep().store(1, Relaxed);
        fence(SeqCst);
    }

    /// Returns the reader's published position, which moves as long as the reader works. It is only compared, never
    /// trusted.
    pub(crate) fn reader_position(&self) -> u64 {
        self.lane.head().load(Relaxed)
    }
}

/// The reading end of a ring.
#[derive(Debug)]
pub(crate) struct Consumer {
    lane: RingBuffer,
    head: u64,
}

impl Consumer {
    /// Returns the header of the next frame, if there is one. The frame is complete, and fits into the ring.
    pub(crate) fn peek(&self) -> Result<Option<RingFrameHeader>, Misconduct> {
        let used = self.lane.distance(self.head, self.lane.tail().load(Acquire))?;
        if used == 0 {
            return Ok(None);
        }
        if used < FRAME_WORDS as u64 {
            return Err(Misconduct::Truncated { words: FRAME_WORDS as u64, used });
        }
        let frame = RingFrameHeader::parse(self.lane.read(self.head))?;
        if frame.words() > used {
            return Err(Misconduct::Truncated { words: frame.words(), used });
        }
        Ok(Some(frame))
    }

    /// Appends the bytes of a frame returned by [`Consumer::peek`] to `into`, and frees its room.
    pub(crate) fn take(&mut self, frame: &RingFrameHeader, into: &mut Vec<u8>) {
        self.lane.read_bytes(self.head.wrapping_add(FRAME_WORDS as u64), frame.bytes as usize, into);
        self.head = self.head.wrapping_add(frame.words());
        self.lane.head().store(self.head, Release);
    }

    /// Whether the writer waits for room and must be woken; resets the flag, so it returns `true` only once.
    pub(crate) fn must_wake_writer(&self) -> bool {
        takes(self.lane.writer_asleep())
    }

    /// Whether there are unread words.
    pub(crate) fn has_more(&self) -> bool {
        self.lane.tail().load(Acquire) != self.head
    }

    /// Tells the writer that no wake is needed, because this side polls the ring.
    pub(crate) fn watch(&self) {
        self.lane.reader_asleep().store(0, Relaxed);
    }

    /// Requests a wake for the next write. Returns whether everything is read; if not, the caller must not sleep.
    pub(crate) fn rest(&self) -> bool {
        self.lane.reader_asleep().store(1, Relaxed);
        fence(SeqCst);
        !self.has_more()
    }
}

/// One ring: its control words and its data.
#[derive(Debug)]
struct RingBuffer {
    memory: Arc<Memory>,
    /// Index of the first control word.
    control: usize,
    /// Range of the data words.
    data: Range<usize>,
}

impl RingBuffer {
    fn new(memory: Arc<Memory>, ring_bytes: usize, index: usize) -> Self {
        debug_assert!(ring_bytes.is_power_of_two(), "positions wrap around by a mask");
        let words = ring_bytes / WORD_BYTES;
        let start = CONTROL_BYTES / WORD_BYTES + index * words;
        Self { memory, control: index * LANE_CONTROL_WORDS, data: start..start + words }
    }

    fn capacity(&self) -> u64 {
        self.data.len() as u64
    }

    /// Returns the number of words from one position to a later one.
    fn distance(&self, from: u64, to: u64) -> Result<u64, Misconduct> {
        let used = to.wrapping_sub(from);
        let capacity = self.capacity();
        if used > capacity { Err(Misconduct::Position { used, capacity }) } else { Ok(used) }
    }

    fn tail(&self) -> &AtomicU64 {
        &self.memory.words()[self.control]
    }

    fn head(&self) -> &AtomicU64 {
        &self.memory.words()[self.control + CONTROL_WORD_SPACING]
    }

    fn reader_asleep(&self) -> &AtomicU64 {
        &self.memory.words()[self.control + 2 * CONTROL_WORD_SPACING]
    }

    fn writer_asleep(&self) -> &AtomicU64 {
        &self.memory.words()[self.control + 3 * CONTROL_WORD_SPACING]
    }

    /// Returns the words from a position to the end of the ring, and those at its beginning.
    fn from(&self, position: u64) -> (&[AtomicU64], &[AtomicU64]) {
        let data = &self.memory.words()[self.data.clone()];
        #[expect(clippy::cast_possible_truncation, reason = "the rest is masked away")]
        let (start, rest) = data.split_at(position as usize & (data.len() - 1));
        (rest, start)
    }

    fn write(&self, position: u64, words: &[u64; FRAME_WORDS]) {
        let (first, second) = self.from(position);
        for (place, word) in first.iter().chain(second).zip(words) {
            place.store(*word, Relaxed);
        }
    }

    fn read(&self, position: u64) -> [u64; FRAME_WORDS] {
        let (first, second) = self.from(position);
        let mut words = [0; FRAME_WORDS];
        for (place, word) in first.iter().chain(second).zip(&mut words) {
            *word = place.load(Relaxed);
        }
        words
    }

    fn write_bytes(&self, position: u64, bytes: &[u8]) {
        let (first, second) = self.from(position);
        let (in_first, in_second) = bytes.split_at(bytes.len().min(first.len() * WORD_BYTES));
        store(first, in_first);
        store(second, in_second);
    }

    fn read_bytes(&self, position: u64, count: usize, into: &mut Vec<u8>) {
        let (first, second) = self.from(position);
        let begin = into.len();
        into.resize(begin + count.next_multiple_of(WORD_BYTES), 0);
        let (_, new) = into.split_at_mut(begin);
        let (in_first, in_second) = new.split_at_mut(new.len().min(first.len() * WORD_BYTES));
        load(first, in_first);
        load(second, in_second);
        into.truncate(begin + count);
    }
}

/// Whether a flag is set, ordered after all earlier operations; clears it if so. A clear flag is not written.
fn takes(flag: &AtomicU64) -> bool {
    fence(SeqCst);
    let seen = flag.load(Relaxed);
    seen != 0 && flag.compare_exchange(seen, 0, Relaxed, Relaxed).is_ok()
}

/// Stores bytes, with the last word padded with zeroes.
fn store(places: &[AtomicU64], bytes: &[u8]) {
    let (whole, rest) = bytes.as_chunks::<WORD_BYTES>();
    for (place, word) in places.iter().zip(whole) {
        place.store(u64::from_ne_bytes(*word), Relaxed);
    }
    if let Some(place) = places.get(whole.len())
        && !rest.is_empty()
    {
        let mut word = [0; WORD_BYTES];
        word[..rest.len()].copy_from_slice(rest);
        place.store(u64::from_ne_bytes(word), Relaxed);
    }
}

/// Loads whole words.
fn load(places: &[AtomicU64], bytes: &mut [u8]) {
    let (whole, rest) = bytes.as_chunks_mut::<WORD_BYTES>();
    debug_assert!(rest.is_empty(), "the room has whole words");
    for (place, word) in places.iter().zip(whole) {
        *word = place.load(Relaxed).to_ne_bytes();
    }
}

/// Bytes of the control words before the rings.
const CONTROL_BYTES: usize = 4096;
/// Control words per ring.
const LANE_CONTROL_WORDS: usize = 64;
/// Distance in words between two control words that different processes write, so that they share neither a cache
/// line nor a pair of cache lines.
const CONTROL_WORD_SPACING: usize = 16;
