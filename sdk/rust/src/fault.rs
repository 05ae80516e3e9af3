//! Failure of a hook.

use std::error::Error;
use std::fmt;

/// Failure of a hook, with a text for eddy's log that is never shown to the client.
///
/// Every error converts to a fault with `?`.
#[derive(Clone, PartialEq, Eq)]
pub struct Fault {
    message: String,
}

impl Fault {
    /// Creates a fault with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// Returns the message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl<E: Error> From<E> for Fault {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message.push_str(": ");
            message.push_str(&cause.to_string());
            source = cause.source();
        }
        Self { message }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fault({:?})", self.message)
    }
}
