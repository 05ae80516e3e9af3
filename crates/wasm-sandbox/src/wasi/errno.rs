//! Error numbers of WASI functions.

use crate::region::Beyond;

/// Result of a WASI function.
pub(super) type WasiResult<T = ()> = Result<T, Errno>;

/// Error number of a WASI function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Errno {
    /// No such descriptor.
    BadDescriptor = 8,
    /// A pointer or length reaches beyond the module's memory.
    Fault = 21,
    /// An argument is invalid or too large.
    Invalid = 28,
    /// The function is not supported (`ENOSYS`).
    Missing = 52,
    /// The descriptor is not a socket.
    NoSocket = 57,
    /// The operation is not supported for this descriptor or clock.
    NotSupported = 58,
    /// The descriptor is not seekable.
    NoSeek = 70,
}

impl From<Beyond> for Errno {
    fn from(_: Beyond) -> Self {
        Self::Fault
    }
}

/// Converts a result to its error number, 0 for success.
pub(super) fn wire(done: WasiResult) -> u32 {
    done.map_or_else(|errno| errno as u32, |()| 0)
}
