//! Structures of the filter ABI; the header documents their members.
#![expect(missing_docs, reason = "the header documents the members, and the names are the same")]

/// `eddy_text`: a byte slice.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AbiText {
    pub data: *const u8,
    pub len: usize,
}

/// `eddy_span`: a range of the bytes of a head.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AbiSpan {
    pub start: u32,
    pub end: u32,
}

/// `eddy_field`: one field of a head.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AbiField {
    pub name: AbiSpan,
    pub value: AbiSpan,
    pub id: u8,
    pub flags: u8,
    pub reserved: u16,
}

/// `eddy_head`: a head or trailer section.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AbiHead {
    pub bytes: *const u8,
    pub fields: *const AbiField,
    pub bytes_len: u32,
    pub fields_len: u32,
}

/// `eddy_edit`: header of an edit record.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AbiEdit {
    pub op: u16,
    pub step: u16,
    pub name_len: u32,
    pub value_len: u32,
    pub number: u32,
}

/// `eddy_step`: one filter to be called.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct AbiStep {
    pub filter: u64,
    pub config: u64,
    pub state: u64,
    pub id: u32,
    pub nanos: u32,
    pub verdict: u8,
    pub flags: u8,
    pub reserved: u16,
    pub reserved2: u32,
}

/// `eddy_pair`: one metadata entry.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AbiPair {
    pub space: AbiText,
    pub key: AbiText,
    pub value: AbiText,
}

/// `eddy_about`: facts about the exchange.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AbiAbout {
    pub peer: AbiText,
    pub local: AbiText,
    pub listener: AbiText,
    pub rule: AbiText,
    pub cluster: AbiText,
    pub endpoint: AbiText,
    pub request_id: AbiText,
    pub details: AbiText,
    pub metadata: *const AbiPair,
    pub metadata_len: u64,
    pub started_unix_us: u64,
    pub duration_us: u64,
    pub connection: u64,
    pub request_bytes: u64,
    pub response_bytes: u64,
    pub attempts: u32,
    pub reserved: u32,
}

/// `eddy_ended`: an exchange that has ended.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct AbiExchangeEnd {
    pub filter: u64,
    pub state: u64,
    pub reason: u32,
    pub reserved: u32,
}

/// `eddy_call`: one crossing.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AbiCall {
    pub abi: u32,
    pub size: u32,
    pub worker: u16,
    pub status: u16,
    pub phase: u8,
    pub flags: u8,
    pub version: u8,
    pub method: u8,
    pub exchange: u64,
    pub turn: u32,
    pub steps_len: u32,
    pub steps: *mut AbiStep,
    pub request: AbiHead,
    pub response: AbiHead,
    pub trailers: AbiHead,
    pub method_name: AbiText,
    pub target: AbiText,
    pub authority: AbiText,
    pub scheme: AbiText,
    pub body: AbiText,
    pub about: *const AbiAbout,
    pub edits: *mut u8,
    pub edits_cap: u32,
    pub edits_len: u32,
    pub ended: *const AbiExchangeEnd,
    pub ended_len: u32,
    pub stopped: u32,
    pub current: *mut u32,
}

/// `eddy_metric`: location of a metric's cells.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    pub cells: *mut u64,
    pub stride: u32,
    pub reserved: u32,
}

/// `eddy_outbound`: a request that a filter sends itself.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AbiOutbound {
    pub size: u32,
    pub filter: u32,
    pub token: u64,
    pub exchange: u64,
    pub cluster: AbiText,
    pub method: AbiText,
    pub target: AbiText,
    pub authority: AbiText,
    pub fields: *const AbiText,
    pub fields_len: u32,
    pub timeout_ms: u32,
    pub body: AbiText,
}

/// `eddy_event`: an event for a library.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AbiEvent {
    pub size: u32,
    pub kind: u32,
    pub token: u64,
    pub filter: u32,
    pub worker: u16,
    pub status: u16,
    pub head: AbiHead,
    pub body: AbiText,
}

/// `eddy_host`: functions of the host.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AbiHost {
    pub abi: u32,
    pub size: u32,
    pub workers: u32,
    pub level: u32,
    pub resume: unsafe extern "C" fn(u64, u32, u32, *const u8, u32) -> i32,
    pub edits_grow: unsafe extern "C" fn(*mut AbiCall, u32) -> i32,
    pub log: unsafe extern "C" fn(u32, u32, *const u8, usize) -> i32,
    pub metric: unsafe extern "C" fn(u32, u32, *const u8, usize, *const u64, u32, *mut Metric) -> i32,
    pub send: unsafe extern "C" fn(*const AbiOutbound) -> i32,
    pub cancel: unsafe extern "C" fn(u32, u64) -> i32,
    pub memory_soft_bytes: u64,
    pub about: unsafe extern "C" fn(*mut AbiCall) -> i32,
}

/// `eddy_filter_info`: properties of a configured filter.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FilterInfo {
    pub size: u32,
    pub interest: u32,
    pub filter: u64,
    pub flags: u32,
    pub reserved: u32,
}

/// `eddy_library`: functions of a library.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AbiLibrary {
    pub abi: u32,
    pub size: u32,
    pub sdk: AbiText,
    pub toolchain: AbiText,
    pub filters: *const AbiText,
    pub filters_len: u64,
    pub filter_new: unsafe extern "C" fn(AbiText, AbiText, u32, *mut FilterInfo, *mut AbiText) -> i32,
    pub config_new: unsafe extern "C" fn(u64, AbiText, *mut u64, *mut AbiText) -> i32,
    pub config_free: unsafe extern "C" fn(u64, u64),
    pub filter_free: unsafe extern "C" fn(u64),
    pub run: unsafe extern "C" fn(*mut AbiCall),
    pub event: unsafe extern "C" fn(*const AbiEvent),
    pub stop: Option<unsafe extern "C" fn()>,
    pub flags: u32,
    pub reserved: u32,
}

/// `eddy_library_open_fn`: the only symbol that a library exports.
pub type LibraryOpen = unsafe extern "C" fn(*const AbiHost) -> *const AbiLibrary;

impl AbiText {
    /// An empty text.
    pub const EMPTY: Self = Self { data: std::ptr::null(), len: 0 };

    /// Returns the text of a slice's bytes, valid as long as the slice.
    #[must_use]
    pub const fn of(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr(), len: bytes.len() }
    }
}

impl AbiHead {
    /// A section without fields.
    pub const EMPTY: Self =
        Self { bytes: std::ptr::null(), fields: std::ptr::null(), bytes_len: 0, fields_len: 0 };
}

impl Metric {
    /// No cells.
    pub const NOWHERE: Self = Self { cells: std::ptr::null_mut(), stride: 0, reserved: 0 };
}
