//! Checked configuration of certificates ordered through ACME.

use std::path::{Path, PathBuf};

use eddy_model::{SourcePosition, WrittenPath};

/// An ACME certificate authority and the certificates that are ordered from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcmeConfig {
    /// URL of the ACME directory; always `https`.
    pub directory: String,
    /// Contact address for the authority, if any.
    pub email: Option<String>,
    /// Challenge that proves control of a host.
    pub challenge: AcmeChallenge,
    /// Certificate profile; `None` leaves the choice to the authority.
    pub profile: Option<String>,
    /// CA certificates that verify the authority's own certificate, PEM. Default: the system's trust store.
    pub authorities: Option<WrittenPath>,
    /// Directory that stores the account and the certificates of this authority.
    pub folder: PathBuf,
    /// The certificates; each is stored in a file of its own.
    pub certificates: Vec<OrderedCertificate>,
    /// Position in the configuration, for problems that are found later.
    pub place: SourcePosition,
}

/// A certificate that is ordered from the authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderedCertificate {
    /// Hosts of the certificate, in lower case; at least one. The first host names the certificate.
    pub hosts: Vec<String>,
    /// File with the certificate chain and the key; it exists once the certificate is issued.
    pub file: PathBuf,
}

/// Challenge that proves control of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AcmeChallenge {
    /// Within a TLS handshake (RFC 8737).
    #[default]
    TlsAlpn01,
    /// By a response over HTTP (RFC 8555 §8.3).
    Http01,
}

impl AcmeConfig {
    /// Returns the certificate that is stored in `file`, if any; the file need not exist yet.
    pub fn ordered_in(&self, file: &Path) -> Option<&OrderedCertificate> {
        self.certificates.iter().find(|certificate| certificate.file == file)
    }
}
