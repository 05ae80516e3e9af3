//! The loaded Go library, with safe wrappers of its functions.

use std::error::Error;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::mem::transmute_copy;
use std::os::unix::ffi::OsStrExt;

use crate::layout::{Hook, Host, Request};
use crate::request;

/// A loaded Go library. It is never unloaded: a Go runtime can't be ended.
pub(crate) struct Library {
    handle: *mut c_void,
    empty: unsafe extern "C" fn(),
    arguments: Hook,
    barrier: Hook,
    panic: Hook,
    status: unsafe extern "C" fn(*mut u8, usize) -> usize,
    allocated: unsafe extern "C" fn(*mut [u64; 2]),
    inside_cgo: unsafe extern "C" fn(usize),
    inside_fast: unsafe extern "C" fn(usize),
}

// SAFETY: a handle of dlopen may be used on every thread, and so may the exported functions of a Go library.
unsafe impl Sync for Library {}

impl Library {
    /// Loads the library and passes it the table of host functions.
    pub(crate) fn open(path: &OsStr) -> Result<Self, Box<dyn Error>> {
        let path = CString::new(path.as_bytes())?;
        // SAFETY: the path ends with a NUL; running the library's initialisation is intended.
        let handle = unsafe { dlopen(path.as_ptr(), RTLD_NOW) };
        if handle.is_null() {
            return Err(last_error().into());
        }
        let open: unsafe extern "C" fn(*const Host) = function(handle, "guest_open")?;
        // SAFETY: shared.h declares this type; the guest copies the table before it returns.
        unsafe { open(&request::HOST) };
        Ok(Self {
            handle,
            empty: function(handle, "guest_empty")?,
            arguments: function(handle, "guest_arguments")?,
            barrier: function(handle, "guest_barrier")?,
            panic: function(handle, "guest_panic")?,
            status: function(handle, "guest_status")?,
            allocated: function(handle, "guest_allocated")?,
            inside_cgo: function(handle, "guest_inside_cgo")?,
            inside_fast: function(handle, "guest_inside_fast")?,
        })
    }

    /// Returns which mechanism the guest uses for its calls.
    pub(crate) fn status(&self) -> String {
        let mut text = vec![0; 500];
        // SAFETY: the guest writes at most as many bytes as the length that is passed.
        let length = unsafe { (self.status)(text.as_mut_ptr(), text.len()) };
        text.truncate(length);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Returns the number of objects and bytes that the guest has allocated so far.
    pub(crate) fn allocated(&self) -> [u64; 2] {
        let mut out = [0; 2];
        // SAFETY: the guest writes two numbers.
        unsafe { (self.allocated)(&mut out) };
        out
    }

    pub(crate) fn empty(&self) {
        // SAFETY: the function takes no argument and does nothing.
        unsafe { (self.empty)() };
    }

    pub(crate) fn arguments(&self, request: &mut Request) {
        // SAFETY: the guest reads the request only while the call runs.
        unsafe { (self.arguments)(request) };
    }

    pub(crate) fn barrier(&self, request: &mut Request) -> c_int {
        // SAFETY: the guest reads the request only while the call runs.
        unsafe { (self.barrier)(request) }
    }

    pub(crate) fn panic(&self, request: &mut Request) -> c_int {
        // SAFETY: the guest recovers the panic before it returns.
        unsafe { (self.panic)(request) }
    }

    /// Makes the guest call the host `count` times through cgo.
    pub(crate) fn inside_cgo(&self, count: usize) {
        // SAFETY: the guest calls `empty` of the table.
        unsafe { (self.inside_cgo)(count) };
    }

    /// Makes the guest call the host `count` times through fastcall.
    pub(crate) fn inside_fast(&self, count: usize) {
        // SAFETY: the guest calls `empty` of the table.
        unsafe { (self.inside_fast)(count) };
    }

    /// Returns the hook called `name`.
    pub(crate) fn hook(&self, name: &str) -> Hook {
        function(self.handle, name).expect("the guest is built from the sources beside this program")
    }
}

/// Finds a function by name. `F` must be the type declared by shared.h or by the guest's export.
fn function<F: Copy>(handle: *mut c_void, name: &str) -> Result<F, Box<dyn Error>> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>(), "a pointer to a function") };
    let name = CString::new(name)?;
    // SAFETY: the handle is that of a loaded library; the name ends with a NUL.
    let address = unsafe { dlsym(handle, name.as_ptr()) };
    if address.is_null() {
        return Err(last_error().into());
    }
    // SAFETY: F has the size of a pointer, the address is that of a function, and the callers name its type.
    Ok(unsafe { transmute_copy::<*mut c_void, F>(&address) })
}

fn last_error() -> String {
    // SAFETY: dlerror may be called at any time.
    let text = unsafe { dlerror() };
    if text.is_null() {
        return "the library can't be loaded".to_owned();
    }
    // SAFETY: the string is valid until the next call of these functions on this thread.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[link(name = "dl")]
unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *mut c_char;
}

const RTLD_NOW: c_int = 2;
