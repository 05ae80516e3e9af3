//! Why a call failed, apart from what its callee says itself.

use std::any::Any;
use std::fmt;

use crate::message::Malformed;

/// Why a call failed: not what the callee answered, but that there was no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BridgeError {
    /// What kind of failure.
    pub kind: BridgeErrorKind,
    /// What the other side says of it.
    pub text: String,
}

/// What kind of failure a [`Fault`] is; the numbers are those of the status in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum BridgeErrorKind {
    /// The callee panicked; the text is the panic's.
    Panic = 1,
    /// A message is not what the declaration says.
    Malformed = 2,
    /// Nobody serves the call.
    Unknown = 3,
    /// The call was given up.
    Cancelled = 4,
    /// More calls are under way than may be.
    Overloaded = 5,
    /// The other side is gone.
    Closed = 6,
    /// The time for the call is over.
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
    /// A fault of a kind, with a text.
    pub fn new(kind: BridgeErrorKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// The fault that a status other than 0 and the message with it tell of.
    pub(crate) fn told(status: u32, words: &[u64]) -> Self {
        let text = crate::BridgeMessage::flat(words).read::<String>();
        Self { kind: BridgeErrorKind::of(status), text: text.unwrap_or_else(|wrong| wrong.to_string()) }
    }

    /// The fault that a caught panic is.
    pub(crate) fn caught(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Self::new(BridgeErrorKind::Panic, text.unwrap_or_else(|| "a panic without a text".to_owned()))
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
            BridgeErrorKind::Malformed => "the message is wrong",
            BridgeErrorKind::Unknown => "nobody serves the call",
            BridgeErrorKind::Cancelled => "the call was given up",
            BridgeErrorKind::Overloaded => "too many calls are under way",
            BridgeErrorKind::Closed => "the other side is gone",
            BridgeErrorKind::Deadline => "the time for the call is over",
        };
        write!(f, "{what}: {}", self.text)
    }
}

impl std::error::Error for BridgeError {}

/// Why a call of a method that can itself fail has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MethodError<E> {
    /// The callee said so.
    Said(E),
    /// There was no answer.
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
