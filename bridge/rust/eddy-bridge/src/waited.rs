//! Calls of Go whose caller waits.
//!
//! All of this is inlined into the generated method: a call costs little more than entering Go, so that each move of
//! a structure between functions would show.

use std::cell::Cell;

use crate::block::{
    CONTEXT, EXTENT, HEADER_WORDS, KEPT_WORDS_MAX, OUTCOME, REPLY_WORDS, TARGET, check, halves, read,
    read_elsewhere,
};
use crate::fault::Fault;
use crate::wire::{Read, Write};
use crate::writer::Writer;

/// Lays out a request in the block of the thread, has `enter` answer it, and reads the answer.
///
/// # Errors
///
/// The request is too large, or what the callee told instead of an answer, or that the answer is not one of `R`.
///
/// # Safety
///
/// `enter` takes a block, as [`crate::block`] describes it, has no use for it after it has returned, and leaves an
/// answer in it.
#[inline]
pub(crate) unsafe fn call<A: Write, R: for<'m> Read<'m>>(
    enter: unsafe extern "C" fn(*mut u64),
    target: u64,
    arguments: &A,
) -> Result<R, Fault> {
    // Whoever calls again while Go runs finds none, and makes another.
    let mut words = BLOCK.take();
    if words.len() < WORDS {
        words = vec![0; WORDS];
    }
    let room_end = words.len() - REPLY_WORDS;
    let mut writer = Writer::with_views(&mut words[HEADER_WORDS..room_end]);
    writer.write(arguments);
    let used = if let Some(used) = writer.used() {
        used
    } else {
        let request = writer.into_words();
        words = large(&request)?;
        request.len()
    };
    let request_end = HEADER_WORDS + used;
    let extent = (words.len() as u64) << 32 | request_end as u64;
    if let Some(header) = words.first_chunk_mut::<HEADER_WORDS>() {
        *header = [0; HEADER_WORDS];
        header[TARGET] = target;
        header[EXTENT] = extent;
    }
    // SAFETY: the block is laid out as the caller promises that `enter` takes it; what the request points to is borrowed.
    unsafe { enter(words.as_mut_ptr()) };
    let (status, length) = halves(words[OUTCOME]);
    let answer = match words.get(request_end..request_end + length) {
        Some(reply) => read(status, reply),
        // SAFETY: the callee has left the block as `crate::block` describes it.
        None => unsafe { read_elsewhere(words[CONTEXT], status, length) },
    };
    if words.len() <= KEPT_WORDS_MAX {
        BLOCK.set(words);
    }
    answer
}

/// A block with a request that had no room.
#[cold]
fn large(request: &[u64]) -> Result<Vec<u64>, Fault> {
    let words = HEADER_WORDS + request.len() + REPLY_WORDS;
    check(words, request.len())?;
    let mut block = Vec::with_capacity(words);
    block.resize(HEADER_WORDS, 0);
    block.extend_from_slice(request);
    block.resize(words, 0);
    Ok(block)
}

thread_local! {
    /// Empty while a call is under way.
    static BLOCK: Cell<Vec<u64>> = const { Cell::new(Vec::new()) };
}

/// Words of a block that a thread keeps, when it is new.
const WORDS: usize = 512;
