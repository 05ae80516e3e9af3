//! How a module fails.

use std::fmt;
use std::sync::Arc;

use wasm_sandbox::{CallTermination, Refused, message_of};

use crate::abi::Callback;

/// Why a call into a module did not come back as it should. Unless the kind says otherwise the [`Vm`](crate::Vm) is dead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleFault {
    kind: ModuleFaultKind,
    callback: Option<Callback>,
    message: Arc<str>,
}

/// The kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModuleFaultKind {
    /// It did what the machine forbids: `unreachable`, an address beyond its memory, a division by zero and the like.
    Trap,
    /// It ran longer than a call may.
    Deadline,
    /// It called itself deeper than the stack allows.
    StackOverflow,
    /// It ended after it was refused memory or table elements beyond its limit.
    Memory,
    /// It ended after it was refused memory or table elements within its limit: its own maximum is lower, or the system had
    /// none.
    NoMemory,
    /// It ended itself with this code.
    Exit(u32),
    /// It answered a callback with a number that means nothing.
    BadReturn(u32),
    /// The host failed in a way that leaves the module in an unknown state.
    Host,
    /// It had failed before; nothing was called.
    Dead,
    /// The context is none of this machine's; nothing was called and the machine lives.
    UnknownContext,
    /// There are as many contexts as there may be; nothing was called and the machine lives.
    TooManyContexts,
    /// A plugin that is to end still has streams; nothing was called and the machine lives.
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

    /// What the machine's error means.
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

    /// Which kind it is.
    pub fn kind(&self) -> ModuleFaultKind {
        self.kind
    }

    /// The callback in which it happened; none while the module started.
    pub fn callback(&self) -> Option<Callback> {
        self.callback
    }

    /// What happened and, where the machine knows, which functions were being called, the innermost first.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether the machine can no longer be used.
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
            None => write!(f, "the module failed while it started: {}", self.message),
        }
    }
}

impl std::error::Error for ModuleFault {}
