//! C types of Envoy's dynamic module ABI, as far as HTTP filters use them.
//!
//! A module passes its arguments by this ABI, so the safe methods here rely on it: a pointer that a module passes is
//! null, or valid for the stated length until the callback returns. Nothing else in the guest's code has to.
//!
//! # Source
//! `source/extensions/dynamic_modules/abi/abi.h` of Envoy 1.38 to 1.40.

use std::ffi::c_void;
use std::ptr;
use std::slice;

/// `envoy_dynamic_module_type_envoy_buffer` and `_module_buffer`: bytes of the host or of the module.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct AbiBuffer {
    data: *const u8,
    len: usize,
}

/// `envoy_dynamic_module_type_envoy_http_header` and `_module_http_header`; also a key-value pair.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Header {
    pub(crate) name: AbiBuffer,
    pub(crate) value: AbiBuffer,
}

/// Pointer to memory of the module to which a callback writes one value, or several in a row; may be null.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Out<T>(*mut T);

/// Pointer to values of the module in a row; may be null if there are none.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Array<T>(*const T);

/// Pointer to an object of the module, which the host only passes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct ModulePtr(*const c_void);

/// Handle of an object of the host. For the module it is a pointer that it passes back; here it is a number that is
/// looked up, so that a stale one finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct EnvoyPtr(*mut c_void);

/// `bool` of C as an argument; a module could pass a byte other than 0 and 1.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(crate) struct Flag(u8);

/// `envoy_dynamic_module_type_metrics_result`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum MetricsResult {
    Success = 0,
    #[default]
    NotFound = 1,
    InvalidLabels = 2,
    Frozen = 3,
}

/// `envoy_dynamic_module_type_http_callout_init_result`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum CalloutInit {
    Success = 0,
    MissingRequiredHeaders = 1,
    ClusterNotFound = 2,
    #[default]
    CannotCreateRequest = 4,
}

/// `envoy_dynamic_module_type_http_callout_result`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum CalloutResult {
    Success = 0,
    Reset = 1,
}

// SAFETY: the host never reads through the pointer; by the ABI a module's objects may be passed to its hooks on every
// thread of the host.
unsafe impl Send for ModulePtr {}
// SAFETY: as above.
unsafe impl Sync for ModulePtr {}

impl AbiBuffer {
    /// Null, with a length of 0.
    pub(crate) const NULL: Self = Self { data: ptr::null(), len: 0 };

    /// Returns the buffer of these bytes, which must outlive the hook that the module is in.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr(), len: bytes.len() }
    }

    /// Whether the pointer is null.
    pub(crate) fn is_null(self) -> bool {
        self.data.is_null()
    }

    /// Returns the bytes of a module's buffer.
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.data.is_null() || self.len == 0 || self.len > BYTES_MAX {
            return &[];
        }
        // SAFETY: not null, and by the ABI the module's buffer has that many bytes until the callback returns.
        unsafe { slice::from_raw_parts(self.data, self.len) }
    }
}

impl Header {
    /// Returns name and value.
    pub(crate) fn pair(&self) -> (&[u8], &[u8]) {
        (self.name.bytes(), self.value.bytes())
    }
}

impl<T: Copy> Out<T> {
    /// Writes a value; nothing if the pointer is null.
    pub(crate) fn set(self, value: T) {
        self.set_at(0, value);
    }

    /// Writes the value at a position of a row whose length the module knows.
    pub(crate) fn set_at(self, at: usize, value: T) {
        if self.0.is_null() || !self.0.is_aligned() {
            return;
        }
        // SAFETY: by the ABI the module provides room for as many values as the host has announced.
        let place = unsafe { self.0.add(at) };
        // SAFETY: as above; it is aligned and not null.
        unsafe { place.write(value) }
    }
}

impl<T: Copy> Array<T> {
    /// Returns the values; none if there are implausibly many.
    pub(crate) fn values(&self, len: usize) -> &[T] {
        if self.0.is_null() || !self.0.is_aligned() || len > VALUES_MAX {
            return &[];
        }
        // SAFETY: not null and aligned; by the ABI there are that many values until the callback returns.
        unsafe { slice::from_raw_parts(self.0, len) }
    }
}

impl ModulePtr {
    pub(crate) const NULL: Self = Self(ptr::null());

    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }
}

impl Default for ModulePtr {
    fn default() -> Self {
        Self::NULL
    }
}

impl EnvoyPtr {
    /// Returns the handle with this number.
    pub(crate) fn of(number: u64) -> Self {
        Self(ptr::without_provenance_mut(usize::try_from(number).unwrap_or(0)))
    }

    /// Returns the number of the handle; 0 for null.
    pub(crate) fn number(self) -> u64 {
        self.0.addr() as u64
    }
}

impl Default for EnvoyPtr {
    fn default() -> Self {
        Self(ptr::null_mut())
    }
}

impl Flag {
    pub(crate) const FALSE: Self = Self(0);
    pub(crate) const TRUE: Self = Self(1);

    pub(crate) fn of(value: bool) -> Self {
        Self(u8::from(value))
    }

    pub(crate) fn is_set(self) -> bool {
        self.0 != 0
    }
}

/// Maximum plausible length of a module's buffer; a longer one is treated as empty.
const BYTES_MAX: usize = 1 << 30;
/// Maximum plausible number of values in an array; a longer one is treated as empty.
const VALUES_MAX: usize = 1 << 16;

const _: () = assert!(usize::BITS == 64, "handles have 64 bits");
