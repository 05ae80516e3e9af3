//! How a module fails.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;
use wasmtime::{Trap, WasmBacktrace};

use crate::abi::Callback;

/// Why a call into a module did not come back as it should. Unless the kind says otherwise the [`Vm`](crate::Vm) is dead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    kind: FaultKind,
    callback: Option<Callback>,
    message: Arc<str>,
}

/// The kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// It did what the machine forbids: `unreachable`, an address beyond its memory, a division by zero and the like.
    Trap,
    /// It ran longer than a call may.
    Deadline,
    /// It called itself deeper than the stack allows.
    StackOverflow,
    /// It ended after it was refused memory or table elements beyond its limit.
    Memory,
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

impl Fault {
    pub(crate) fn new(kind: FaultKind, callback: Option<Callback>, message: impl Into<Arc<str>>) -> Self {
        Self { kind, callback, message: message.into() }
    }

    /// What the machine's error means.
    pub(crate) fn of_error(
        error: &wasmtime::Error,
        callback: Option<Callback>,
        was_refused_memory: bool,
    ) -> Self {
        let kind = match (error.downcast_ref::<Exit>(), error.downcast_ref::<Trap>()) {
            // What a runtime does when it gets no memory differs: some end themselves, some trap.
            (Some(_), _) if was_refused_memory => FaultKind::Memory,
            (Some(exit), _) => FaultKind::Exit(exit.0),
            (None, Some(Trap::Interrupt)) => FaultKind::Deadline,
            (None, Some(Trap::StackOverflow)) => FaultKind::StackOverflow,
            (None, Some(_)) if was_refused_memory => FaultKind::Memory,
            (None, Some(_)) => FaultKind::Trap,
            (None, None) if error.is::<Missing>() => FaultKind::Trap,
            (None, None) => FaultKind::Host,
        };
        Self::new(kind, callback, message_of(error))
    }

    /// Which kind it is.
    pub fn kind(&self) -> FaultKind {
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
        !matches!(self.kind, FaultKind::UnknownContext | FaultKind::TooManyContexts | FaultKind::HasStreams)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.callback {
            Some(callback) => write!(f, "the module failed in {}: {}", callback.name(), self.message),
            None => write!(f, "the module failed while it started: {}", self.message),
        }
    }
}

impl std::error::Error for Fault {}

/// The module ended itself.
#[derive(Debug, Clone, Copy, Error)]
#[error("the module ended itself with code {0}")]
pub(crate) struct Exit(pub(crate) u32);

/// The module called what this host doesn't have.
#[derive(Debug, Clone, Error)]
#[error("the module called `{0}`, which this host does not have")]
pub(crate) struct Missing(pub(crate) String);

fn message_of(error: &wasmtime::Error) -> String {
    let mut message = error.root_cause().to_string();
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
