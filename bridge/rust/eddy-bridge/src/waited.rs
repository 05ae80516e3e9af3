//! Calls of Go whose caller waits.
//!
//! All of this is inlined into the generated method: a call costs little more than entering Go, so that each move of
//! a structure between functions would show.

use std::mem::MaybeUninit;
use std::slice;

use crate::block::{
    CONTEXT, EXTENT, HEADER_WORDS, OUTCOME, REPLY_WORDS, TARGET, check, halves, header, read, read_elsewhere,
};
use crate::fault::BridgeError;
use crate::wire::{BridgeRead, BridgeWrite};
use crate::writer::MessageWriter;

/// Lays out a request on the stack, has `enter` answer it, and reads the answer.
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
pub(crate) unsafe fn call<A: BridgeWrite, R: for<'m> BridgeRead<'m>>(
    enter: unsafe extern "C" fn(*mut u64),
    target: u64,
    arguments: &A,
) -> Result<R, BridgeError> {
    // Its size is known here, so that of writing a record little is left but stores.
    let mut block = [const { MaybeUninit::<u64>::uninit() }; WORDS];
    let mut writer = MessageWriter::with_views(&mut block[HEADER_WORDS..WORDS - REPLY_WORDS]);
    writer.write(arguments);
    if let Some(used) = writer.used() {
        // SAFETY: what is asked of the caller, and the request is there.
        return unsafe { answer(enter, target, &mut block, used) };
    }
    let request = writer.into_words();
    check(HEADER_WORDS + request.len() + REPLY_WORDS, request.len())?;
    let mut block = vec![MaybeUninit::new(0); HEADER_WORDS];
    block.extend(request.iter().copied().map(MaybeUninit::new));
    block.resize(block.len() + REPLY_WORDS, MaybeUninit::uninit());
    // SAFETY: as above.
    unsafe { answer(enter, target, &mut block, request.len()) }
}

/// Enters the callee with a block that has a request of so many words, and reads the answer.
///
/// # Safety
///
/// As [`call`], and so many words behind the header are initialized.
#[inline]
unsafe fn answer<R: for<'m> BridgeRead<'m>>(
    enter: unsafe extern "C" fn(*mut u64),
    target: u64,
    block: &mut [MaybeUninit<u64>],
    request_words: usize,
) -> Result<R, BridgeError> {
    let words = block.len();
    let request_end = HEADER_WORDS + request_words;
    if let Some(header) = block.first_chunk_mut::<HEADER_WORDS>() {
        *header = [MaybeUninit::new(0); HEADER_WORDS];
        header[TARGET] = MaybeUninit::new(target);
        header[EXTENT] = MaybeUninit::new((words as u64) << 32 | request_end as u64);
    }
    let at = block.as_mut_ptr().cast::<u64>();
    // SAFETY: the block is laid out as the caller promises that `enter` takes it; what the request points to is borrowed.
    unsafe { enter(at) };
    // SAFETY: the header is initialized, and the callee has set its outcome.
    let (status, length) = halves(unsafe { header(at) }[OUTCOME]);
    if length > words - request_end {
        // SAFETY: as above.
        let elsewhere = unsafe { header(at) }[CONTEXT];
        // SAFETY: the callee has left the block as `crate::block` describes it.
        return unsafe { read_elsewhere(elsewhere, status, length) };
    }
    // SAFETY: there are so many words behind the request.
    let reply = unsafe { at.add(request_end) };
    // SAFETY: so many of them the callee has written.
    read(status, unsafe { slice::from_raw_parts(reply, length) })
}

/// Words of a block on the stack.
const WORDS: usize = HEADER_WORDS + 128 + REPLY_WORDS;
