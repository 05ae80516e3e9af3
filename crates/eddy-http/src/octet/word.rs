//! Eight bytes at a time in a `u64`, the first byte lowest.
//!
//! The tests below mark a byte by its high bit. A mark may be wrong above the lowest right one (a borrow runs
//! upwards), never below it, so the lowest mark is always exact, and it alone is used.

/// Eight bytes, the first lowest.
pub(crate) type Word = u64;

const ONES: Word = 0x0101_0101_0101_0101;
const HIGHS: Word = 0x8080_8080_8080_8080;

/// Up to eight bytes as a word, zeros above.
#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
pub(crate) const fn word_of(bytes: &[u8]) -> Word {
    assert!(bytes.len() <= 8, "a word holds eight bytes");
    let mut word = 0;
    let mut index = bytes.len();
    while index > 0 {
        index -= 1;
        word = word << 8 | bytes[index] as Word;
    }
    word
}

/// The eight bytes at `at`; zeros stand for those after the end.
#[inline]
pub(crate) fn load(bytes: &[u8], at: usize) -> Word {
    match bytes.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        Some(chunk) => Word::from_le_bytes(*chunk),
        None => load_tail(bytes, at),
    }
}

#[cold]
fn load_tail(bytes: &[u8], at: usize) -> Word {
    let tail = bytes.get(at..).unwrap_or_default();
    tail.iter().take(8).rev().fold(0, |word, byte| word << 8 | Word::from(*byte))
}

/// The first byte from `at` that is `:` or cannot stand in a name: control, space or non-ASCII; or the end.
#[inline]
pub(crate) fn find_name_end(bytes: &[u8], at: usize) -> usize {
    find(bytes, at, |word| equal(word, b':') | less(word, b'!') | (word & HIGHS))
}

/// The first byte from `at` that cannot stand in a token for being control, space or non-ASCII; or the end.
#[inline]
pub(crate) fn find_token_end(bytes: &[u8], at: usize) -> usize {
    find(bytes, at, |word| less(word, b'!') | (word & HIGHS))
}

/// The first byte from `at` that is `?`, `#`, control, space or non-ASCII; or the end.
#[inline]
pub(crate) fn find_path_end(bytes: &[u8], at: usize) -> usize {
    find(bytes, at, |word| equal(word, b'?') | not_in_target(word))
}

/// The first byte from `at` that is `#`, control, space or non-ASCII; or the end.
#[inline]
pub(crate) fn find_query_end(bytes: &[u8], at: usize) -> usize {
    find(bytes, at, not_in_target)
}

/// The first control byte from `at`, tabs not counted; or the end.
#[inline]
pub(crate) fn find_text_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    loop {
        let end = find(bytes, at, |word| less(word, b' ') | equal(word, 0x7f));
        if bytes.get(end) != Some(&b'\t') {
            return end;
        }
        at = end + 1;
    }
}

/// The first byte from `at` that `marks` marks; or the end. `marks` must mark zero.
#[inline(always)]
fn find(bytes: &[u8], at: usize, marks: impl Fn(Word) -> Word) -> usize {
    let mut at = at;
    loop {
        let marked = marks(load(bytes, at));
        if marked != 0 {
            return (at + (marked.trailing_zeros() / 8) as usize).min(bytes.len());
        }
        at += 8;
    }
}

#[inline(always)]
fn not_in_target(word: Word) -> Word {
    equal(word, b'#') | less(word, b'!') | equal(word, 0x7f) | (word & HIGHS)
}

/// Marks the bytes below `limit`, which is at most 128.
#[inline(always)]
fn less(word: Word, limit: u8) -> Word {
    word.wrapping_sub(ONES * Word::from(limit)) & !word & HIGHS
}

/// Marks the bytes equal to `byte`.
#[inline(always)]
fn equal(word: Word, byte: u8) -> Word {
    less(word ^ (ONES * Word::from(byte)), 1)
}
