//! The memory of a call: a header, the request, and room for the reply, in one piece.
//!
//! One pointer is all that crosses. The thread keeps its block for the next call, so that a call allocates nothing.

use std::cell::Cell;
use std::slice;

use crate::fault::{Fault, FaultKind};
use crate::message::Message;
use crate::wire::{Read, Write};
use crate::writer::{Writer, Written};

/// A block, ready to be entered.
pub(crate) struct Block {
    words: Vec<u64>,
    /// Where the room for the reply begins.
    request_end: usize,
}

/// How a request refers to what it was made from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lifetime {
    /// The caller waits: the request may have views.
    Call,
    /// The request outlives the caller: it has copies.
    Own,
}

impl Block {
    /// Lays out a request of a method.
    pub(crate) fn of<A: Write + ?Sized>(target: u64, arguments: &A, lifetime: Lifetime) -> Self {
        let mut words = match lifetime {
            Lifetime::Call => BLOCK.take(),
            Lifetime::Own => vec![0; HEADER_WORDS + A::WORDS + TAIL_WORDS + REPLY_WORDS],
        };
        if words.is_empty() {
            words = vec![0; WORDS];
        }
        let (_, room) = words.split_at_mut(HEADER_WORDS);
        let mut writer = match lifetime {
            Lifetime::Call => Writer::with_views(room),
            Lifetime::Own => Writer::flat(room),
        };
        writer.write(arguments);
        let used = match writer.finish() {
            Written::Room(used) => used,
            Written::Own(own) => {
                let used = own.len();
                words.truncate(HEADER_WORDS);
                words.extend_from_slice(&own);
                used
            }
        };
        let request_end = HEADER_WORDS + used;
        if words.len() < request_end + REPLY_WORDS {
            words.resize(request_end + REPLY_WORDS, 0);
        }
        words[TARGET] = target;
        words[EXTENT] = (words.len() as u64) << 32 | request_end as u64;
        words[OUTCOME] = 0;
        words[CONTEXT] = 0;
        words[TICKET] = 0;
        Self { words, request_end }
    }

    /// Whether the request is one that may be sent.
    ///
    /// # Errors
    ///
    /// It is larger than [`WORDS_MAX`].
    pub(crate) fn check(&self) -> Result<(), Fault> {
        if self.words.len() <= WORDS_MAX {
            return Ok(());
        }
        let text = format!("a request of {} bytes, more than {}", self.request_end * 8, WORDS_MAX * 8);
        Err(Fault::new(FaultKind::Malformed, text))
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
    pub(crate) unsafe fn answer<R: for<'m> Read<'m>>(self) -> Result<R, Fault> {
        let (status, length) = halves(self.words[OUTCOME]);
        let overflow = self.words[CONTEXT];
        if length > self.words.len() - self.request_end {
            let at = std::ptr::with_exposed_provenance_mut::<u64>(usize::try_from(overflow).unwrap_or(0));
            // SAFETY: a reply that is longer than its room is in memory from `malloc`, so many words.
            let reply = unsafe { slice::from_raw_parts(at, length) };
            let answer = read(status, reply);
            // SAFETY: that memory is ours, and nothing of it is kept.
            unsafe { libc::free(at.cast()) };
            return answer;
        }
        let answer = read(status, &self.words[self.request_end..self.request_end + length]);
        self.keep();
        answer
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
        self.keep();
    }

    /// Leaves the memory to the thread's next call.
    fn keep(self) {
        if (WORDS..=KEPT_WORDS_MAX).contains(&self.words.len()) {
            BLOCK.set(self.words);
        }
    }

    /// Names the ticket of a call that nobody waits for in place.
    pub(crate) fn set_ticket(&mut self, ticket: u64) {
        self.words[TICKET] = ticket;
    }
}

fn read<R: for<'m> Read<'m>>(status: usize, reply: &[u64]) -> Result<R, Fault> {
    match u32::try_from(status) {
        Ok(0) => Ok(Message::flat(reply).read()?),
        Ok(status) => Err(Fault::told(status, reply)),
        Err(_) => Err(Fault::new(FaultKind::Malformed, "a status that there is not")),
    }
}

/// The header of a block.
///
/// # Safety
///
/// The pointer is to a block, which nobody changes during `'b`.
pub(crate) unsafe fn header<'b>(block: *const u64) -> &'b [u64; HEADER_WORDS] {
    // SAFETY: a block begins with so many words.
    unsafe { &*block.cast() }
}

/// The high and the low half of a word.
#[expect(clippy::cast_possible_truncation, reason = "each half has 32 bits")]
pub(crate) fn halves(word: u64) -> (usize, usize) {
    ((word >> 32) as usize, (word & u64::from(u32::MAX)) as usize)
}

thread_local! {
    static BLOCK: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
}

/// Number of the service, number of the method; 32 bits each, the first in the high ones, as in all words of two parts.
pub(crate) const TARGET: usize = 0;
/// Words of the block, and where the room for the reply begins.
pub(crate) const EXTENT: usize = 1;
/// Set by the callee: status, and words of the reply.
pub(crate) const OUTCOME: usize = 2;
/// For Rust as callee, its implementation; set by the callee where the reply has no room in the block: its address.
pub(crate) const CONTEXT: usize = 3;
/// Of a call that nobody waits for in place: what its end is told by, other than 0.
pub(crate) const TICKET: usize = 4;
/// Words before the request.
pub(crate) const HEADER_WORDS: usize = 5;
/// Words of a block that a thread keeps, when it is new.
const WORDS: usize = 512;
/// Room for what doesn't fit into the record of a request that outlives its caller.
const TAIL_WORDS: usize = 16;
/// The least room for a reply.
const REPLY_WORDS: usize = 64;
/// The largest block that a thread keeps: 64 KiB.
const KEPT_WORDS_MAX: usize = 8192;
/// The largest block: 1 GiB.
const WORDS_MAX: usize = 1 << 27;
