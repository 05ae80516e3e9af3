//! Methods of Rust that Go calls.

use std::future::Future;
use std::sync::Arc;

use crate::message::{BridgeMessage, Malformed};
use crate::wire::BridgeWrite;
use crate::writer::MessageWriter;

/// A method of implementations of type `S`. Generated code implements this.
pub trait ServiceMethod<S> {
    /// Reads the arguments, calls the implementation and writes its answer.
    ///
    /// # Errors
    ///
    /// The request is not what the declaration says.
    fn answer(
        implementation: &S,
        request: BridgeMessage<'_>,
        reply: &mut MessageWriter<'_>,
    ) -> Result<(), Malformed>;
}

/// A method whose answer comes later. Generated code implements this.
pub trait AsyncMethod<S> {
    /// Reads the arguments, calls the implementation and gives its answer as a flat message.
    ///
    /// # Errors
    ///
    /// The request is not what the declaration says.
    fn answer(
        implementation: Arc<S>,
        request: Vec<u64>,
    ) -> impl Future<Output = Result<Vec<u64>, Malformed>> + Send;
}

/// A value as a flat message.
pub fn reply<T: BridgeWrite + ?Sized>(value: &T) -> Vec<u64> {
    let mut room = [0; 64];
    let mut writer = MessageWriter::flat(&mut room);
    writer.write(value);
    writer.into_words()
}
