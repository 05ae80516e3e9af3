//! A number for what a declaration says, so that two sides with different ones don't talk past each other.
//!
//! The runtime computes it of types while it is compiled, the generator of the text of a declaration.

#![forbid(unsafe_code)]

/// The shape of something that has only a name.
pub const fn shape_of_name(name: &str) -> u64 {
    fold_name(OFFSET, name)
}

/// The shape of what comes before, and a field or part after it.
pub const fn shape_of_field(before: u64, name: &str, shape: u64) -> u64 {
    fold(fold_name(before, name), shape)
}

/// The shape of a service so far, and a method after it.
pub const fn shape_of_method(before: u64, name: &str, arguments: u64, answer: u64) -> u64 {
    fold(shape_of_field(before, name, arguments), answer)
}

const fn fold_name(mut hash: u64, name: &str) -> u64 {
    let bytes = name.as_bytes();
    let mut index = 0;
    while index < bytes.len() {
        hash = fold_byte(hash, bytes[index]);
        index += 1;
    }
    // The end of a name, so that "ab" and "c" are not "a" and "bc".
    fold_byte(hash, 0)
}

const fn fold(mut hash: u64, shape: u64) -> u64 {
    let bytes = shape.to_le_bytes();
    let mut index = 0;
    while index < bytes.len() {
        hash = fold_byte(hash, bytes[index]);
        index += 1;
    }
    hash
}

/// FNV-1a.
const fn fold_byte(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3)
}

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
