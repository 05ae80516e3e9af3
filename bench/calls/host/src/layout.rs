//! What the host and the Go library agree on; guest/shared.h has the same.

use std::ffi::{c_int, c_void};

/// Bytes somewhere, a `bench_text`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Text {
    pub(crate) data: *const u8,
    pub(crate) length: usize,
}

/// A header field as ranges of the request's bytes, a `bench_field`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct BenchField {
    pub(crate) name_start: u32,
    pub(crate) name_end: u32,
    pub(crate) value_start: u32,
    pub(crate) value_end: u32,
    pub(crate) id: u32,
}

/// A request as the guest sees it, a `bench_request`.
#[repr(C)]
pub(crate) struct Request {
    pub(crate) bytes: *const u8,
    pub(crate) fields: *const BenchField,
    pub(crate) bytes_length: u32,
    pub(crate) fields_length: u32,
    pub(crate) edits: *mut u8,
    pub(crate) edits_capacity: u32,
    pub(crate) edits_length: u32,
    /// Where the `Content` lies that the request is of.
    pub(crate) host: *mut c_void,
}

/// One operation, a `bench_operation`.
#[repr(C)]
pub(crate) struct Operation {
    pub(crate) request: *mut Request,
    pub(crate) name: Text,
    pub(crate) value: Text,
}

/// Where all fields are to be copied to, a `bench_copy`.
#[repr(C)]
pub(crate) struct Copy {
    pub(crate) request: *mut Request,
    pub(crate) bytes: *mut u8,
    pub(crate) fields: *mut BenchField,
    pub(crate) texts: *mut [Text; 2],
}

/// The functions of the host, a `bench_host`.
#[repr(C)]
pub(crate) struct Host {
    pub(crate) empty: unsafe extern "C" fn(*mut c_void) -> usize,
    pub(crate) get: unsafe extern "C" fn(*mut Operation) -> usize,
    pub(crate) set: unsafe extern "C" fn(*mut Operation) -> usize,
    pub(crate) copy: unsafe extern "C" fn(*mut Copy) -> usize,
}

/// A hook of the guest.
pub(crate) type Hook = unsafe extern "C" fn(*mut Request) -> c_int;
