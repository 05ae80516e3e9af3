//! Why an exchange can't go on, and how that is told.

use eddy_protobuf::{ProtobufError, ProtobufErrorKind};

use crate::edit::EditError;

/// A status of HTTP, one of gRPC, and a sentence.
#[derive(Clone, Debug)]
pub(super) struct RedactError {
    pub(super) http: u16,
    pub(super) grpc: u32,
    pub(super) why: String,
}

impl RedactError {
    /// Messages stand in a form that is not looked into.
    pub(super) fn of_form(why: &str) -> Self {
        Self { http: 415, grpc: UNIMPLEMENTED, why: why.to_owned() }
    }

    /// What is left of a piece is more than a crossing can hand over.
    pub(super) fn of_size(error: &EditError) -> Self {
        Self { http: 413, grpc: RESOURCE_EXHAUSTED, why: error.to_string() }
    }

    /// A message can't be read. What stands in it is not told.
    pub(super) fn of_message(fault: &ProtobufError) -> Self {
        let (http, grpc) =
            if matches!(fault.kind, ProtobufErrorKind::MessageTooLarge | ProtobufErrorKind::TooManyItems) {
                (413, RESOURCE_EXHAUSTED)
            } else if fault.kind == ProtobufErrorKind::FrameCompressed {
                (415, UNIMPLEMENTED)
            } else {
                (400, INVALID_ARGUMENT)
            };
        Self { http, grpc, why: format!("a message can't be redacted: {fault}") }
    }

    /// The same of a response, for which the client is not to blame.
    pub(super) fn of_response(&self) -> Self {
        Self { http: 502, grpc: INTERNAL, why: format!("the response is not passed on: {}", self.why) }
    }
}

const INVALID_ARGUMENT: u32 = 3;
const RESOURCE_EXHAUSTED: u32 = 8;
const UNIMPLEMENTED: u32 = 12;
const INTERNAL: u32 = 13;
