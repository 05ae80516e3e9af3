//! Names of gRPC statuses.

use eddy_http::GrpcStatus;

use super::choice::{Meaning, choose, info};
use crate::read::{FromScalar, Misfit, WordInfo, WordKind};

/// A gRPC status other than `OK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GrpcFailure(pub(crate) GrpcStatus);

impl FromScalar for GrpcFailure {
    fn parse(text: &str) -> Result<Self, Misfit> {
        choose(text, FAILURES)
    }

    fn info() -> WordInfo {
        info(FAILURES, WordKind::Text)
    }
}

const FAILURES: &[Meaning<GrpcFailure>] = &[
    ("cancelled", GrpcFailure(GrpcStatus::Cancelled), "1, the call was cancelled"),
    ("unknown", GrpcFailure(GrpcStatus::Unknown), "2, nobody knows what went wrong"),
    ("invalid_argument", GrpcFailure(GrpcStatus::InvalidArgument), "3, the client asked for what cannot be"),
    ("deadline_exceeded", GrpcFailure(GrpcStatus::DeadlineExceeded), "4, it took too long"),
    ("not_found", GrpcFailure(GrpcStatus::NotFound), "5, there is no such thing"),
    ("already_exists", GrpcFailure(GrpcStatus::AlreadyExists), "6, there is such a thing"),
    ("permission_denied", GrpcFailure(GrpcStatus::PermissionDenied), "7, the caller may not"),
    ("resource_exhausted", GrpcFailure(GrpcStatus::ResourceExhausted), "8, a quota or room is used up"),
    (
        "failed_precondition",
        GrpcFailure(GrpcStatus::FailedPrecondition),
        "9, the system is not in the state for it",
    ),
    ("aborted", GrpcFailure(GrpcStatus::Aborted), "10, another call came in between"),
    ("out_of_range", GrpcFailure(GrpcStatus::OutOfRange), "11, beyond what there is"),
    ("unimplemented", GrpcFailure(GrpcStatus::Unimplemented), "12, there is no such method"),
    ("internal", GrpcFailure(GrpcStatus::Internal), "13, something is broken"),
    ("unavailable", GrpcFailure(GrpcStatus::Unavailable), "14, the service is not there now"),
    ("data_loss", GrpcFailure(GrpcStatus::DataLoss), "15, data is lost or broken"),
    ("unauthenticated", GrpcFailure(GrpcStatus::Unauthenticated), "16, nobody knows who the caller is"),
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
