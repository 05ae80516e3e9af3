//! Limits and permissions of a VM.

use std::time::Duration;

use super::fault::VmFault;

/// Resource limits of a VM, and permissions of its script.
#[derive(Clone, Copy, Debug)]
pub(in crate::lua) struct VmLimits {
    /// Maximum CPU time per entry.
    pub(in crate::lua) cpu: Duration,
    /// Maximum memory of the VM in bytes, without compiled code, which has limits of its own.
    pub(in crate::lua) memory_bytes: usize,
    /// Maximum steps of a match that LuaJIT's own library performs, which checks no time limit.
    pub(in crate::lua) pattern_steps: u32,
    /// Libraries allowed beyond the safe ones.
    pub(in crate::lua) allow: Allowed,
}

/// Libraries that reach outside the VM. Each is for scripts that are trusted like the program itself.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::lua) struct Allowed {
    /// `os`, without `os.exit`: the clock, the environment, other programs.
    pub(in crate::lua) os: bool,
    /// `io`: files.
    pub(in crate::lua) io: bool,
    /// `require` and `package`: modules in Lua and C, including `ffi`.
    pub(in crate::lua) package: bool,
    /// `require "ffi"`: all memory of the process.
    pub(in crate::lua) ffi: bool,
}

impl VmLimits {
    /// Returns the maximum size of one value in bytes.
    ///
    /// C functions run to completion whatever their arguments; this limits the size of the arguments.
    pub(super) fn block_bytes(&self) -> usize {
        (self.memory_bytes / 16).clamp(BLOCK_BYTES_MIN, REFUSED_BYTES - 1)
    }

    /// Returns the fault of a VM whose memory is used up.
    pub(in crate::lua) fn memory_fault(&self) -> VmFault {
        let bytes = |size| u64::try_from(size).unwrap_or(u64::MAX);
        VmFault::Memory { all: bytes(self.memory_bytes), one: bytes(self.block_bytes()) }
    }
}

impl Default for VmLimits {
    fn default() -> Self {
        Self {
            cpu: Duration::from_millis(10),
            memory_bytes: 32 << 20,
            pattern_steps: PATTERN_STEPS,
            allow: Allowed::default(),
        }
    }
}

/// Less than half a millisecond.
pub(in crate::lua) const PATTERN_STEPS: u32 = 1 << 19;

/// With less, the VM and its libraries themselves would not fit.
const BLOCK_BYTES_MIN: usize = 256 << 10;

/// Size that every VM refuses to allocate.
pub(super) const REFUSED_BYTES: usize = 1 << 30;
