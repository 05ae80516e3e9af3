//! Hash of a declaration, so that two sides with different declarations do not misread each other's messages.
//!
//! The runtime computes it from types at compile time, the generator from the text of a declaration.

#![forbid(unsafe_code)]

/// Returns the shape of a type that has only a name.
pub const fn shape_of_name(name: &str) -> u64 {
    fold_name(OFFSET, name)
}

/// Returns the shape so far, extended by a field or part.
pub const fn shape_of_field(before: u64, name: &str, shape: u64) -> u64 {
    fold(fold_name(before, name), shape)
}

/// Returns the shape of a service so far, extended by a method.
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
    // Terminates a name, so that "ab" and "c" differ from "a" and "bc".
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

/// One step of FNV-1a.
const fn fold_byte(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3)
}

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
