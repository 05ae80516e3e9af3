//! Errors of redaction and the responses to them.

use eddy_filter::EditError;
use eddy_protobuf::{ProtobufError, ProtobufErrorKind};

/// HTTP status, gRPC status and description of an error.
#[derive(Clone, Debug)]
pub(super) struct RedactError {
    pub(super) http: u16,
    pub(super) grpc: u32,
    pub(super) why: String,
}

impl RedactError {
    /// Error of a body in an unsupported format.
    pub(super) fn of_form(why: &str) -> Self {
        Self { http: 415, grpc: UNIMPLEMENTED, why: why.to_owned() }
    }

    /// Error of a redacted piece that exceeds the edit limit of a crossing.
    pub(super) fn of_size(error: &EditError) -> Self {
        Self { http: 413, grpc: RESOURCE_EXHAUSTED, why: error.to_string() }
    }

    /// Error of a message that cannot be read. The description omits its content.
    pub(super) fn of_message(fault: &ProtobufError) -> Self {
        let (http, grpc) =
            if matches!(fault.kind, ProtobufErrorKind::MessageTooLarge | ProtobufErrorKind::TooManyItems) {
                (413, RESOURCE_EXHAUSTED)
            } else if fault.kind == ProtobufErrorKind::FrameCompressed {
                (415, UNIMPLEMENTED)
            } else {
                (400, INVALID_ARGUMENT)
            };
        Self { http, grpc, why: format!("a message cannot be redacted: {fault}") }
    }

    /// Converts the error to that of a response, for which the client is not responsible.
    pub(super) fn of_response(&self) -> Self {
        Self { http: 502, grpc: INTERNAL, why: format!("the response was not forwarded: {}", self.why) }
    }
}

const INVALID_ARGUMENT: u32 = 3;
const RESOURCE_EXHAUSTED: u32 = 8;
const UNIMPLEMENTED: u32 = 12;
const INTERNAL: u32 = 13;
