//! Errors of redaction and the responses to them.

use eddy_filter::EditError;
use eddy_http::GrpcStatus;
use eddy_protobuf::{ProtobufError, ProtobufErrorKind};

/// HTTP status, gRPC status and description of an error.
#[derive(Clone, Debug)]
pub(super) struct RedactError {
    pub(super) http: u16,
    pub(super) grpc: GrpcStatus,
    pub(super) why: String,
}

impl RedactError {
    /// Error of a body in an unsupported format.
    pub(super) fn of_form(why: &str) -> Self {
        Self { http: 415, grpc: GrpcStatus::Unimplemented, why: why.to_owned() }
    }

    /// Error of a redacted piece that exceeds the edit limit of a crossing.
    pub(super) fn of_size(error: &EditError) -> Self {
        Self { http: 413, grpc: GrpcStatus::ResourceExhausted, why: error.to_string() }
    }

    /// Error of a message that cannot be read. The description omits its content.
    pub(super) fn of_message(fault: &ProtobufError) -> Self {
        let (http, grpc) =
            if matches!(fault.kind, ProtobufErrorKind::MessageTooLarge | ProtobufErrorKind::TooManyItems) {
                (413, GrpcStatus::ResourceExhausted)
            } else if fault.kind == ProtobufErrorKind::FrameCompressed {
                (415, GrpcStatus::Unimplemented)
            } else {
                (400, GrpcStatus::InvalidArgument)
            };
        Self { http, grpc, why: format!("a message cannot be redacted: {fault}") }
    }

    /// Converts the error to that of a response, for which the client is not responsible.
    pub(super) fn of_response(&self) -> Self {
        Self {
            http: 502,
            grpc: GrpcStatus::Internal,
            why: format!("the response was not forwarded: {}", self.why),
        }
    }
}
