//! The part of the checked configuration that is about TLS.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use eddy_tls::TlsVersion;

use crate::problem::{Problem, Severity};

/// How a listener is served over TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerTlsConfig {
    /// The certificates and their keys, in the order of preference; at least one.
    pub certificates: Vec<CertificateFiles>,
    /// Whether clients are turned away that ask for a host which no certificate is for. Default no.
    pub is_strict: bool,
    /// The least version. Default 1.2.
    pub version_min: TlsVersion,
    /// Whether and how clients are asked for a certificate. Default not at all.
    pub clients: Option<ClientCertificatesConfig>,
    /// Longest time to the end of a handshake. Default 5 s.
    pub handshake_timeout: Duration,
}

/// The files of a chain of certificates and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The chain, PEM.
    pub chain: WrittenPath,
    /// The key, PEM.
    pub key: WrittenPath,
    /// An OCSP response, DER.
    pub ocsp: Option<WrittenPath>,
}

impl CertificateFiles {
    fn all(&self) -> impl Iterator<Item = &WrittenPath> {
        [&self.chain, &self.key].into_iter().chain(&self.ocsp)
    }
}

/// How clients show who they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificatesConfig {
    /// The authorities, PEM.
    pub authorities: WrittenPath,
    /// Whether clients without a certificate are served as well. Default no.
    pub is_optional: bool,
}

/// A file, and where the configuration names it, for problems that show when it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenPath {
    /// The file; a relative path was taken from where the configuration file lies.
    pub path: PathBuf,
    /// The configuration file.
    pub file: Arc<str>,
    /// Line of the name in it, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Length of the name, characters.
    pub length: u32,
}

impl WrittenPath {
    /// A problem with the file, at the place where it is named.
    pub fn problem(&self, severity: Severity, message: impl fmt::Display, hint: Option<String>) -> Problem {
        Problem {
            path: Arc::clone(&self.file),
            line: self.line,
            column: self.column,
            length: self.length,
            severity,
            message: format!("`{}`: {message}", self.path.display()),
            hint,
        }
    }
}

impl ListenerTlsConfig {
    /// Every file that is named.
    pub fn files(&self) -> impl Iterator<Item = &WrittenPath> {
        let clients = self.clients.iter().map(|clients| &clients.authorities);
        self.certificates.iter().flat_map(CertificateFiles::all).chain(clients)
    }
}
