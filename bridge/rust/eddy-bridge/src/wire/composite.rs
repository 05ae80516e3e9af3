//! Encoding of `Option` and `Result`: a tag, then the words of each variant.

use eddy_bridge_shape::{shape_of_field, shape_of_name};

use super::traits::{BridgeRead, BridgeWrite, Wire};
use crate::message::{BridgeMessage, Malformed};
use crate::writer::MessageWriter;

impl<T: Wire> Wire for Option<T> {
    const WORDS: usize = 1 + T::WORDS;
    const SHAPE: u64 = shape_of_field(shape_of_name("option"), "", T::SHAPE);
}

impl<T: BridgeWrite> BridgeWrite for Option<T> {
    #[inline(always)]
    fn write(&self, writer: &mut MessageWriter<'_>, at: usize) {
        if let Some(value) = self {
            writer.set(at, 1);
            value.write(writer, at + 1);
        }
    }
}

impl<'m, T: BridgeRead<'m>> BridgeRead<'m> for Option<T> {
    #[inline]
    fn read(message: BridgeMessage<'m>, at: usize) -> Result<Self, Malformed> {
        if bool::read(message, at)? { T::read(message, at + 1).map(Some) } else { Ok(None) }
    }
}

impl<T: Wire, E: Wire> Wire for Result<T, E> {
    const WORDS: usize = 1 + T::WORDS + E::WORDS;
    const SHAPE: u64 = shape_of_field(shape_of_field(shape_of_name("result"), "", T::SHAPE), "", E::SHAPE);
}

impl<T: BridgeWrite, E: BridgeWrite> BridgeWrite for Result<T, E> {
    #[inline(always)]
    fn write(&self, writer: &mut MessageWriter<'_>, at: usize) {
        match self {
            Ok(value) => value.write(writer, at + 1),
            Err(error) => {
                writer.set(at, 1);
                error.write(writer, at + 1 + T::WORDS);
            }
        }
    }
}

impl<'m, T: BridgeRead<'m>, E: BridgeRead<'m>> BridgeRead<'m> for Result<T, E> {
    #[inline]
    fn read(message: BridgeMessage<'m>, at: usize) -> Result<Self, Malformed> {
        if bool::read(message, at)? {
            E::read(message, at + 1 + T::WORDS).map(Err)
        } else {
            T::read(message, at + 1).map(Ok)
        }
    }
}
