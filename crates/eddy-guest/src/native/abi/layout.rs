//! Structures of `abi/eddy_filter.h` in Rust; a test compares their layout with the C compiler's.

use std::ffi::c_void;

use eddy_filter::EndedExchange;
use eddy_http::{Field, Span};

/// `EDDY_ABI`.
pub(crate) const ABI: u32 = 1;

/// `eddy_text`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct NativeText {
    pub(crate) data: *const u8,
    pub(crate) len: usize,
}

/// `eddy_head`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct NativeHead {
    pub(crate) bytes: *const u8,
    pub(crate) fields: *const Field,
    pub(crate) bytes_len: u32,
    pub(crate) fields_len: u32,
}

/// `eddy_step`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct NativeStep {
    pub(crate) filter: u64,
    pub(crate) config: u64,
    pub(crate) state: u64,
    pub(crate) id: u32,
    pub(crate) nanos: u32,
    pub(crate) verdict: u8,
    pub(crate) flags: u8,
    pub(crate) reserved: u16,
    pub(crate) reserved2: u32,
}

/// `eddy_pair`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct NativePair {
    pub(crate) space: NativeText,
    pub(crate) key: NativeText,
    pub(crate) value: NativeText,
}

/// `eddy_about`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct NativeAbout {
    pub(crate) peer: NativeText,
    pub(crate) local: NativeText,
    pub(crate) listener: NativeText,
    pub(crate) rule: NativeText,
    pub(crate) cluster: NativeText,
    pub(crate) endpoint: NativeText,
    pub(crate) request_id: NativeText,
    pub(crate) details: NativeText,
    pub(crate) metadata: *const NativePair,
    pub(crate) metadata_len: u64,
    pub(crate) started_unix_us: u64,
    pub(crate) duration_us: u64,
    pub(crate) connection: u64,
    pub(crate) request_bytes: u64,
    pub(crate) response_bytes: u64,
    pub(crate) attempts: u32,
    pub(crate) reserved: u32,
}

/// `eddy_call`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct NativeCall {
    pub(crate) abi: u32,
    pub(crate) size: u32,
    pub(crate) worker: u16,
    pub(crate) status: u16,
    pub(crate) phase: u8,
    pub(crate) flags: u8,
    pub(crate) version: u8,
    pub(crate) method: u8,
    pub(crate) exchange: u64,
    pub(crate) turn: u32,
    pub(crate) steps_len: u32,
    pub(crate) steps: *mut NativeStep,
    pub(crate) request: NativeHead,
    pub(crate) response: NativeHead,
    pub(crate) trailers: NativeHead,
    pub(crate) method_name: NativeText,
    pub(crate) target: NativeText,
    pub(crate) authority: NativeText,
    pub(crate) scheme: NativeText,
    pub(crate) body: NativeText,
    pub(crate) about: *const NativeAbout,
    pub(crate) edits: *mut u8,
    pub(crate) edits_cap: u32,
    pub(crate) edits_len: u32,
    pub(crate) ended: *const EndedExchange,
    pub(crate) ended_len: u32,
    pub(crate) stopped: u32,
    pub(crate) current: *mut u32,
}

pub(crate) const CALL_END: u8 = 1;
pub(crate) const CALL_SAMPLED: u8 = 2;
pub(crate) const CALL_LOCAL: u8 = 4;
pub(crate) const CALL_BUFFERED: u8 = 8;
pub(crate) const CALL_TLS: u8 = 16;

pub(crate) const STEP_BLOCKING: u8 = 1;

/// `EDDY_OK` of `enum eddy_result`; the other values are those of [`eddy_filter::HostError`].
pub(crate) const OK: i32 = 0;

/// `eddy_metric`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct MetricCells {
    pub(crate) cells: *mut u64,
    pub(crate) stride: u32,
    pub(crate) reserved: u32,
}

/// `eddy_outbound`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct NativeOutbound {
    pub(crate) size: u32,
    pub(crate) filter: u32,
    pub(crate) token: u64,
    pub(crate) exchange: u64,
    pub(crate) cluster: NativeText,
    pub(crate) method: NativeText,
    pub(crate) target: NativeText,
    pub(crate) authority: NativeText,
    pub(crate) fields: *const NativeText,
    pub(crate) fields_len: u32,
    pub(crate) timeout_ms: u32,
    pub(crate) body: NativeText,
}

