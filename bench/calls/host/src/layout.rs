//! Data structures shared by the host and the Go library; guest/shared.h declares the same.

use std::ffi::{c_int, c_void};

/// A byte slice, `bench_text` in C.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Text {
    pub(crate) data: *const u8,
    pub(crate) length: usize,
}

/// A header field as ranges of the request's bytes, `bench_field` in C.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct BenchField {
    pub(crate) name_start: u32,
    pub(crate) name_end: u32,
    pub(crate) value_start: u32,
    pub(crate) value_end: u32,
    pub(crate) id: u32,
}

/// A request as the guest sees it, `bench_request` in C.
#[repr(C)]
pub(crate) struct Request {
    pub(crate) bytes: *const u8,
    pub(crate) fields: *const BenchField,
    pub(crate) bytes_length: u32,
    pub(crate) fields_length: u32,
    pub(crate) edits: *mut u8,
    pub(crate) edits_capacity: u32,
    pub(crate) edits_length: u32,
    /// Address of the request's `Content`.
    pub(crate) host: *mut c_void,
}

/// One operation, `bench_operation` in C.
#[repr(C)]
pub(crate) struct Operation {
    pub(crate) request: *mut Request,
    pub(crate) name: Text,
    pub(crate) value: Text,
}

/// Destination for a copy of all fields, `bench_copy` in C.
#[repr(C)]
pub(crate) struct Copy {
    pub(crate) request: *mut Request,
    pub(crate) bytes: *mut u8,
    pub(crate) fields: *mut BenchField,
    pub(crate) texts: *mut [Text; 2],
}

/// Table of host functions, `bench_host` in C.
#[repr(C)]
pub(crate) struct Host {
    pub(crate) empty: unsafe extern "C" fn(*mut c_void) -> usize,
    pub(crate) get: unsafe extern "C" fn(*mut Operation) -> usize,
    pub(crate) set: unsafe extern "C" fn(*mut Operation) -> usize,
    pub(crate) copy: unsafe extern "C" fn(*mut Copy) -> usize,
}

/// A hook function of the guest.
pub(crate) type Hook = unsafe extern "C" fn(*mut Request) -> c_int;
