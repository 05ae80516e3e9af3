//! Messages of the bridge are words, those of a ring are bytes.

/// Appends words to bytes.
pub(crate) fn append(bytes: &mut Vec<u8>, words: &[u64]) {
    bytes.reserve(size_of_val(words));
    words.iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
}

/// The words that bytes are; nothing when they are not whole words.
pub(crate) fn of(bytes: &[u8]) -> Option<Vec<u64>> {
    let (words, rest) = bytes.as_chunks();
    rest.is_empty().then(|| words.iter().map(|word| u64::from_ne_bytes(*word)).collect())
}

/// Two halves of a word.
pub(crate) fn halves(word: u64) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = word.to_ne_bytes();
    (u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h]))
}

/// A word of two halves.
pub(crate) fn join(first: u32, second: u32) -> u64 {
    let ([a, b, c, d], [e, f, g, h]) = (first.to_ne_bytes(), second.to_ne_bytes());
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}
