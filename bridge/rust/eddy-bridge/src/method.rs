//! Rust methods that Go calls.

use std::future::Future;
use std::sync::Arc;

use crate::message::{BridgeMessage, Malformed};
use crate::wire::BridgeWrite;
use crate::writer::MessageWriter;

/// A blocking method of implementations of type `S`. Implemented by generated code.
pub trait ServiceMethod<S> {
    /// Reads the arguments, calls the implementation and writes its result.
    ///
    /// # Errors
    ///
    /// The request does not match the declaration.
    fn answer(
        implementation: &S,
        request: BridgeMessage<'_>,
        reply: &mut MessageWriter<'_>,
    ) -> Result<(), Malformed>;
}

/// An asynchronous method. Implemented by generated code.
pub trait AsyncMethod<S> {
    /// Reads the arguments, calls the implementation and returns its result as a flat message.
    ///
    /// # Errors
    ///
    /// The request does not match the declaration.
    fn answer(
        implementation: Arc<S>,
        request: Vec<u64>,
    ) -> impl Future<Output = Result<Vec<u64>, Malformed>> + Send;
}

/// Encodes a value as a flat message.
pub fn reply<T: BridgeWrite + ?Sized>(value: &T) -> Vec<u64> {
    let mut room = [0; 64];
    let mut writer = MessageWriter::flat(&mut room);
    writer.write(value);
    writer.into_words()
}
