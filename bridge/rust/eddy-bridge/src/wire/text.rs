//! Encoding of strings and slices.

use std::str;

use eddy_bridge_shape::{shape_of_field, shape_of_name};

use super::scalar::Scalar;
use super::traits::{BridgeRead, BridgeWrite, Wire};
use crate::message::{BridgeMessage, Malformed};
use crate::writer::MessageWriter;

impl Wire for str {
    const WORDS: usize = 2;
    const SHAPE: u64 = shape_of_name("str");
}

impl BridgeWrite for str {
    #[inline(always)]
    fn write(&self, writer: &mut MessageWriter<'_>, at: usize) {
        writer.scalars(at, self.as_bytes());
    }
}

impl<'m> BridgeRead<'m> for &'m str {
    #[inline(always)]
    fn read(message: BridgeMessage<'m>, at: usize) -> Result<Self, Malformed> {
        let bytes = message.scalars(at)?;
        if is_ascii(bytes) {
            // SAFETY: ASCII is UTF-8.
            return Ok(unsafe { str::from_utf8_unchecked(bytes) });
        }
        utf8(bytes)
    }
}

impl Wire for String {
    const WORDS: usize = 2;
    const SHAPE: u64 = str::SHAPE;
}

impl BridgeWrite for String {
    #[inline(always)]
    fn write(&self, writer: &mut MessageWriter<'_>, at: usize) {
        self.as_str().write(writer, at);
    }
}

impl<'m> BridgeRead<'m> for String {
    #[inline]
    fn read(message: BridgeMessage<'m>, at: usize) -> Result<Self, Malformed> {
        <&str>::read(message, at).map(str::to_owned)
    }
}

impl<T: Wire> Wire for [T] {
    const WORDS: usize = 2;
    const SHAPE: u64 = shape_of_field(shape_of_name("list"), "", T::SHAPE);
}

impl<T: BridgeWrite> BridgeWrite for [T] {
    #[inline(always)]
    fn write(&self, writer: &mut MessageWriter<'_>, at: usize) {
        T::write_list(self, writer, at);
    }
}

impl<'m, T: Scalar> BridgeRead<'m> for &'m [T] {
    #[inline]
    fn read(message: BridgeMessage<'m>, at: usize) -> Result<Self, Malformed> {
        message.scalars(at)
    }
}

impl<T: Wire> Wire for Vec<T> {
    const WORDS: usize = 2;
    const SHAPE: u64 = <[T]>::SHAPE;
}

impl<T: BridgeWrite> BridgeWrite for Vec<T> {
    #[inline(always)]
    fn write(&self, writer: &mut MessageWriter<'_>, at: usize) {
        T::write_list(self, writer, at);
    }
}

impl<'m, T: BridgeRead<'m>> BridgeRead<'m> for Vec<T> {
    #[inline]
    fn read(message: BridgeMessage<'m>, at: usize) -> Result<Self, Malformed> {
        T::read_list(message, at)
    }
}

impl<T: Wire + ?Sized> Wire for &T {
    const WORDS: usize = T::WORDS;
    const SHAPE: u64 = T::SHAPE;
}

impl<T: BridgeWrite + ?Sized> BridgeWrite for &T {
    #[inline(always)]
    fn write(&self, writer: &mut MessageWriter<'_>, at: usize) {
        (**self).write(writer, at);
    }
}

/// Checks a string that is not ASCII.
fn utf8(bytes: &[u8]) -> Result<&str, Malformed> {
    str::from_utf8(bytes).map_err(|_| Malformed::UTF8)
}

/// Whether all bytes are ASCII, optimized for short strings, which are most: `from_utf8` and `<[u8]>::is_ascii` check
/// up to seven bytes one by one, where two overlapping words suffice.
#[inline]
fn is_ascii(bytes: &[u8]) -> bool {
    if bytes.len() > 32 {
        return bytes.is_ascii();
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let all = u128::from_ne_bytes(*first) | u128::from_ne_bytes(*last);
        return all & HIGH == 0;
    }
    let all = match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => u64::from_ne_bytes(*first) | u64::from_ne_bytes(*last),
        _ => match (bytes.first_chunk(), bytes.last_chunk()) {
            (Some(first), Some(last)) => u64::from(u32::from_ne_bytes(*first) | u32::from_ne_bytes(*last)),
            _ => u64::from(bytes.iter().fold(0, |all, byte| all | byte)),
        },
    };
    u128::from(all) & HIGH == 0
}

/// The bits that are zero in every ASCII byte.
const HIGH: u128 = u128::from_ne_bytes([0x80; 16]);

#[cfg(test)]
mod tests {
    use super::*;

    /// Every length at which another branch is taken, with one non-ASCII byte at every position.
    #[test]
    fn ascii_text_is_recognised() {
        for length in 0..80 {
            let mut bytes = vec![b'~'; length];
            assert!(is_ascii(&bytes), "{length}");
            for place in 0..length {
                bytes[place] = 0x80;
                assert!(!is_ascii(&bytes), "{length} {place}");
                bytes[place] = b'~';
            }
        }
    }
}
