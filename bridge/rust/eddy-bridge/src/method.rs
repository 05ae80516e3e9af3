//! Methods of Rust that Go calls.

use std::future::Future;
use std::sync::Arc;

use crate::message::{Malformed, Message};
use crate::wire::Write;
use crate::writer::Writer;

/// A method of implementations of type `S`. Generated code implements this.
pub trait Method<S> {
    /// Reads the arguments, calls the implementation and writes its answer.
    ///
    /// # Errors
    ///
    /// The request is not what the declaration says.
    fn answer(implementation: &S, request: Message<'_>, reply: &mut Writer<'_>) -> Result<(), Malformed>;
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
pub fn reply<T: Write + ?Sized>(value: &T) -> Vec<u64> {
    let mut room = [0; 64];
    let mut writer = Writer::flat(&mut room);
    writer.write(value);
    writer.into_words()
}
