//! Encoding of numbers, and of lists of them with their layout in memory.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    reason = "a word has room for every number, and its reader knows how wide it was"
)]

use super::traits::{BridgeRead, BridgeWrite, Wire};
use crate::message::{BridgeMessage, Malformed};
use crate::writer::MessageWriter;

/// A number type, whose lists are sent with their layout in memory.
///
/// # Safety
///
/// Every bit pattern is a value, there is no padding, and the alignment is at most 8.
pub unsafe trait Scalar: Copy + BridgeWrite {}

macro_rules! scalar {
    ($($type:ident: $to:expr, $from:expr;)*) => {$(
        impl Wire for $type {
            const WORDS: usize = 1;
            const SHAPE: u64 = eddy_bridge_shape::shape_of_name(stringify!($type));
        }

        impl BridgeWrite for $type {
            #[inline(always)]
            fn write(&self, writer: &mut MessageWriter<'_>, at: usize) {
                let to: fn($type) -> u64 = $to;
                writer.set(at, to(*self));
            }

            #[inline(always)]
            fn write_list(list: &[Self], writer: &mut MessageWriter<'_>, at: usize) {
                writer.scalars(at, list);
            }
        }

        impl<'m> BridgeRead<'m> for $type {
            #[inline]
            fn read(message: BridgeMessage<'m>, at: usize) -> Result<Self, Malformed> {
                let from: fn(u64) -> $type = $from;
                message.word(at).map(from)
            }

            #[inline]
            fn read_list(message: BridgeMessage<'m>, at: usize) -> Result<Vec<Self>, Malformed> {
                message.scalars(at).map(<[Self]>::to_vec)
            }
        }

        // SAFETY: a primitive number: all bit patterns are valid, no padding, at most 8 bytes.
        unsafe impl Scalar for $type {}
    )*};
}

scalar! {
    u8: u64::from, |word| word as u8;
    u16: u64::from, |word| word as u16;
    u32: u64::from, |word| word as u32;
    u64: |number| number, |word| word;
    i8: |number| number as u64, |word| word as i8;
    i16: |number| number as u64, |word| word as i16;
    i32: |number| number as u64, |word| word as i32;
    i64: |number| number as u64, |word| word as i64;
    f32: |number| u64::from(number.to_bits()), |word| f32::from_bits(word as u32);
    f64: f64::to_bits, f64::from_bits;
}

impl Wire for bool {
    const WORDS: usize = 1;
    const SHAPE: u64 = eddy_bridge_shape::shape_of_name("bool");
}

impl BridgeWrite for bool {
    #[inline(always)]
    fn write(&self, writer: &mut MessageWriter<'_>, at: usize) {
        writer.set(at, u64::from(*self));
    }
}

impl<'m> BridgeRead<'m> for bool {
    #[inline]
    fn read(message: BridgeMessage<'m>, at: usize) -> Result<Self, Malformed> {
        match message.word(at)? as u8 {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed::TAG),
        }
    }
}
