//! Errors of certificate orders and of the certificate store.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use eddy_tls::IdentityError;
use thiserror::Error;

/// Why an order failed.
#[derive(Debug, Error)]
pub(crate) enum OrderError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The authority cannot be reached or refuses the request.
    #[error("{}", rejection(.0))]
    Authority(#[from] instant_acme::Error),
    /// The authority could not validate a host, and states a reason.
    #[error("the authority could not validate `{host}`: {reason}")]
    Unproven { host: String, reason: String },
    #[error("the authority does not offer the challenge {kind} for `{host}`")]
    Kind { kind: &'static str, host: String },
    #[error("the order did not finish within {0:?}")]
    Slow(Duration),
    #[error("the challenge certificate cannot be created: {0}")]
    Proof(#[from] rcgen::Error),
    #[error("the key of the challenge certificate cannot be used: {0}")]
    ProofKey(#[from] rustls::Error),
    #[error("the issued certificate cannot be used: {0}")]
    Issued(#[from] IdentityError),
    #[error("the issued certificate does not cover all ordered hosts")]
    Foreign,
}

impl OrderError {
    /// Whether the authority does not know the account (any more).
    pub(crate) fn is_unknown_account(&self) -> bool {
        self.is_problem("accountDoesNotExist")
    }

    /// Whether the authority's rate limit was exceeded.
    pub(crate) fn is_rate_limit(&self) -> bool {
        self.is_problem("rateLimited")
    }

    fn is_problem(&self, kind: &str) -> bool {
        let Self::Authority(instant_acme::Error::Api(problem)) = self else { return false };
        problem.r#type.as_deref().and_then(|text| text.strip_prefix("urn:ietf:params:acme:error:"))
            == Some(kind)
    }
}

/// Why the certificate store cannot be used.
#[derive(Debug, Error)]
pub(crate) enum StoreError {
    #[error("`{}` cannot be {did}: {source}", path.display())]
    File {
        path: PathBuf,
        /// Operation that failed, as a participle.
        did: &'static str,
        source: io::Error,
    },
    #[error(
        "`{}` is not a valid account file: {source}; restore it, or remove it, and eddy creates another account",
        path.display()
    )]
    Account { path: PathBuf, source: serde_json::Error },
}

impl StoreError {
    /// Returns a function for `map_err` that wraps the failure of an operation on a file.
    pub(crate) fn at<'p>(path: &'p Path, did: &'static str) -> impl FnOnce(io::Error) -> Self + 'p {
        move |source| Self::File { path: path.to_owned(), did, source }
    }
}

/// Returns the authority's problem text without the prefix that the ACME library adds.
fn rejection(error: &instant_acme::Error) -> String {
    if let instant_acme::Error::Json(error) = error {
        return format!("the response of the authority cannot be parsed: {error}");
    }
    let instant_acme::Error::Api(problem) = error else {
        return format!("the request to the authority failed: {error}");
    };
    let kind = problem.r#type.as_deref().unwrap_or("no problem type");
    let detail = problem.detail.as_deref().unwrap_or("no reason given");
    let more: Vec<String> = problem.subproblems.iter().map(ToString::to_string).collect();
    let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join("; ")) };
    format!("the authority rejects the request: {detail}{more} ({kind})")
}
