//! Names of gRPC statuses.

use eddy_http::GrpcStatus;

use super::choice::{Meaning, keywords};

/// A gRPC status other than `OK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrpcFailure(pub GrpcStatus);

keywords! {
    GrpcFailure: FAILURES;
}

const FAILURES: &[Meaning<GrpcFailure>] = &[
    ("cancelled", GrpcFailure(GrpcStatus::Cancelled), "1, the operation was cancelled"),
    ("unknown", GrpcFailure(GrpcStatus::Unknown), "2, unknown error"),
    (
        "invalid_argument",
        GrpcFailure(GrpcStatus::InvalidArgument),
        "3, the client specified an invalid argument",
    ),
    (
        "deadline_exceeded",
        GrpcFailure(GrpcStatus::DeadlineExceeded),
        "4, the deadline expired before the operation completed",
    ),
    ("not_found", GrpcFailure(GrpcStatus::NotFound), "5, a requested entity was not found"),
    (
        "already_exists",
        GrpcFailure(GrpcStatus::AlreadyExists),
        "6, the entity that the client attempted to create already exists",
    ),
    (
        "permission_denied",
        GrpcFailure(GrpcStatus::PermissionDenied),
        "7, the caller does not have permission to execute the operation",
    ),
    (
        "resource_exhausted",
        GrpcFailure(GrpcStatus::ResourceExhausted),
        "8, a resource is exhausted, such as a quota or disk space",
    ),
    (
        "failed_precondition",
        GrpcFailure(GrpcStatus::FailedPrecondition),
        "9, the system is not in a state required for the operation",
    ),
    (
        "aborted",
        GrpcFailure(GrpcStatus::Aborted),
        "10, the operation was aborted, typically due to a concurrency issue",
    ),
    (
        "out_of_range",
        GrpcFailure(GrpcStatus::OutOfRange),
        "11, the operation was attempted past the valid range",
    ),
    ("unimplemented", GrpcFailure(GrpcStatus::Unimplemented), "12, the operation is not implemented"),
    ("internal", GrpcFailure(GrpcStatus::Internal), "13, internal error"),
    ("unavailable", GrpcFailure(GrpcStatus::Unavailable), "14, the service is currently unavailable"),
    ("data_loss", GrpcFailure(GrpcStatus::DataLoss), "15, unrecoverable data loss or corruption"),
    (
        "unauthenticated",
        GrpcFailure(GrpcStatus::Unauthenticated),
        "16, the request has no valid authentication credentials",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_but_the_good_one_has_its_word() {
        let words: Vec<_> = FAILURES.iter().map(|(word, failure, _)| (*word, failure.0)).collect();
        let expected: Vec<_> =
            GrpcStatus::ALL.iter().skip(1).map(|status| (status.name(), *status)).collect();
        assert_eq!(words, expected);
    }
}
