//! Blocking calls from Rust to Go.
//!
//! All of this is inlined into the generated method: a call costs little more than entering Go, so that each copy of
//! a structure between functions would be noticeable.

use std::mem::MaybeUninit;
use std::slice;

use crate::block::{
    CONTEXT, EXTENT, HEADER_WORDS, OUTCOME, REPLY_WORDS, TARGET, check, halves, header, read, read_heap_reply,
};
use crate::fault::BridgeError;
use crate::wire::{BridgeRead, BridgeWrite};
use crate::writer::MessageWriter;

/// Lays out a request on the stack, calls `enter` with it, and reads the result.
///
/// # Errors
///
/// The request is too large, the callee reported an error instead of a result, or the result is not an `R`.
///
/// # Safety
///
/// `enter` takes a block, as described at [`crate::block`], does not use it after it has returned, and leaves a
/// result in it.
#[inline]
pub(crate) unsafe fn call<A: BridgeWrite, R: for<'m> BridgeRead<'m>>(
    enter: unsafe extern "C" fn(*mut u64),
    target: u64,
    arguments: &A,
) -> Result<R, BridgeError> {
    // The size is known here, so that writing a record compiles to little more than stores.
    let mut block = [const { MaybeUninit::<u64>::uninit() }; WORDS];
    let mut writer = MessageWriter::with_views(&mut block[HEADER_WORDS..WORDS - REPLY_WORDS]);
    writer.write(arguments);
    if let Some(used) = writer.used() {
        // SAFETY: the caller promises the requirements, and the request is in the block.
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

/// Calls the callee with a block that has a request of `request_words` words, and reads the result.
///
/// # Safety
///
/// As [`call`], and that many words after the header are initialized.
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
    // SAFETY: the block has the layout that the caller promises `enter` takes; data that the request points to is
    // borrowed.
    unsafe { enter(at) };
    // SAFETY: the header is initialized, and the callee has set its outcome.
    let (status, length) = halves(unsafe { header(at) }[OUTCOME]);
    if length > words - request_end {
        // SAFETY: as above.
        let elsewhere = unsafe { header(at) }[CONTEXT];
        // SAFETY: the callee has left the block as described at `crate::block`.
        return unsafe { read_heap_reply(elsewhere, status, length) };
    }
    // SAFETY: that many words follow the request.
    let reply = unsafe { at.add(request_end) };
    // SAFETY: the callee has written `length` of them.
    read(status, unsafe { slice::from_raw_parts(reply, length) })
}

/// Words of a block on the stack.
const WORDS: usize = HEADER_WORDS + 128 + REPLY_WORDS;
