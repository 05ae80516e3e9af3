//! What is ordered, and from whom.

use std::path::PathBuf;

use eddy_tls::ClientTls;

/// What is ordered, and from whom.
#[derive(Clone, Debug)]
pub struct AcmeSettings {
    /// Where the authority says how it is to be asked: an `https` URL.
    pub directory: String,
    /// Whom the authority may write to, if anybody.
    pub email: Option<String>,
    /// How names are proven.
    pub challenge: ChallengeKind,
    /// The kind of certificate, if not the authority's choice.
    pub profile: Option<String>,
    /// Where the account and what was ordered are kept.
    pub folder: PathBuf,
    /// The certificates.
    pub certificates: Vec<CertificateSpec>,
    /// What the authority has to show of itself.
    pub tls: ClientTls,
}

/// A certificate that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateSpec {
    /// The hosts that it is for, in lower case; at least one, by the first of which it is called.
    pub hosts: Vec<String>,
    /// The file for its chain and key.
    pub file: PathBuf,
}

/// How names are proven to an authority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChallengeKind {
    /// In a handshake of TLS (RFC 8737).
    TlsAlpn01,
    /// By an answer over HTTP (RFC 8555 §8.3).
    Http01,
}

impl ChallengeKind {
    /// Its name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Self::TlsAlpn01 => "tls-alpn-01",
            Self::Http01 => "http-01",
        }
    }
}

impl AcmeSettings {
    /// Whether both want the same, of the same authority and in the same way.
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
    /// What it is called: the first of its hosts.
    pub(crate) fn name(&self) -> &str {
        self.hosts.first().map_or("", String::as_str)
    }
}
