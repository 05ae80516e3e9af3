//! Writing of messages.

use std::mem::MaybeUninit;
use std::slice;

use crate::message::IN_MESSAGE_FLAG;
use crate::wire::{BridgeWrite, Scalar};

/// Writes a message into the given buffer, and into allocated memory when that is too small.
#[derive(Debug)]
pub struct MessageWriter<'r> {
    room: &'r mut [MaybeUninit<u64>],
    /// Words of `room` in use, which are initialized; all of them are moved to `spill` once that is not empty.
    used: usize,
    spill: Vec<u64>,
    lists: Lists,
}

/// Encoding of numbers and strings of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lists {
    /// As addresses: the message is read while the caller waits.
    Views,
    /// As copies: the message outlives the call.
    Copies,
}

impl<'r> MessageWriter<'r> {
    /// Creates a writer of a self-contained message.
    #[inline(always)]
    pub fn flat(room: &'r mut [u64]) -> Self {
        let words = room.len();
        // SAFETY: the length is the same, and only initialized words are ever written to them.
        Self::flat_in(unsafe { slice::from_raw_parts_mut(room.as_mut_ptr().cast(), words) })
    }

    /// As [`MessageWriter::flat`], into uninitialized memory.
    #[inline(always)]
    pub(crate) fn flat_in(room: &'r mut [MaybeUninit<u64>]) -> Self {
        Self { room, used: 0, spill: Vec::new(), lists: Lists::Copies }
    }

    /// Creates a writer of a message with addresses into its source values.
    #[inline(always)]
    pub(crate) fn with_views(room: &'r mut [MaybeUninit<u64>]) -> Self {
        Self { room, used: 0, spill: Vec::new(), lists: Lists::Views }
    }

    /// Writes a value as the record at the beginning of the message.
    #[inline(always)]
    pub fn write<T: BridgeWrite + ?Sized>(&mut self, value: &T) {
        let at = self.reserve(T::WORDS);
        value.write(self, at);
    }

    /// Appends `words` words of 0, and returns the index of the first.
    #[inline(always)]
    pub fn reserve(&mut self, words: usize) -> usize {
        let at = self.length();
        if self.spill.is_empty()
            && let Some(fresh) = self.room.get_mut(at..at + words)
        {
            fresh.fill(MaybeUninit::new(0));
            self.used += words;
            return at;
        }
        self.spill_over(words);
        at
    }

    #[cold]
    fn spill_over(&mut self, words: usize) {
        if self.spill.is_empty() {
            let used = self.written();
            let mut spill = Vec::with_capacity((used.len() + words) * 2);
            spill.extend_from_slice(used);
            self.spill = spill;
        }
        self.spill.resize(self.spill.len() + words, 0);
    }

    #[inline(always)]
    fn length(&self) -> usize {
        if self.spill.is_empty() { self.used } else { self.spill.len() }
    }

    /// Sets a word that was reserved.
    ///
    /// # Panics
    ///
    /// If the word was not reserved.
    #[inline(always)]
    pub fn set(&mut self, at: usize, word: u64) {
        if self.spill.is_empty() {
            self.room[at] = MaybeUninit::new(word);
        } else {
            self.spill[at] = word;
        }
    }

    /// Writes the numbers of the list whose address and length are at `at`, still 0: as copies, or by their address.
    ///
    /// # Panics
    ///
    /// If the words of the list were not reserved.
    #[inline(always)]
    pub fn scalars<T: Scalar>(&mut self, at: usize, list: &[T]) {
        if list.is_empty() {
            // Never a dangling address: Go's runtime ends the program if it finds one below 4096 on a stack.
            return;
        }
        if self.lists == Lists::Views {
            self.set(at, list.as_ptr().expose_provenance() as u64);
            self.set(at + 1, list.len() as u64);
            return;
        }
        self.copy(at, list);
    }

    /// [`MessageWriter::scalars`] as copies.
    fn copy<T: Scalar>(&mut self, at: usize, list: &[T]) {
        let bytes = size_of_val(list);
        let first = self.reserve(bytes.div_ceil(size_of::<u64>()));
        self.set(at, (first * size_of::<u64>()) as u64);
        self.set(at + 1, list.len() as u64 | IN_MESSAGE_FLAG);
        // SAFETY: numbers can be read as bytes; `Scalar` promises that there is no padding in them.
        let from = unsafe { slice::from_raw_parts(list.as_ptr().cast::<u8>(), bytes) };
        let words = if self.spill.is_empty() { self.written_mut() } else { &mut self.spill };
        let to = &mut words[first..];
        // SAFETY: words are bytes without padding, of any pattern, and `to` has at least that many.
        let to = unsafe { slice::from_raw_parts_mut(to.as_mut_ptr().cast::<u8>(), size_of_val(to)) };
        to[..bytes].copy_from_slice(from);
    }

    /// Appends the records of a list whose offset and length are at `at`, still 0, and returns the index of the
    /// first.
    ///
    /// # Panics
    ///
    /// If the words of the list were not reserved.
    pub fn records(&mut self, at: usize, length: usize, words_of_one: usize) -> usize {
        let first = self.reserve(length * words_of_one);
        self.set(at, (first * size_of::<u64>()) as u64);
        self.set(at + 1, length as u64 | IN_MESSAGE_FLAG);
        first
    }

    /// Returns the words of the buffer that are in use.
    #[inline(always)]
    fn written(&self) -> &[u64] {
        // SAFETY: `used` words of the room are initialized.
        unsafe { slice::from_raw_parts(self.room[..self.used].as_ptr().cast(), self.used) }
    }

    #[inline(always)]
    fn written_mut(&mut self) -> &mut [u64] {
        // SAFETY: as above.
        unsafe { slice::from_raw_parts_mut(self.room[..self.used].as_mut_ptr().cast(), self.used) }
    }

    /// Returns the number of words of the message in the buffer, unless it has outgrown that.
    #[inline(always)]
    pub(crate) fn used(&self) -> Option<usize> {
        self.spill.is_empty().then_some(self.used)
    }

    /// Returns the message in allocated memory.
    pub fn into_words(self) -> Vec<u64> {
        if self.spill.is_empty() { self.written().to_vec() } else { self.spill }
    }
}
