//! Reading of messages: the words of a record, and the data that they point to.

use std::{fmt, slice};

use crate::wire::{BridgeRead, Scalar};

/// A request or a reply, in the memory that it was received in.
///
/// A message consists of words of eight bytes: first a record of fixed size, then the data that does not fit into it.
/// A list in a record has two words: address and number of elements; the address refers to memory of the caller in
/// this process. If the highest bit of the second word is set, the list is in the message itself, and the first word
/// is its offset in bytes from the start. A number narrower than a word is in its lower bytes; the others are
/// ignored.
#[derive(Clone, Copy, Debug)]
pub struct BridgeMessage<'m> {
    words: &'m [u64],
    has_addresses: bool,
}

impl<'m> BridgeMessage<'m> {
    /// Creates a message without addresses, from any source: everything in it is checked before use.
    #[inline]
    pub fn flat(words: &'m [u64]) -> Self {
        Self { words, has_addresses: false }
    }

    /// Creates a message of this process, which may contain addresses.
    ///
    /// # Safety
    ///
    /// Every address in it, as described at [`BridgeMessage`], points to as many elements as its length says, aligned
    /// for their type; neither they nor the words are modified or freed during `'m`.
    #[inline]
    pub unsafe fn with_addresses(words: &'m [u64]) -> Self {
        Self { words, has_addresses: true }
    }

    /// Reads the record at the beginning of the message.
    ///
    /// # Errors
    ///
    /// The message is not a `T`.
    #[inline]
    pub fn read<T: BridgeRead<'m>>(self) -> Result<T, Malformed> {
        T::read(self, 0)
    }

    /// Returns the word at an index.
    ///
    /// # Errors
    ///
    /// The message has fewer words.
    #[inline]
    pub fn word(self, at: usize) -> Result<u64, Malformed> {
        self.words.get(at).copied().ok_or(Malformed::SHORT)
    }

    /// Returns the numbers of the list whose address and length are at an index.
    ///
    /// # Errors
    ///
    /// They are outside of the message, or not aligned for their type.
    #[inline(always)]
    pub fn scalars<T: Scalar>(self, at: usize) -> Result<&'m [T], Malformed> {
        let place = self.word(at)?;
        let length = self.word(at + 1)?;
        if length & IN_MESSAGE_FLAG == 0 {
            self.at_address(place, length)
        } else {
            self.slice_at_offset(place, length & !IN_MESSAGE_FLAG)
        }
    }

    /// Returns `length` numbers in the message itself.
    fn slice_at_offset<T: Scalar>(self, place: u64, length: u64) -> Result<&'m [T], Malformed> {
        let start = usize::try_from(place).map_err(|_| Malformed::OUTSIDE)?;
        let length = usize::try_from(length).map_err(|_| Malformed::OUTSIDE)?;
        let bytes = length.checked_mul(size_of::<T>()).ok_or(Malformed::OUTSIDE)?;
        let end = start.checked_add(bytes).ok_or(Malformed::OUTSIDE)?;
        if end > size_of_val(self.words) {
            return Err(Malformed::OUTSIDE);
        }
        if !start.is_multiple_of(align_of::<T>()) {
            return Err(Malformed::UNALIGNED);
        }
        // SAFETY: `start` is at most the size of the words.
        let first = unsafe { self.words.as_ptr().cast::<u8>().add(start) };
        // SAFETY: the elements are within the words, which live for 'm, and aligned because the words and `start`
        // are; every bit pattern is a `T`, as `Scalar` promises.
        Ok(unsafe { slice::from_raw_parts(first.cast::<T>(), length) })
    }

    /// Returns `length` numbers in the caller's memory.
    #[inline(always)]
    fn at_address<T: Scalar>(self, address: u64, length: u64) -> Result<&'m [T], Malformed> {
        let Ok(length) = usize::try_from(length) else { return Err(Malformed::OUTSIDE) };
        if length == 0 {
            return Ok(&[]);
        }
        if !self.has_addresses {
            return Err(Malformed::ADDRESS);
        }
        let Ok(address) = usize::try_from(address) else { return Err(Malformed::OUTSIDE) };
        let first = std::ptr::with_exposed_provenance::<T>(address);
        if first.is_null() || !first.is_aligned() {
            return Err(Malformed::UNALIGNED);
        }
        // SAFETY: `with_addresses` promises that many elements for 'm; the address is not null and aligned.
        Ok(unsafe { slice::from_raw_parts(first, length) })
    }

    /// Returns the records of the list whose address and length are at an index, each of `words_of_one` words: a
    /// message that contains them, the index of the first one in it, and their number.
    ///
    /// # Errors
    ///
    /// They are outside of the message, or their type has no words.
    #[inline]
    pub fn records(self, at: usize, words_of_one: usize) -> Result<(Self, usize, usize), Malformed> {
        let place = self.word(at)?;
        let length = self.word(at + 1)?;
        // Elements without words would allow a list of any length.
        let words = usize::try_from(length & !IN_MESSAGE_FLAG)
            .ok()
            .and_then(|length| length.checked_mul(words_of_one));
        let (Some(words), true) = (words, words_of_one != 0) else { return Err(Malformed::OUTSIDE) };
        if length & IN_MESSAGE_FLAG == 0 {
            let words = self.at_address(place, words as u64)?;
            return Ok((Self { words, ..self }, 0, words.len() / words_of_one));
        }
        let place = usize::try_from(place).map_err(|_| Malformed::OUTSIDE)?;
        if !place.is_multiple_of(size_of::<u64>()) {
            return Err(Malformed::UNALIGNED);
        }
        let first = place / size_of::<u64>();
        let end = first.checked_add(words);
        if end.is_none_or(|end| end > self.words.len()) {
            return Err(Malformed::OUTSIDE);
        }
        Ok((self, first, words / words_of_one))
    }
}

/// Set in the length of a list that is in the message itself.
pub(crate) const IN_MESSAGE_FLAG: u64 = 1 << 63;

/// Why a message is invalid: it was made from another declaration, or damaged on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(&'static str);

impl Malformed {
    pub(crate) const SHORT: Self = Self("the message ends within its record");
    pub(crate) const OUTSIDE: Self = Self("a list is outside the message");
    pub(crate) const UNALIGNED: Self = Self("a list is not aligned for its type");
    pub(crate) const ADDRESS: Self = Self("a message of another process contains an address");
    pub(crate) const UTF8: Self =
        Self("a string is not UTF-8: pass bytes, or make it valid with strings.ToValidUTF8");
    pub(crate) const TAG: Self = Self("a tag is neither 0 nor 1");
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Malformed {}
