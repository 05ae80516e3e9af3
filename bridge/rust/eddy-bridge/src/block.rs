//! The memory of a call: a header, the request, and room for the reply, in one piece.
//!
//! One pointer is all that crosses. Of a call whose caller waits it is on the stack, so that it allocates nothing.

use std::slice;

use crate::fault::{BridgeError, BridgeErrorKind};
use crate::message::BridgeMessage;
use crate::wire::{BridgeRead, BridgeWrite};
use crate::writer::MessageWriter;

/// A block with a request that outlives its caller: it has copies.
pub(crate) struct Block {
    words: Vec<u64>,
    /// Where the room for the reply begins.
    request_end: usize,
}

impl Block {
    /// Lays out a request of a method, whose end is told by a ticket.
    ///
    /// # Errors
    ///
    /// It is larger than [`WORDS_MAX`].
    pub(crate) fn of<A: BridgeWrite + ?Sized>(
        target: u64,
        arguments: &A,
        ticket: u64,
    ) -> Result<Self, BridgeError> {
        let mut words = vec![0; HEADER_WORDS + A::WORDS + TAIL_WORDS + REPLY_WORDS];
        let mut writer = MessageWriter::flat(&mut words[HEADER_WORDS..]);
        writer.write(arguments);
        let used = if let Some(used) = writer.used() {
            used
        } else {
            let own = writer.into_words();
            words.truncate(HEADER_WORDS);
            words.extend_from_slice(&own);
            own.len()
        };
        let request_end = HEADER_WORDS + used;
        check(request_end + REPLY_WORDS, used)?;
        if words.len() < request_end + REPLY_WORDS {
            words.resize(request_end + REPLY_WORDS, 0);
        }
        words[TARGET] = target;
        words[EXTENT] = (words.len() as u64) << 32 | request_end as u64;
        words[TICKET] = ticket;
        Ok(Self { words, request_end })
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut u64 {
        self.words.as_mut_ptr()
    }

    /// Reads the reply, after the callee has returned.
    ///
    /// # Errors
    ///
    /// What the callee told instead of a reply, or that the reply is not one of `R`.
    ///
    /// # Safety
    ///
    /// The block was entered by a callee that left it as [`crate::block`] describes.
    pub(crate) unsafe fn answer<R: for<'m> BridgeRead<'m>>(self) -> Result<R, BridgeError> {
        let (status, length) = halves(self.words[OUTCOME]);
        match self.words.get(self.request_end..self.request_end + length) {
            Some(reply) => read(status, reply),
            // SAFETY: the callee has left the block as this module describes it.
            None => unsafe { read_elsewhere(self.words[CONTEXT], status, length) },
        }
    }

    /// Frees what a reply has in memory of its own, after the callee has returned, where nobody reads it.
    ///
    /// # Safety
    ///
    /// As [`Block::answer`].
    pub(crate) unsafe fn discard(self) {
        let (_, length) = halves(self.words[OUTCOME]);
        if length > self.words.len() - self.request_end {
            let at = std::ptr::with_exposed_provenance_mut::<u64>(
                usize::try_from(self.words[CONTEXT]).unwrap_or(0),
            );
            // SAFETY: such a reply is in memory from `malloc`, which is ours.
            unsafe { libc::free(at.cast()) };
        }
    }
}

/// Whether a block of so many words, with a request of so many, may be sent.
///
/// # Errors
///
/// It is larger than [`WORDS_MAX`].
pub(crate) fn check(words: usize, request_words: usize) -> Result<(), BridgeError> {
    if words <= WORDS_MAX {
        return Ok(());
    }
    let text = format!("a request of {} bytes, more than {}", request_words * 8, WORDS_MAX * 8);
    Err(BridgeError::new(BridgeErrorKind::Malformed, text))
}

/// Reads a reply.
#[inline]
pub(crate) fn read<R: for<'m> BridgeRead<'m>>(status: usize, reply: &[u64]) -> Result<R, BridgeError> {
    if status == 0 {
        BridgeMessage::flat(reply).read().map_err(BridgeError::from)
    } else {
        Err(told(status, reply))
    }
}

/// Reads a reply that is longer than its room.
///
/// # Safety
///
/// At the address are so many words in memory from `malloc`, which nobody else has.
#[cold]
pub(crate) unsafe fn read_elsewhere<R: for<'m> BridgeRead<'m>>(
    address: u64,
    status: usize,
    length: usize,
) -> Result<R, BridgeError> {
    let at = std::ptr::with_exposed_provenance_mut::<u64>(usize::try_from(address).unwrap_or(0));
    // SAFETY: the caller promises so many words.
    let reply = unsafe { slice::from_raw_parts(at, length) };
    let answer = read(status, reply);
    // SAFETY: that memory is ours, and nothing of it is kept.
    unsafe { libc::free(at.cast()) };
    answer
}

#[cold]
fn told(status: usize, reply: &[u64]) -> BridgeError {
    match u32::try_from(status) {
        Ok(status) => BridgeError::told(status, reply),
        Err(_) => BridgeError::new(BridgeErrorKind::Malformed, "a status that there is not"),
    }
}

/// The header of a block.
///
/// # Safety
///
/// The pointer is to a block, which nobody changes during `'b`.
#[inline]
pub(crate) unsafe fn header<'b>(block: *const u64) -> &'b [u64; HEADER_WORDS] {
    // SAFETY: a block begins with so many words.
    unsafe { &*block.cast() }
}

/// The high and the low half of a word.
#[expect(clippy::cast_possible_truncation, reason = "each half has 32 bits")]
#[inline]
pub(crate) fn halves(word: u64) -> (usize, usize) {
    ((word >> 32) as usize, (word & u64::from(u32::MAX)) as usize)
}

/// Number of the method, among all of the library.
pub(crate) const TARGET: usize = 0;
/// Words of the block, and where the room for the reply begins.
pub(crate) const EXTENT: usize = 1;
/// Set by the callee: status, and words of the reply.
pub(crate) const OUTCOME: usize = 2;
/// Set by the callee where the reply has no room in the block: its address.
pub(crate) const CONTEXT: usize = 3;
/// Of a call that nobody waits for in place: what its end is told by, other than 0.
pub(crate) const TICKET: usize = 4;
/// Words before the request.
pub(crate) const HEADER_WORDS: usize = 5;
/// Room for what doesn't fit into the record of a request that outlives its caller.
const TAIL_WORDS: usize = 16;
/// The least room for a reply.
pub(crate) const REPLY_WORDS: usize = 64;
/// The largest block: 1 GiB.
const WORDS_MAX: usize = 1 << 27;
