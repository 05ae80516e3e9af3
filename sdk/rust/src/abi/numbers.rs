//! Constants of the filter ABI, with the header's names without `EDDY_`.
#![expect(missing_docs, reason = "the header documents the numbers, and the names are the same")]

pub const ABI: u32 = 1;

// enum eddy_phase
pub const REQUEST_HEAD: u8 = 0;
pub const REQUEST_BODY: u8 = 1;
pub const REQUEST_TRAILERS: u8 = 2;
pub const RESPONSE_HEAD: u8 = 3;
pub const RESPONSE_BODY: u8 = 4;
pub const RESPONSE_TRAILERS: u8 = 5;
pub const LOG: u8 = 6;
pub const END: u8 = 7;

// enum eddy_verdict
pub const CONTINUE: u8 = 0;
pub const REPLY: u8 = 1;
pub const PAUSE: u8 = 2;
pub const BUFFER: u8 = 3;
pub const FAULT: u8 = 4;
pub const RESET: u8 = 5;

// enum eddy_edit_op
pub const EDIT_SET: u16 = 1;
pub const EDIT_ADD: u16 = 2;
pub const EDIT_REMOVE: u16 = 3;
pub const EDIT_METHOD: u16 = 4;
pub const EDIT_TARGET: u16 = 5;
pub const EDIT_AUTHORITY: u16 = 6;
pub const EDIT_STATUS: u16 = 7;
pub const EDIT_BODY_SET: u16 = 8;
pub const EDIT_BODY_APPEND: u16 = 9;
pub const EDIT_BODY_PREPEND: u16 = 10;
pub const EDIT_BODY_DRAIN: u16 = 11;
pub const EDIT_REPLY: u16 = 12;
pub const EDIT_REPLY_FIELD: u16 = 13;
pub const EDIT_METADATA: u16 = 14;
pub const EDIT_CLEAR_ROUTE: u16 = 15;
pub const EDIT_ENDPOINT: u16 = 16;
pub const EDIT_FAULT: u16 = 17;
pub const EDIT_REPLY_GRPC: u16 = 18;
pub const EDIT_TRAILER: u16 = 19;

// enum eddy_end_reason
pub const END_COMPLETE: u32 = 0;
pub const END_CUT: u32 = 1;

// enum eddy_method
pub const METHOD_OTHER: u8 = 0;
pub const METHOD_GET: u8 = 1;
pub const METHOD_HEAD: u8 = 2;
pub const METHOD_POST: u8 = 3;
pub const METHOD_PUT: u8 = 4;
pub const METHOD_DELETE: u8 = 5;
pub const METHOD_CONNECT: u8 = 6;
pub const METHOD_OPTIONS: u8 = 7;
pub const METHOD_TRACE: u8 = 8;
pub const METHOD_PATCH: u8 = 9;

// enum eddy_result
pub const OK: i32 = 0;
pub const GONE: i32 = -1;
pub const STALE: i32 = -2;
pub const TOO_LARGE: i32 = -3;
pub const FULL: i32 = -4;
pub const INVALID: i32 = -5;
pub const UNKNOWN: i32 = -6;

// enum eddy_level
pub const TRACE: u32 = 0;
pub const DEBUG: u32 = 1;
pub const INFO: u32 = 2;
pub const WARN: u32 = 3;
pub const ERROR: u32 = 4;
pub const OFF: u32 = 5;

// enum eddy_metric_kind
pub const COUNTER: u32 = 0;
pub const GAUGE: u32 = 1;
pub const HISTOGRAM: u32 = 2;

// enum eddy_event_kind
pub const EVENT_RESPONSE: u32 = 1;
pub const EVENT_FAILED: u32 = 2;

// Flags, and the kinds of unknown fields.
pub const FIELD_NOMINATED: u8 = 1;
pub const CALL_END: u8 = 1;
pub const CALL_SAMPLED: u8 = 2;
pub const CALL_LOCAL: u8 = 4;
pub const CALL_BUFFERED: u8 = 8;
pub const CALL_TLS: u8 = 16;
pub const STEP_BLOCKING: u8 = 1;
pub const FILTER_READS_BODY: u32 = 1;
pub const FILTER_EXPECTS_TUNNELS: u32 = 2;
pub const LIBRARY_ASKS_ABOUT: u32 = 1;
