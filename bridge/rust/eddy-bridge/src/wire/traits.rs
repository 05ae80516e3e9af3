//! What a type needs for its values to be sent.

use crate::message::{BridgeMessage, Malformed};
use crate::writer::MessageWriter;

/// A type whose values fit into messages.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't cross the bridge",
    label = "not a type of the bridge",
    note = "numbers, bool, strings, byte slices, Vec, maps, Option, Result and structs with #[derive(eddy_bridge::Record)] can"
)]
pub trait Wire {
    /// How many words of a record it takes.
    const WORDS: usize;
    /// What the other side must think it is, too: equal where the layout is.
    const SHAPE: u64;
}

/// A type whose values can be put into messages.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't cross the bridge",
    label = "not a type of the bridge"
)]
pub trait BridgeWrite: Wire {
    /// Sets the words from `at` on, which are there and 0, and appends what doesn't fit into them.
    fn write(&self, writer: &mut MessageWriter<'_>, at: usize);

    /// Puts a list into the message whose place and length are at `at`.
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

/// A type whose values can be taken out of a message that lives for `'m`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't cross the bridge",
    label = "not a type of the bridge"
)]
pub trait BridgeRead<'m>: Wire + Sized {
    /// Reads the words from `at` on.
    ///
    /// # Errors
    ///
    /// There is no value of this type.
    fn read(message: BridgeMessage<'m>, at: usize) -> Result<Self, Malformed>;

    /// Reads the list whose place and length are at `at`.
    ///
    /// # Errors
    ///
    /// There is no list of this type.
    fn read_list(message: BridgeMessage<'m>, at: usize) -> Result<Vec<Self>, Malformed> {
        let (message, first, length) = message.records(at, Self::WORDS)?;
        let mut list = Vec::with_capacity(length);
        for index in 0..length {
            list.push(Self::read(message, first + index * Self::WORDS)?);
        }
        Ok(list)
    }
}