/// `eddy_event`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct NativeEvent {
    pub(crate) size: u32,
    pub(crate) kind: u32,
    pub(crate) token: u64,
    pub(crate) filter: u32,
    pub(crate) worker: u16,
    pub(crate) status: u16,
    pub(crate) head: NativeHead,
    pub(crate) body: NativeText,
}

/// `eddy_host`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct HostTable {
    pub(crate) abi: u32,
    pub(crate) size: u32,
    pub(crate) workers: u32,
    pub(crate) level: u32,
    pub(crate) resume: unsafe extern "C" fn(u64, u32, u32, *const u8, u32) -> i32,
    pub(crate) edits_grow: unsafe extern "C" fn(*mut NativeCall, u32) -> i32,
    pub(crate) log: unsafe extern "C" fn(u32, u32, *const u8, usize) -> i32,
    pub(crate) metric:
        unsafe extern "C" fn(u32, u32, *const u8, usize, *const u64, u32, *mut MetricCells) -> i32,
    pub(crate) send: unsafe extern "C" fn(*const NativeOutbound) -> i32,
    pub(crate) cancel: unsafe extern "C" fn(u32, u64) -> i32,
    pub(crate) memory_soft_bytes: u64,
    pub(crate) about: unsafe extern "C" fn(*mut NativeCall) -> i32,
}

/// `eddy_filter_info`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct Info {
    pub(crate) size: u32,
    pub(crate) interest: u32,
    pub(crate) filter: u64,
    pub(crate) flags: u32,
    pub(crate) reserved: u32,
}

pub(crate) const FILTER_READS_BODY: u32 = 1;
pub(crate) const FILTER_EXPECTS_TUNNELS: u32 = 2;

/// `eddy_library`, as read from a guest: any function may be null.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct NativeLibraryTable {
    pub(crate) abi: u32,
    pub(crate) size: u32,
    pub(crate) sdk: NativeText,
    pub(crate) toolchain: NativeText,
    pub(crate) filters: *const NativeText,
    pub(crate) filters_len: u64,
    pub(crate) filter_new:
        Option<unsafe extern "C" fn(NativeText, NativeText, u32, *mut Info, *mut NativeText) -> i32>,
    pub(crate) config_new: Option<unsafe extern "C" fn(u64, NativeText, *mut u64, *mut NativeText) -> i32>,
    pub(crate) config_free: Option<unsafe extern "C" fn(u64, u64)>,
    pub(crate) filter_free: Option<unsafe extern "C" fn(u64)>,
    pub(crate) run: Option<unsafe extern "C" fn(*mut NativeCall)>,
    pub(crate) event: Option<unsafe extern "C" fn(*const NativeEvent)>,
    pub(crate) stop: Option<unsafe extern "C" fn()>,
    pub(crate) flags: u32,
    pub(crate) reserved: u32,
}

pub(crate) const LIBRARY_ASKS_ABOUT: u32 = 1;

/// `eddy_library_open_fn`.
pub(crate) type OpenFn = unsafe extern "C" fn(*const HostTable) -> *const c_void;

impl NativeText {
    /// Returns a text that refers to these bytes.
    #[inline]
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr(), len: bytes.len() }
    }
}

// Heads and ends are passed in place, so their layout is part of the ABI.
const _: () = {
    assert!(size_of::<Span>() == 8 && align_of::<Span>() == 4);
    assert!(size_of::<Field>() == 20 && align_of::<Field>() == 4);
    assert!(std::mem::offset_of!(Field, name) == 0 && std::mem::offset_of!(Field, value) == 8);
    assert!(std::mem::offset_of!(Field, id) == 16 && std::mem::offset_of!(Field, is_nominated) == 17);
    assert!(size_of::<EndedExchange>() == 24 && align_of::<EndedExchange>() == 8);
    assert!(
        std::mem::offset_of!(EndedExchange, filter) == 0 && std::mem::offset_of!(EndedExchange, state) == 8
    );
    assert!(std::mem::offset_of!(EndedExchange, reason) == 16);
};
