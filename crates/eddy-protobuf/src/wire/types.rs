//! Wire types, and limits of a field.

/// The six wire types.
pub(crate) const VARINT: u8 = 0;
pub(crate) const FIXED64: u8 = 1;
pub(crate) const LENGTH: u8 = 2;
pub(crate) const GROUP_START: u8 = 3;
pub(crate) const GROUP_END: u8 = 4;
pub(crate) const FIXED32: u8 = 5;

/// Maximum field number.
pub(crate) const NUMBER_MAX: u32 = (1 << 29) - 1;

/// Maximum length of a value: the maximum of an `int32`, as in the reference implementations.
pub(crate) const LENGTH_MAX: u64 = i32::MAX as u64;

/// Bytes that suffice to read a tag and what follows it, each a varint.
pub(crate) const HEADER_BYTES_MAX: usize = 20;
