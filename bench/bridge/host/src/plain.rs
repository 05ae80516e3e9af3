//! Exported Go functions that are called without the bridge.

use std::ffi::{CString, OsStr};
use std::mem::transmute;
use std::os::unix::ffi::OsStrExt;

/// Exported Go functions that do nothing.
pub(crate) struct PlainExports {
    empty: unsafe extern "C" fn(*mut u64),
    barrier: unsafe extern "C" fn(*mut u64),
}

impl PlainExports {
    /// Finds the functions in a library that is already loaded.
    pub(crate) fn find(path: &OsStr) -> Result<Self, Box<dyn std::error::Error>> {
        let path = CString::new(path.as_bytes())?;
        // SAFETY: the path ends with NUL; the library is loaded already, so that none of its code runs.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
        // SAFETY: the handle is the library, or null for the program itself, in which the name isn't found.
        let empty = unsafe { libc::dlsym(library, c"bench_empty".as_ptr()) };
        // SAFETY: as above.
        let barrier = unsafe { libc::dlsym(library, c"bench_barrier".as_ptr()) };
        if empty.is_null() || barrier.is_null() {
            return Err("the library lacks bench_empty and bench_barrier".into());
        }
        Ok(Self {
            // SAFETY: bench/bridge/program exports it with this type.
            empty: unsafe { transmute::<*mut libc::c_void, unsafe extern "C" fn(*mut u64)>(empty) },
            // SAFETY: as above.
            barrier: unsafe { transmute::<*mut libc::c_void, unsafe extern "C" fn(*mut u64)>(barrier) },
        })
    }

    /// Calls Go and returns.
    pub(crate) fn empty(&self) {
        let mut word = 0;
        // SAFETY: Go does not access the argument.
        unsafe { (self.empty)(&raw mut word) };
    }

    /// Calls Go through the function that catches panics, and returns.
    pub(crate) fn barrier(&self) {
        let mut word = 0;
        // SAFETY: Go does not access the argument.
        unsafe { (self.barrier)(&raw mut word) };
    }
}
