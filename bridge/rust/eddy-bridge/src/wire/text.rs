//! Strings and slices.

use std::str;

use eddy_bridge_shape::{shape_of_field, shape_of_name};

use super::scalar::Scalar;
use super::traits::{Read, Wire, Write};
use crate::message::{Malformed, Message};
use crate::writer::Writer;

impl Wire for str {
    const WORDS: usize = 2;
    const SHAPE: u64 = shape_of_name("str");
}

impl Write for str {
    #[inline]
    fn write(&self, writer: &mut Writer<'_>, at: usize) {
        writer.scalars(at, self.as_bytes());
    }
}

impl<'m> Read<'m> for &'m str {
    #[inline]
    fn read(message: Message<'m>, at: usize) -> Result<Self, Malformed> {
        str::from_utf8(message.scalars(at)?).map_err(|_| Malformed::UTF8)
    }
}

impl Wire for String {
    const WORDS: usize = 2;
    const SHAPE: u64 = str::SHAPE;
}

impl Write for String {
    #[inline]
    fn write(&self, writer: &mut Writer<'_>, at: usize) {
        self.as_str().write(writer, at);
    }
}

impl<'m> Read<'m> for String {
    #[inline]
    fn read(message: Message<'m>, at: usize) -> Result<Self, Malformed> {
        <&str>::read(message, at).map(str::to_owned)
    }
}

impl<T: Wire> Wire for [T] {
    const WORDS: usize = 2;
    const SHAPE: u64 = shape_of_field(shape_of_name("list"), "", T::SHAPE);
}

impl<T: Write> Write for [T] {
    #[inline]
    fn write(&self, writer: &mut Writer<'_>, at: usize) {
        T::write_list(self, writer, at);
    }
}

impl<'m, T: Scalar> Read<'m> for &'m [T] {
    #[inline]
    fn read(message: Message<'m>, at: usize) -> Result<Self, Malformed> {
        message.scalars(at)
    }
}

impl<T: Wire> Wire for Vec<T> {
    const WORDS: usize = 2;
    const SHAPE: u64 = <[T]>::SHAPE;
}

impl<T: Write> Write for Vec<T> {
    #[inline]
    fn write(&self, writer: &mut Writer<'_>, at: usize) {
        T::write_list(self, writer, at);
    }
}

impl<'m, T: Read<'m>> Read<'m> for Vec<T> {
    #[inline]
    fn read(message: Message<'m>, at: usize) -> Result<Self, Malformed> {
        T::read_list(message, at)
    }
}

impl<T: Wire + ?Sized> Wire for &T {
    const WORDS: usize = T::WORDS;
    const SHAPE: u64 = T::SHAPE;
}

impl<T: Write + ?Sized> Write for &T {
    #[inline]
    fn write(&self, writer: &mut Writer<'_>, at: usize) {
        (**self).write(writer, at);
    }
}
