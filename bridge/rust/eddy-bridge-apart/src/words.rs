//! Conversion between words, the unit of bridge messages, and bytes, the unit of ring messages.

/// Appends words to bytes.
pub(crate) fn append(bytes: &mut Vec<u8>, words: &[u64]) {
    bytes.reserve(size_of_val(words));
    words.iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
}

/// Splits bytes into words; `None` if the length is not a multiple of 8.
pub(crate) fn of(bytes: &[u8]) -> Option<Vec<u64>> {
    let (words, rest) = bytes.as_chunks();
    rest.is_empty().then(|| words.iter().map(|word| u64::from_ne_bytes(*word)).collect())
}

/// Splits a word into its halves.
pub(crate) fn halves(word: u64) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = word.to_ne_bytes();
    (u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h]))
}

/// Joins two halves to a word.
pub(crate) fn join(first: u32, second: u32) -> u64 {
    let ([a, b, c, d], [e, f, g, h]) = (first.to_ne_bytes(), second.to_ne_bytes());
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}
