//! Traits of types whose values can be sent.

use crate::message::{BridgeMessage, Malformed};
use crate::writer::MessageWriter;

/// A type whose values have an encoding.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't cross the bridge",
    label = "not a type of the bridge",
    note = "numbers, bool, strings, byte slices, Vec, maps, Option, Result and structs with #[derive(eddy_bridge::Record)] can"
)]
pub trait Wire {
    /// Number of words in a record.
    const WORDS: usize;
    /// Hash of the layout; both sides must have the same, and equal layouts have equal shapes.
    const SHAPE: u64;
}

/// A type whose values can be written to messages.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't cross the bridge",
    label = "not a type of the bridge"
)]
pub trait BridgeWrite: Wire {
    /// Sets the words from `at` on, which are reserved and 0, and appends data that does not fit into them.
    fn write(&self, writer: &mut MessageWriter<'_>, at: usize);

    /// Writes a list whose offset and length are at `at`.
    fn write_list(list: &[Self], writer: &mut MessageWriter<'_>, at: usize)
    where
        Self: Sized,
    {
        let first = writer.records(at, list.len(), Self::WORDS);
        for (index, value) in list.iter().enumerate() {
            value.write(writer, first + index * Self::WORDS);
        }
    }
}

/// A type whose values can be read from a message that lives for `'m`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't cross the bridge",
    label = "not a type of the bridge"
)]
pub trait BridgeRead<'m>: Wire + Sized {
    /// Reads the words from `at` on.
    ///
    /// # Errors
    ///
    /// The words are not a value of this type.
    fn read(message: BridgeMessage<'m>, at: usize) -> Result<Self, Malformed>;

    /// Reads the list whose offset and length are at `at`.
    ///
    /// # Errors
    ///
    /// The words are not a list of this type.
    fn read_list(message: BridgeMessage<'m>, at: usize) -> Result<Vec<Self>, Malformed> {
        let (message, first, length) = message.records(at, Self::WORDS)?;
        let mut list = Vec::with_capacity(length);
        for index in 0..length {
            list.push(Self::read(message, first + index * Self::WORDS)?);
        }
        Ok(list)
    }
}
