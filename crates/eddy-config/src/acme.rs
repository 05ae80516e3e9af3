//! The part of the checked configuration that is about certificates that are ordered.

use std::path::{Path, PathBuf};

use eddy_tls::{WrittenPath, WrittenPlace};

/// The authority that certificates are ordered from, and which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcmeConfig {
    /// Where it says how it is to be asked: an `https` URL.
    pub directory: String,
    /// Whom it may write to, if anybody.
    pub email: Option<String>,
    /// How hosts are proven to be served here.
    pub challenge: AcmeChallenge,
    /// The kind of certificate, if not the authority's choice.
    pub profile: Option<String>,
    /// Who vouches for the authority, PEM; the authorities of the machine by default.
    pub authorities: Option<WrittenPath>,
    /// Where the account and certificates of this authority are kept.
    pub folder: PathBuf,
    /// The certificates; no two are kept in one file.
    pub certificates: Vec<OrderedCertificate>,
    /// Where all of this is written, for problems that show later.
    pub place: WrittenPlace,
}

/// A certificate that is ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderedCertificate {
    /// The hosts that it is for, in lower case; at least one, by the first of which it is called.
    pub hosts: Vec<String>,
    /// The file with its chain and key, once there is one.
    pub file: PathBuf,
}

/// How hosts are proven to be served here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AcmeChallenge {
    /// In a handshake of TLS (RFC 8737).
    #[default]
    TlsAlpn01,
    /// By an answer over HTTP (RFC 8555 §8.3).
    Http01,
}

impl AcmeConfig {
    /// The certificate that is kept in this file, if one is; the file need not be there yet.
    pub fn ordered_in(&self, file: &Path) -> Option<&OrderedCertificate> {
        self.certificates.iter().find(|certificate| certificate.file == file)
    }
}
