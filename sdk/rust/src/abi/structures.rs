//! The structures of the contract; what their members mean is told in the header.
#![expect(missing_docs, reason = "the header documents the members, and the names are the same")]

/// `eddy_text`: bytes somewhere.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Text {
    pub data: *const u8,
    pub len: usize,
}

/// `eddy_span`: a range of the bytes of a head.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

/// `eddy_field`: one field of a head.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Field {
    pub name: Span,
    pub value: Span,
    pub id: u8,
    pub flags: u8,
    pub reserved: u16,
}

/// `eddy_head`: a head or trailer section.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Head {
    pub bytes: *const u8,
    pub fields: *const Field,
    pub bytes_len: u32,
    pub fields_len: u32,
}

/// `eddy_edit`: what begins a record of the edits.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edit {
    pub op: u16,
    pub step: u16,
    pub name_len: u32,
    pub value_len: u32,
    pub number: u32,
}

/// `eddy_step`: one filter to be entered.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Step {
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

/// `eddy_pair`: one item of metadata.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    pub space: Text,
    pub key: Text,
    pub value: Text,
}

/// `eddy_about`: facts about the exchange.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct About {
    pub peer: Text,
    pub local: Text,
    pub listener: Text,
    pub rule: Text,
    pub cluster: Text,
    pub endpoint: Text,
    pub request_id: Text,
    pub details: Text,
    pub metadata: *const Pair,
    pub metadata_len: u64,
    pub started_unix_us: u64,
    pub duration_us: u64,
    pub connection: u64,
    pub request_bytes: u64,
    pub response_bytes: u64,
    pub attempts: u32,
    pub reserved: u32,
}

/// `eddy_ended`: an exchange that is over.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Ended {
    pub filter: u64,
    pub state: u64,
    pub reason: u32,
    pub reserved: u32,
}

/// `eddy_call`: one crossing.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Call {
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
    pub steps: *mut Step,
    pub request: Head,
    pub response: Head,
    pub trailers: Head,
    pub method_name: Text,
    pub target: Text,
    pub authority: Text,
    pub scheme: Text,
    pub body: Text,
    pub about: *const About,
    pub edits: *mut u8,
    pub edits_cap: u32,
    pub edits_len: u32,
    pub ended: *const Ended,
    pub ended_len: u32,
    pub stopped: u32,
    pub current: *mut u32,
}

/// `eddy_metric`: where a metric lies.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    pub cells: *mut u64,
    pub stride: u32,
    pub reserved: u32,
}

/// `eddy_outbound`: a request of a filter's own.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Outbound {
    pub size: u32,
    pub filter: u32,
    pub token: u64,
    pub exchange: u64,
    pub cluster: Text,
    pub method: Text,
    pub target: Text,
    pub authority: Text,
    pub fields: *const Text,
    pub fields_len: u32,
    pub timeout_ms: u32,
    pub body: Text,
}

/// `eddy_event`: something that happened for a library.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub size: u32,
    pub kind: u32,
    pub token: u64,
    pub filter: u32,
    pub worker: u16,
    pub status: u16,
    pub head: Head,
    pub body: Text,
}

/// `eddy_host`: what the host offers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Host {
    pub abi: u32,
    pub size: u32,
    pub workers: u32,
    pub level: u32,
    pub resume: unsafe extern "C" fn(u64, u32, u32, *const u8, u32) -> i32,
    pub edits_grow: unsafe extern "C" fn(*mut Call, u32) -> i32,
    pub log: unsafe extern "C" fn(u32, u32, *const u8, usize) -> i32,
    pub metric: unsafe extern "C" fn(u32, u32, *const u8, usize, *const u64, u32, *mut Metric) -> i32,
    pub send: unsafe extern "C" fn(*const Outbound) -> i32,
    pub cancel: unsafe extern "C" fn(u32, u64) -> i32,
    pub memory_soft_bytes: u64,
}

/// `eddy_filter_info`: what a library says of a configured filter.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FilterInfo {
    pub size: u32,
    pub interest: u32,
    pub filter: u64,
    pub flags: u32,
    pub reserved: u32,
}

/// `eddy_library`: what a library offers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Library {
    pub abi: u32,
    pub size: u32,
    pub sdk: Text,
    pub toolchain: Text,
    pub filters: *const Text,
    pub filters_len: u64,
    pub filter_new: unsafe extern "C" fn(Text, Text, u32, *mut FilterInfo, *mut Text) -> i32,
    pub config_new: unsafe extern "C" fn(u64, Text, *mut u64, *mut Text) -> i32,
    pub config_free: unsafe extern "C" fn(u64, u64),
    pub filter_free: unsafe extern "C" fn(u64),
    pub run: unsafe extern "C" fn(*mut Call),
    pub event: unsafe extern "C" fn(*const Event),
    pub stop: Option<unsafe extern "C" fn()>,
}

/// `eddy_library_open_fn`: the one symbol that a library exports.
pub type LibraryOpen = unsafe extern "C" fn(*const Host) -> *const Library;

impl Text {
    /// A text without bytes.
    pub const EMPTY: Self = Self { data: std::ptr::null(), len: 0 };

    /// The bytes of a slice, for as long as it lives.
    #[must_use]
    pub const fn of(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr(), len: bytes.len() }
    }
}

impl Head {
    /// A section without fields.
    pub const EMPTY: Self =
        Self { bytes: std::ptr::null(), fields: std::ptr::null(), bytes_len: 0, fields_len: 0 };
}

impl Metric {
    /// Nowhere.
    pub const NOWHERE: Self = Self { cells: std::ptr::null_mut(), stride: 0, reserved: 0 };
}
