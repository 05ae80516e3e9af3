//! Why TLS settings are rejected.

use rustls::server::VerifierBuilderError;
use thiserror::Error;

use crate::identity::IdentityError;

/// Error in TLS settings.
#[derive(Debug, Error)]
pub enum TlsError {
    /// The authorities cannot be parsed.
    #[error("{0}")]
    Authorities(IdentityError),
    /// The certificate at this position, from 1, is not that of an authority.
    #[error("certificate {0} in it is not a CA certificate: {1}")]
    Authority(usize, rustls::Error),
    /// No authority is usable.
    #[error("there is no usable CA certificate in it")]
    NoAuthority,
    /// The server name is invalid.
    #[error("`{0}` is neither a host name nor an IP address")]
    Name(String),
    /// Certificates cannot be verified with these authorities and revocation lists.
    #[error("certificates cannot be verified with it: {0}")]
    Verifier(VerifierBuilderError),
    /// The TLS library rejects the settings.
    #[error(transparent)]
    Settings(#[from] rustls::Error),
}
