//! Settings of certificate orders: the certificates and the authority.

use std::path::PathBuf;

use eddy_tls::ClientTls;

/// Settings of certificate orders: the certificates and the authority.
#[derive(Clone, Debug)]
pub struct AcmeSettings {
    /// URL of the authority's ACME directory (`https`).
    pub directory: String,
    /// Contact address given to the authority, if any.
    pub email: Option<String>,
    /// Challenge type.
    pub challenge: ChallengeKind,
    /// Certificate profile; `None` leaves the choice to the authority.
    pub profile: Option<String>,
    /// Folder of the account and of the issued certificates.
    pub folder: PathBuf,
    /// Certificates to order.
    pub certificates: Vec<CertificateSpec>,
    /// TLS settings that verify the authority.
    pub tls: ClientTls,
}

/// Certificate to order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateSpec {
    /// Hosts in lower case; at least one. The first one names the certificate.
    pub hosts: Vec<String>,
    /// File of the certificate chain and its key.
    pub file: PathBuf,
}

/// ACME challenge type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChallengeKind {
    /// Validation by a TLS handshake (RFC 8737).
    TlsAlpn01,
    /// Validation by an HTTP response (RFC 8555 §8.3).
    Http01,
}

impl ChallengeKind {
    /// Returns the name in the ACME protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::TlsAlpn01 => "tls-alpn-01",
            Self::Http01 => "http-01",
        }
    }
}

impl AcmeSettings {
    /// Whether both request the same certificates from the same authority in the same way.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let Self { directory, email, challenge, profile, folder, certificates, tls } = self;
        *directory == other.directory
            && *email == other.email
            && *challenge == other.challenge
            && *profile == other.profile
            && *folder == other.folder
            && *certificates == other.certificates
            && tls.is_same(&other.tls)
    }
}

impl CertificateSpec {
    /// Returns the name of the certificate: its first host.
    pub(crate) fn name(&self) -> &str {
        self.hosts.first().map_or("", String::as_str)
    }
}
