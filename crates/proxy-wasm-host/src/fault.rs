//! Failures of calls into a module.

use std::fmt;
use std::sync::Arc;

use wasm_sandbox::{CallTermination, Refused, message_of};

use crate::abi::Callback;

/// Result of a call into a module: an error if the module fails, or failed before.
pub type ModuleResult<T = ()> = Result<T, ModuleFault>;

/// Failure of a call into a module. Unless the kind says otherwise, the [`Vm`](crate::Vm) can no longer be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleFault {
    kind: ModuleFaultKind,
    callback: Option<Callback>,
    message: Arc<str>,
}

/// Kind of a [`ModuleFault`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModuleFaultKind {
    /// The module performed an operation that WebAssembly forbids: `unreachable`, a memory access out of bounds, a
    /// division by zero and the like.
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
    /// A callback returned an invalid number.
    BadReturn(u32),
    /// The host failed in a way that leaves the module in an unknown state.
    Host,
    /// The VM failed earlier; nothing was called.
    Dead,
    /// The context does not belong to this VM; nothing was called and the VM stays usable.
    UnknownContext,
    /// The maximum number of contexts is reached; nothing was called and the VM stays usable.
    TooManyContexts,
    /// A plugin that is to end still has streams; nothing was called and the VM stays usable.
    HasStreams,
}

impl ModuleFault {
    pub(crate) fn new(
        kind: ModuleFaultKind,
        callback: Option<Callback>,
        message: impl Into<Arc<str>>,
    ) -> Self {
        Self { kind, callback, message: message.into() }
    }

    /// Classifies a wasmtime error.
    pub(crate) fn of_error(
        error: &wasmtime::Error,
        callback: Option<Callback>,
        refused: Option<Refused>,
    ) -> Self {
        let kind = match CallTermination::of(error, refused) {
            CallTermination::Trap => ModuleFaultKind::Trap,
            CallTermination::Deadline => ModuleFaultKind::Deadline,
            CallTermination::StackOverflow => ModuleFaultKind::StackOverflow,
            CallTermination::Memory => ModuleFaultKind::Memory,
            CallTermination::NoMemory => ModuleFaultKind::NoMemory,
            CallTermination::Exit(code) => ModuleFaultKind::Exit(code),
            CallTermination::Host => ModuleFaultKind::Host,
        };
        Self::new(kind, callback, message_of(error))
    }

    /// Returns the kind of the fault.
    pub fn kind(&self) -> ModuleFaultKind {
        self.kind
    }

    /// Returns the callback that failed; `None` while the module started.
    pub fn callback(&self) -> Option<Callback> {
        self.callback
    }

    /// Returns the root cause and, if wasmtime has a backtrace, the functions on the stack, innermost first.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether the VM can no longer be used.
    pub fn is_fatal(&self) -> bool {
        !matches!(
            self.kind,
            ModuleFaultKind::UnknownContext | ModuleFaultKind::TooManyContexts | ModuleFaultKind::HasStreams
        )
    }
}

impl fmt::Display for ModuleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.callback {
            Some(callback) => write!(f, "the module failed in {}: {}", callback.name(), self.message),
            None => write!(f, "the module failed to start: {}", self.message),
        }
    }
}

impl std::error::Error for ModuleFault {}
