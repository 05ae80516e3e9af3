//! Functions that Go exports, called without the bridge.

use std::ffi::{CString, OsStr};
use std::mem::transmute;
use std::os::unix::ffi::OsStrExt;

/// Functions of Go that do nothing.
pub(crate) struct PlainExports {
    empty: unsafe extern "C" fn(*mut u64),
    barrier: unsafe extern "C" fn(*mut u64),
}

impl PlainExports {
    /// Finds them in a library that is loaded.
    pub(crate) fn find(path: &OsStr) -> Result<Self, Box<dyn std::error::Error>> {
        let path = CString::new(path.as_bytes())?;
        // SAFETY: the path ends with NUL; the library is loaded already, so that nothing of it runs.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
        // SAFETY: the library, or null for the program itself, in which the name isn't found.
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

    /// Enters Go and comes back.
    pub(crate) fn empty(&self) {
        let mut word = 0;
        // SAFETY: Go looks at nothing.
        unsafe { (self.empty)(&raw mut word) };
    }

    /// Enters Go, where panics are caught, and comes back.
    pub(crate) fn barrier(&self) {
        let mut word = 0;
        // SAFETY: Go looks at nothing.
        unsafe { (self.barrier)(&raw mut word) };
    }
}
