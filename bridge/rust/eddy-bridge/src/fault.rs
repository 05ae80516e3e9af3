//! Errors of the bridge itself, as opposed to errors returned by the callee.

use std::any::Any;
use std::fmt;

use crate::message::Malformed;

/// Failure of a call: not an error that the callee returned, but the absence of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BridgeError {
    /// Kind of failure.
    pub kind: BridgeErrorKind,
    /// Error text of the other side.
    pub text: String,
}

/// Kind of a [`BridgeError`]; the numbers are those of the status in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum BridgeErrorKind {
    /// The callee panicked; the text is that of the panic.
    Panic = 1,
    /// A message does not match the declaration.
    Malformed = 2,
    /// No service has this method.
    Unknown = 3,
    /// The call was cancelled.
    Cancelled = 4,
    /// The limit of concurrent calls is exceeded.
    Overloaded = 5,
    /// The other side is gone.
    Closed = 6,
    /// The deadline has passed.
    Deadline = 7,
}

impl BridgeErrorKind {
    fn of(status: u32) -> Self {
        match status {
            1 => Self::Panic,
            3 => Self::Unknown,
            4 => Self::Cancelled,
            5 => Self::Overloaded,
            6 => Self::Closed,
            7 => Self::Deadline,
            _ => Self::Malformed,
        }
    }
}

impl BridgeError {
    /// Creates an error of a kind, with a text.
    pub fn new(kind: BridgeErrorKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// Returns the error of a status other than 0, with its message.
    pub(crate) fn told(status: u32, words: &[u64]) -> Self {
        let text = crate::BridgeMessage::flat(words).read::<String>();
        Self { kind: BridgeErrorKind::of(status), text: text.unwrap_or_else(|wrong| wrong.to_string()) }
    }

    /// Returns the error of a caught panic.
    pub(crate) fn caught(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Self::new(BridgeErrorKind::Panic, text.unwrap_or_else(|| "a panic without a message".to_owned()))
    }
}

impl From<Malformed> for BridgeError {
    fn from(wrong: Malformed) -> Self {
        Self::new(BridgeErrorKind::Malformed, wrong.to_string())
    }
}

impl fmt::Display for BridgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            BridgeErrorKind::Panic => "the callee panicked",
            BridgeErrorKind::Malformed => "the message is invalid",
            BridgeErrorKind::Unknown => "no service has this method",
            BridgeErrorKind::Cancelled => "the call was cancelled",
            BridgeErrorKind::Overloaded => "too many calls are in progress",
            BridgeErrorKind::Closed => "the other side has closed",
            BridgeErrorKind::Deadline => "the deadline of the call has passed",
        };
        write!(f, "{what}: {}", self.text)
    }
}

impl std::error::Error for BridgeError {}

/// Error of a call of a method that can itself fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MethodError<E> {
    /// The callee returned an error.
    Said(E),
    /// There was no result.
    Fault(BridgeError),
}

impl<E> From<BridgeError> for MethodError<E> {
    fn from(fault: BridgeError) -> Self {
        Self::Fault(fault)
    }
}

impl<E: fmt::Display> fmt::Display for MethodError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Said(said) => said.fmt(f),
            Self::Fault(fault) => fault.fmt(f),
        }
    }
}

impl<E: fmt::Display + fmt::Debug> std::error::Error for MethodError<E> {}
