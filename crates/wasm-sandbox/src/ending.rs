//! Classification of calls into a module that did not return.

use thiserror::Error;
use wasmtime::{Trap, WasmBacktrace};

use crate::store::Refused;

/// Reason why a call into a module did not return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallTermination {
    /// The module performed an operation that WebAssembly forbids: `unreachable`, a memory access out of bounds, a
    /// division by zero and the like; or it called a [`Missing`] function.
    Trap,
    /// The call exceeded its time limit.
    Deadline,
    /// The call stack overflowed, by too deep recursion.
    StackOverflow,
    /// The module ended after it was refused memory or table elements beyond its limit.
    Memory,
    /// The module ended after it was refused memory or table elements within its limit: its own maximum is lower, or
    /// the system had none.
    NoMemory,
    /// The module exited with this code.
    Exit(u32),
    /// A host function failed.
    Host,
}

impl CallTermination {
    /// Classifies a wasmtime error of a call in which memory was or was not refused.
    pub fn of(error: &wasmtime::Error, refused: Option<Refused>) -> Self {
        let of_memory = refused.map(|refused| match refused {
            Refused::Limit => Self::Memory,
            Refused::OutsideLimit => Self::NoMemory,
        });
        match (error.downcast_ref::<Exit>(), error.downcast_ref::<Trap>()) {
            // Language runtimes react differently to failed allocations: some exit, some trap.
            (Some(exit), _) => of_memory.unwrap_or(Self::Exit(exit.0)),
            (None, Some(Trap::Interrupt)) => Self::Deadline,
            (None, Some(Trap::StackOverflow)) => Self::StackOverflow,
            (None, Some(_)) => of_memory.unwrap_or(Self::Trap),
            (None, None) if error.is::<Missing>() => Self::Trap,
            (None, None) => Self::Host,
        }
    }
}

/// Error of a call in which the module exited (`proc_exit`).
#[derive(Debug, Clone, Copy, Error)]
#[error("the module exited with code {0}")]
pub struct Exit(pub u32);

/// Error of a call to a function that the host does not have; holds its module and name.
#[derive(Debug, Clone, Error)]
#[error("the module called `{0}`, which this host does not provide")]
pub struct Missing(pub String);

/// Returns the root cause of an error as text.
pub fn cause_of(error: &wasmtime::Error) -> String {
    error.root_cause().to_string()
}

/// Returns the root cause and, if wasmtime has a backtrace, the functions on the stack, innermost first.
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
