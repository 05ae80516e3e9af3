//! Processing of eight bytes at a time in a `u64`, the first byte lowest.
//!
//! The finders mark bytes by their high bit. Borrows and carries propagate upwards, so marks above a correct one may be
//! wrong; only the lowest mark is used, and it is exact unless stated otherwise. A zero byte is always marked, so the
//! zeros that represent bytes after the end terminate every search.

use super::class::is_text;

/// Eight bytes, the first lowest.
pub(crate) type SwarWord = u64;

/// Returns up to eight bytes as a word, with zeros above.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
pub(crate) const fn word_of(bytes: &[u8]) -> SwarWord {
    assert!(bytes.len() <= 8, "a word holds eight bytes");
    let mut word = 0;
    let mut index = bytes.len();
    while index > 0 {
        index -= 1;
        word = word << 8 | bytes[index] as SwarWord;
    }
    word
}

/// Returns the first eight bytes; bytes after the end are zero.
#[inline(always)]
pub(crate) fn load(bytes: &[u8]) -> SwarWord {
    match bytes.first_chunk() {
        Some(chunk) => SwarWord::from_le_bytes(*chunk),
        None => load_short(bytes),
    }
}

/// Loads fewer than eight bytes as overlapping halves.
#[inline(never)]
fn load_short(bytes: &[u8]) -> SwarWord {
    if let (Some(low), Some(high)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let shift = (bytes.len() - 4) * 8;
        SwarWord::from(u32::from_le_bytes(*low)) | SwarWord::from(u32::from_le_bytes(*high)) << shift
    } else if let (Some(low), Some(high)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let shift = (bytes.len() - 2) * 8;
        SwarWord::from(u16::from_le_bytes(*low)) | SwarWord::from(u16::from_le_bytes(*high)) << shift
    } else {
        bytes.first().copied().map_or(0, SwarWord::from)
    }
}

/// Returns the index of the first byte that is `:`, control or space; or the length.
#[inline]
pub(crate) fn find_name_end(bytes: &[u8]) -> usize {
    find(bytes, |word| (below(word, b'!') | same(word, b':')) & !word)
}

/// Returns the index of the first byte that is control, space or non-ASCII; or the length. DEL is not counted.
#[inline]
pub(crate) fn find_token_end(bytes: &[u8]) -> usize {
    find(bytes, |word| below(word, b'!') | word)
}

/// Returns the index of the first byte that is `?`, `#`, control, space or non-ASCII; or the length.
#[inline]
pub(crate) fn find_path_end(bytes: &[u8]) -> usize {
    find(bytes, |word| same(word, b'?') | not_in_target(word))
}

/// Returns the index of the first byte that is `#`, control, space or non-ASCII; or the length.
#[inline]
pub(crate) fn find_query_end(bytes: &[u8]) -> usize {
    find(bytes, not_in_target)
}

/// Returns the index of the first control byte except tab; or the length.
#[inline]
pub(crate) fn find_text_end(bytes: &[u8]) -> usize {
    // Most values end within two words; only for longer ones the block search is worth its setup.
    let mut rest = bytes;
    for _ in 0..2 {
        let Some((chunk, after)) = rest.split_first_chunk() else { break };
        let marked = not_text(SwarWord::from_le_bytes(*chunk)) & HIGHS;
        if marked != 0 {
            return settle_text_end(bytes, bytes.len() - rest.len() + first_of(marked));
        }
        rest = after;
    }
    while let Some((block, after)) = rest.split_first_chunk::<BLOCK_BYTES>()
        && !has_control(block)
    {
        rest = after;
    }
    settle_text_end(bytes, bytes.len() - rest.len() + find(rest, not_text))
}

/// Continues the search where the byte at `end` is a tab or marked by mistake.
#[inline]
fn settle_text_end(bytes: &[u8], end: usize) -> usize {
    match bytes.get(end) {
        Some(&byte) if is_text(byte) => find_text_end_after(bytes, end),
        Some(_) | None => end,
    }
}

/// Returns the end of text from a text byte on.
#[inline(never)]
fn find_text_end_after(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    while bytes.get(at).is_some_and(|&byte| is_text(byte)) {
        at += 1;
        at += find(bytes.get(at..).unwrap_or_default(), not_text);
    }
    at
}

/// Returns the index of the first byte that `marks` marks; or the length.
#[inline(always)]
fn find(bytes: &[u8], marks: impl Fn(SwarWord) -> SwarWord) -> usize {
    let mut rest = bytes;
    while let Some((chunk, after)) = rest.split_first_chunk() {
        let marked = marks(SwarWord::from_le_bytes(*chunk)) & HIGHS;
        if marked != 0 {
            return bytes.len() - rest.len() + first_of(marked);
        }
        rest = after;
    }
    let marked = marks(load_short(rest)) & HIGHS;
    bytes.len() - rest.len() + first_of(marked).min(rest.len())
}

/// Whether the block has a control byte, DEL or tab; compilers turn the loop into a few vector instructions.
#[inline(always)]
fn has_control(block: &[u8; BLOCK_BYTES]) -> bool {
    block.iter().fold(false, |has, &byte| has | (byte < b' ') | (byte == 0x7f))
}

/// Returns the index of the lowest mark.
#[inline(always)]
fn first_of(marked: SwarWord) -> usize {
    (marked.trailing_zeros() / 8) as usize
}

/// Marks the control bytes; a `~` after a byte of 255 may be marked too.
#[inline(always)]
fn not_text(word: SwarWord) -> SwarWord {
    (below(word, b' ') | above_tilde(word)) & !word
}

#[inline(always)]
fn not_in_target(word: SwarWord) -> SwarWord {
    below(word, b'!') | above_tilde(word) | same(word, b'#') | word
}

/// Marks the bytes below `limit`, and possibly some of 128 and more.
#[inline(always)]
fn below(word: SwarWord, limit: u8) -> SwarWord {
    word.wrapping_sub(ONES * SwarWord::from(limit))
}

/// Marks DEL, and possibly some of 128 and more; a byte of 255 carries into the next.
#[inline(always)]
fn above_tilde(word: SwarWord) -> SwarWord {
    word.wrapping_add(ONES)
}

/// Marks the bytes equal to `byte`, which is ASCII, and possibly some of 128 and more.
#[inline(always)]
fn same(word: SwarWord, byte: u8) -> SwarWord {
    (word ^ (ONES * SwarWord::from(byte))).wrapping_sub(ONES)
}

const ONES: SwarWord = 0x0101_0101_0101_0101;
const HIGHS: SwarWord = 0x8080_8080_8080_8080;
const BLOCK_BYTES: usize = 32;
