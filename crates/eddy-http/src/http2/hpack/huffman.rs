//! Huffman code of HPACK.
//!
//! The code is canonical: code words are ordered by length, then by byte value, so that the lengths determine them.

use super::integer::Unreadable;

/// Code length in bits of each byte and of the end-of-string symbol, which is never sent.
///
/// # Source
/// RFC 7541, appendix B
#[rustfmt::skip]
const LENGTHS: [u8; SYMBOLS] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7,
    7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21,
    23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24,
    21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30,
];

const SYMBOLS: usize = 257;
const END: u16 = 256;
const LENGTH_MAX: usize = 30;
/// Code words up to this length are decoded with a single table lookup.
const SHORT: usize = 8;

const TABLES: HuffmanTables = HuffmanTables::new();

struct HuffmanTables {
    /// Code word of each byte.
    words: [u32; SYMBOLS],
    /// Symbols in the order of their code words.
    order: [u16; SYMBOLS],
    /// By length: first code word, number of code words, and their start in `order`.
    first: [u32; LENGTH_MAX + 1],
    count: [u32; LENGTH_MAX + 1],
    start: [u16; LENGTH_MAX + 1],
    /// By the next bits: the byte whose code word they begin with and its length; 0 for a longer code word.
    short: [(u8, u8); 1 << SHORT],
}

impl HuffmanTables {
    #[expect(
        clippy::indexing_slicing,
        clippy::cast_possible_truncation,
        reason = "run by the compiler, which looks at both"
    )]
    const fn new() -> Self {
        let mut tables = Self {
            words: [0; SYMBOLS],
            order: [0; SYMBOLS],
            first: [0; LENGTH_MAX + 1],
            count: [0; LENGTH_MAX + 1],
            start: [0; LENGTH_MAX + 1],
            short: [(0, 0); 1 << SHORT],
        };
        let (mut word, mut length, mut place) = (0_u32, 1_usize, 0_usize);
        while length <= LENGTH_MAX {
            tables.first[length] = word;
            tables.start[length] = place as u16;
            let mut symbol = 0;
            while symbol < SYMBOLS {
                if LENGTHS[symbol] as usize == length {
                    tables.words[symbol] = word;
                    tables.order[place] = symbol as u16;
                    if length <= SHORT {
                        let mut bits = (word as usize) << (SHORT - length);
                        let end = (word as usize + 1) << (SHORT - length);
                        while bits < end {
                            tables.short[bits] = (symbol as u8, length as u8);
                            bits += 1;
                        }
                    }
                    place += 1;
                    word += 1;
                }
                symbol += 1;
            }
            tables.count[length] = word - tables.first[length];
            word <<= 1;
            length += 1;
        }
        tables
    }
}

/// Appends the decoded text of `coded`.
///
/// # Errors
/// An invalid code word, the end-of-string symbol, or padding that is not its prefix.
///
/// # Cost
/// At most eight bytes for five encoded ones.
pub(super) fn decode(out: &mut Vec<u8>, coded: &[u8]) -> Result<(), Unreadable> {
    // The next bits, left-aligned, and their number.
    let (mut next, mut held) = (0_u64, 0_u32);
    let mut coded = coded.iter();
    loop {
        while held <= 56
            && let Some(byte) = coded.next()
        {
            next |= u64::from(*byte) << (56 - held);
            held += 8;
        }
        let (byte, length) = match TABLES.short.get((next >> (64 - SHORT)) as usize) {
            Some((byte, length)) if *length > 0 => (*byte, u32::from(*length)),
            _ => match long(next) {
                Some((symbol, length)) if length <= held => {
                    // The end-of-string symbol is not part of a text.
                    (u8::try_from(symbol).map_err(|_| Unreadable)?, length)
                }
                _ => break,
            },
        };
        if length > held {
            break;
        }
        out.push(byte);
        next <<= length;
        held -= length;
    }
    // The padding is a prefix of the end-of-string symbol: less than a byte of ones.
    let filling = (1_u64 << held.min(8)) - 1;
    let is_filled = held < 8 && (held == 0 || next >> (64 - held) == filling);
    if is_filled { Ok(()) } else { Err(Unreadable) }
}

/// Looks up a longer code word at the front of the bits.
fn long(next: u64) -> Option<(u16, u32)> {
    (SHORT + 1..=LENGTH_MAX).find_map(|length| {
        let word = u32::try_from(next >> (64 - length)).ok()?;
        let place = word.checked_sub(*TABLES.first.get(length)?)?;
        if place >= *TABLES.count.get(length)? {
            return None;
        }
        let start = usize::from(*TABLES.start.get(length)?);
        let symbol = *TABLES.order.get(start + place as usize)?;
        debug_assert!(symbol <= END, "the end is the last");
        Some((symbol, u32::try_from(length).ok()?))
    })
}

/// Returns the length of the encoded text, bytes.
#[expect(clippy::indexing_slicing, reason = "the table has a place for every byte")]
pub(super) fn length(text: &[u8]) -> usize {
    let bits: usize = text.iter().map(|byte| usize::from(LENGTHS[usize::from(*byte)])).sum();
    bits.div_ceil(8)
}

/// Appends the encoded text.
#[expect(clippy::indexing_slicing, reason = "the tables have a place for every byte")]
pub(in super::super) fn encode(out: &mut Vec<u8>, text: &[u8]) {
    // Pending bits, right-aligned, and their number: fewer than 32 between two bytes.
    let (mut bits, mut held) = (0_u64, 0_u32);
    for byte in text {
        let symbol = usize::from(*byte);
        let (word, length) = (TABLES.words[symbol], LENGTHS[symbol]);
        bits = bits << length | u64::from(word);
        held += u32::from(length);
        if held >= 32 {
            held -= 32;
            let [.., first, second, third, fourth] = (bits >> held).to_be_bytes();
            out.extend_from_slice(&[first, second, third, fourth]);
        }
    }
    // The last byte is padded with ones.
    let filling = held.wrapping_neg() % 8;
    bits = bits << filling | ((1 << filling) - 1);
    held += filling;
    while held > 0 {
        held -= 8;
        let [.., low] = (bits >> held).to_be_bytes();
        out.push(low);
    }
}
