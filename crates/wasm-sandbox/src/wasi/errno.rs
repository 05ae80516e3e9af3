//! How functions of WASI answer.

/// What a function gives, or the number that says why not.
pub(super) type WasiResult<T = ()> = Result<T, Errno>;

/// Why a function did not do what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Errno {
    /// No such descriptor.
    BadDescriptor = 8,
    /// A pointer or length beyond the module's memory.
    Fault = 21,
    /// An argument that makes no sense, or asks for too much.
    Invalid = 28,
    /// Not offered.
    Missing = 52,
    /// The descriptor is no socket.
    NoSocket = 57,
    /// Not offered for this descriptor or clock.
    NotSupported = 58,
    /// The descriptor has no position.
    NoSeek = 70,
}

/// The number of an answer.
pub(super) fn wire(done: WasiResult) -> u32 {
    done.map_or_else(|errno| errno as u32, |()| 0)
}
