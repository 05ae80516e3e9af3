//! Why an order comes to nothing.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use eddy_tls::IdentityError;
use thiserror::Error;

/// Why an order comes to nothing.
#[derive(Debug, Error)]
pub(crate) enum OrderError {
    /// The folder does not do.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The authority cannot be asked, or refuses.
    #[error("{}", told(.0))]
    Authority(#[from] instant_acme::Error),
    /// The authority could not see that a host is served here, and says why.
    #[error("the authority could not see that `{host}` is served here: {reason}")]
    Unproven {
        /// The host.
        host: String,
        /// What the authority says.
        reason: String,
    },
    /// The authority does not take this kind of proof for a host.
    #[error("the authority takes no proof by {kind} for `{host}`")]
    Kind {
        /// The kind.
        kind: &'static str,
        /// The host.
        host: String,
    },
    /// The order took too long.
    #[error("the order has not come to an end within {0:?}")]
    Slow(Duration),
    /// No certificate for a challenge can be made.
    #[error("no certificate can be made to prove a host by: {0}")]
    Proof(#[from] rcgen::Error),
    /// The key of such a certificate cannot be used.
    #[error("no handshake can be made to prove a host by: {0}")]
    ProofKey(#[from] rustls::Error),
    /// What was issued cannot be used.
    #[error("what the authority has issued cannot be used: {0}")]
    Issued(#[from] IdentityError),
    /// What was issued is for other hosts.
    #[error("what the authority has issued is not for all of the hosts that were ordered")]
    Foreign,
}

impl OrderError {
    /// Whether the authority does not know the account, as after it has lost it.
    pub(crate) fn is_unknown_account(&self) -> bool {
        self.is_problem("accountDoesNotExist")
    }

    /// Whether the authority wants to be left alone for a while.
    pub(crate) fn is_rate_limit(&self) -> bool {
        self.is_problem("rateLimited")
    }

    fn is_problem(&self, kind: &str) -> bool {
        let Self::Authority(instant_acme::Error::Api(problem)) = self else { return false };
        problem.r#type.as_deref().and_then(|text| text.strip_prefix("urn:ietf:params:acme:error:"))
            == Some(kind)
    }
}

/// Why the folder of accounts and certificates does not do.
#[derive(Debug, Error)]
pub(crate) enum StoreError {
    /// Something cannot be read or written.
    #[error("`{}` cannot be {did}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What was to be done with it.
        did: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The account is not one.
    #[error(
        "`{}` holds no account: {source}; put back what was there, or remove it, and eddy opens another account",
        path.display()
    )]
    Account {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
}

impl StoreError {
    /// What can't be done with a file, for `map_err`.
    pub(crate) fn at<'p>(path: &'p Path, did: &'static str) -> impl FnOnce(io::Error) -> Self + 'p {
        move |source| Self::File { path: path.to_owned(), did, source }
    }
}

/// What the authority says, without the words that the library puts before it.
fn told(error: &instant_acme::Error) -> String {
    if let instant_acme::Error::Json(error) = error {
        return format!("what the authority says cannot be read: {error}");
    }
    let instant_acme::Error::Api(problem) = error else {
        return format!("the authority cannot be asked: {error}");
    };
    let kind = problem.r#type.as_deref().unwrap_or("no kind of problem");
    let detail = problem.detail.as_deref().unwrap_or("without a reason");
    let more: Vec<String> = problem.subproblems.iter().map(ToString::to_string).collect();
    let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join("; ")) };
    format!("the authority refuses: {detail}{more} ({kind})")
}
