//! The memory of a call: a header, the request, and room for the reply, in one piece.
//!
//! Only one pointer is passed. The block of a blocking call is on the stack, so that nothing is allocated.

use std::slice;

use crate::fault::{BridgeError, BridgeErrorKind};
use crate::message::BridgeMessage;
use crate::wire::{BridgeRead, BridgeWrite};
use crate::writer::MessageWriter;

/// A block whose request outlives its caller and therefore contains copies.
pub(crate) struct Block {
    words: Vec<u64>,
    /// Index where the room for the reply begins.
    request_end: usize,
}

impl Block {
    /// Lays out the request of a method call, whose completion is reported with a ticket.
    ///
    /// # Errors
    ///
    /// The request is larger than [`WORDS_MAX`].
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
    /// The error that the callee reported instead of a reply, or a reply that is not an `R`.
    ///
    /// # Safety
    ///
    /// The block was passed to a callee that left it as described at [`crate::block`].
    pub(crate) unsafe fn answer<R: for<'m> BridgeRead<'m>>(self) -> Result<R, BridgeError> {
        let (status, length) = halves(self.words[OUTCOME]);
        match self.words.get(self.request_end..self.request_end + length) {
            Some(reply) => read(status, reply),
            // SAFETY: the callee has left the block as this module describes it.
            None => unsafe { read_heap_reply(self.words[CONTEXT], status, length) },
        }
    }

    /// Frees the reply's own memory, after the callee has returned and if the reply is not read.
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

/// Checks that a block of `words` words, with a request of `request_words`, may be sent.
///
/// # Errors
///
/// The block is larger than [`WORDS_MAX`].
pub(crate) fn check(words: usize, request_words: usize) -> Result<(), BridgeError> {
    if words <= WORDS_MAX {
        return Ok(());
    }
    let text = format!("a request has {} bytes; at most {} are allowed", request_words * 8, WORDS_MAX * 8);
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

/// Reads a reply that does not fit into its room.
///
/// # Safety
///
/// At the address are `length` words in memory from `malloc`, which nothing else uses.
#[cold]
pub(crate) unsafe fn read_heap_reply<R: for<'m> BridgeRead<'m>>(
    address: u64,
    status: usize,
    length: usize,
) -> Result<R, BridgeError> {
    let at = std::ptr::with_exposed_provenance_mut::<u64>(usize::try_from(address).unwrap_or(0));
    // SAFETY: the caller promises `length` words.
    let reply = unsafe { slice::from_raw_parts(at, length) };
    let answer = read(status, reply);
    // SAFETY: that memory is ours, and no reference into it is kept.
    unsafe { libc::free(at.cast()) };
    answer
}

#[cold]
fn told(status: usize, reply: &[u64]) -> BridgeError {
    match u32::try_from(status) {
        Ok(status) => BridgeError::told(status, reply),
        Err(_) => BridgeError::new(BridgeErrorKind::Malformed, "unknown status"),
    }
}

/// Returns the header of a block.
///
/// # Safety
///
/// The pointer is to a block that is not modified during `'b`.
#[inline]
pub(crate) unsafe fn header<'b>(block: *const u64) -> &'b [u64; HEADER_WORDS] {
    // SAFETY: a block begins with that many words.
    unsafe { &*block.cast() }
}

/// Returns the high and the low half of a word.
#[expect(clippy::cast_possible_truncation, reason = "each half has 32 bits")]
#[inline]
pub(crate) fn halves(word: u64) -> (usize, usize) {
    ((word >> 32) as usize, (word & u64::from(u32::MAX)) as usize)
}

/// Number of the method, among all methods of the library.
pub(crate) const TARGET: usize = 0;
/// Number of words of the block, and index where the room for the reply begins.
pub(crate) const EXTENT: usize = 1;
/// Set by the callee: status, and number of words of the reply.
pub(crate) const OUTCOME: usize = 2;
/// Set by the callee if the reply does not fit into the block: its address.
pub(crate) const CONTEXT: usize = 3;
/// Ticket of an asynchronous call, other than 0, by which its completion is reported.
pub(crate) const TICKET: usize = 4;
/// Number of words before the request.
pub(crate) const HEADER_WORDS: usize = 5;
/// Words for data outside the record, in a request that outlives its caller.
const TAIL_WORDS: usize = 16;
/// Minimum room for a reply.
pub(crate) const REPLY_WORDS: usize = 64;
/// Maximum size of a block: 1 GiB.
const WORDS_MAX: usize = 1 << 27;
