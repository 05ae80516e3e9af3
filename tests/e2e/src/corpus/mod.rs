//! The framing corpus: the case format, and eddy's own cases, based on the RFCs and the known classes of attack.

mod case;
mod request_chunks;
mod request_coding;
mod request_fields;
mod request_host;
mod request_length;
mod request_line;
mod request_sequence;
mod response_body;
mod response_head;
mod shelf;

pub use case::{Expect, FramingCase, FramingCaseKind, read_cases};
pub use shelf::{CaseFile, eddy_case_files};
