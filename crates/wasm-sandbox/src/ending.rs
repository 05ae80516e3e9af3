//! How a call ended that did not return.

use thiserror::Error;
use wasmtime::{Trap, WasmBacktrace};

use crate::store::Refused;

/// How a call ended that did not return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallTermination {
    /// The module did what the machine forbids: `unreachable`, an address beyond its memory, a division by zero and the
    /// like; or it called what is [`Missing`].
    Trap,
    /// It ran longer than a call may.
    Deadline,
    /// It called itself deeper than the stack allows.
    StackOverflow,
    /// It ended after it was refused memory or table elements beyond its limit.
    Memory,
    /// It ended after it was refused memory or table elements within its limit: its own maximum is lower, or the system
    /// had none.
    NoMemory,
    /// It ended itself with this code.
    Exit(u32),
    /// A function of the host failed.
    Host,
}

impl CallTermination {
    /// What the machine's error means, of a call in which memory was or was not refused.
    pub fn of(error: &wasmtime::Error, refused: Option<Refused>) -> Self {
        let of_memory = refused.map(|refused| match refused {
            Refused::Limit => Self::Memory,
            Refused::Elsewhere => Self::NoMemory,
        });
        match (error.downcast_ref::<Exit>(), error.downcast_ref::<Trap>()) {
            // What a runtime does when it gets no memory differs: some end themselves, some trap.
            (Some(exit), _) => of_memory.unwrap_or(Self::Exit(exit.0)),
            (None, Some(Trap::Interrupt)) => Self::Deadline,
            (None, Some(Trap::StackOverflow)) => Self::StackOverflow,
            (None, Some(_)) => of_memory.unwrap_or(Self::Trap),
            (None, None) if error.is::<Missing>() => Self::Trap,
            (None, None) => Self::Host,
        }
    }
}

/// The module ended itself.
#[derive(Debug, Clone, Copy, Error)]
#[error("the module ended itself with code {0}")]
pub struct Exit(pub u32);

/// The module called what there is not, by its module and name.
#[derive(Debug, Clone, Error)]
#[error("the module called `{0}`, which this host does not have")]
pub struct Missing(pub String);

/// What happened.
pub fn cause_of(error: &wasmtime::Error) -> String {
    error.root_cause().to_string()
}

/// What happened and, where the machine knows, which functions were being called, the innermost first.
pub fn message_of(error: &wasmtime::Error) -> String {
    let mut message = cause_of(error);
    let Some(backtrace) = error.downcast_ref::<WasmBacktrace>() else { return message };
    for frame in backtrace.frames().iter().take(FRAMES_MAX) {
        message.push_str("; in ");
        match frame.func_name() {
            Some(name) => message.extend(name.chars().take(NAME_CHARS_MAX)),
            None => message.push_str(&format!("function {}", frame.func_index())),
        }
        if let Some(symbol) = frame.symbols().first()
            && let (Some(file), Some(line)) = (symbol.file(), symbol.line())
        {
            message.push_str(&format!(" at {file}:{line}"));
        }
    }
    message
}

const FRAMES_MAX: usize = 16;
const NAME_CHARS_MAX: usize = 200;
