//! What a script may use up and reach.

use std::time::Duration;

use super::fault::VmFault;

/// What a virtual machine may use up, and what its script may reach.
#[derive(Clone, Copy, Debug)]
pub(in crate::lua) struct VmLimits {
    /// CPU time of one entry.
    pub(in crate::lua) cpu: Duration,
    /// Bytes of everything that lives in the machine but compiled code, which is bounded by itself.
    pub(in crate::lua) memory_bytes: usize,
    /// Libraries beyond those that reach nothing.
    pub(in crate::lua) allow: Allowed,
}

/// Libraries that reach out of the machine. Each is for scripts that are trusted like the program itself.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::lua) struct Allowed {
    /// `os`, without `os.exit`: the clock, the environment, other programs.
    pub(in crate::lua) os: bool,
    /// `io`: files.
    pub(in crate::lua) io: bool,
    /// `require` and `package`: modules in Lua and C, `ffi` among them.
    pub(in crate::lua) package: bool,
    /// `require "ffi"`: all of the process's memory.
    pub(in crate::lua) ffi: bool,
}

impl VmLimits {
    /// The most bytes that one value may take.
    ///
    /// Functions written in C run to their end whatever they are given; this is what bounds what they can be given.
    pub(super) fn block_bytes(&self) -> usize {
        (self.memory_bytes / 16).clamp(BLOCK_BYTES_MIN, REFUSED_BYTES - 1)
    }
}

impl VmLimits {
    /// The fault of a machine whose memory is used up.
    pub(in crate::lua) fn memory_fault(&self) -> VmFault {
        let bytes = |size| u64::try_from(size).unwrap_or(u64::MAX);
        VmFault::Memory { all: bytes(self.memory_bytes), one: bytes(self.block_bytes()) }
    }
}

impl Default for VmLimits {
    fn default() -> Self {
        Self { cpu: Duration::from_millis(10), memory_bytes: 32 << 20, allow: Allowed::default() }
    }
}

/// Below this, machine and libraries would not fit themselves.
const BLOCK_BYTES_MIN: usize = 256 << 10;

/// What no machine gives out at once.
pub(super) const REFUSED_BYTES: usize = 1 << 30;
