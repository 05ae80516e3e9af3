//! The part of the checked configuration that is about TLS.

use std::time::Duration;

use eddy_tls::{TlsVersion, WrittenPath};

/// How a listener is served over TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerTlsConfig {
    /// The certificates and their keys, in the order of preference; at least one.
    pub certificates: Vec<CertificateFiles>,
    /// Whether clients are turned away that ask for a host which no certificate is for, or for none. Default no.
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
    /// The hosts that it is shown for instead of those that it names: `*.` in front stands for any number of labels, `*`
    /// for every host. Default those that it names.
    pub hosts: Option<Vec<String>>,
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
    /// The certificates that are taken no longer: lists of the authorities, PEM. Default none.
    pub revoked: Option<WrittenPath>,
}

impl ListenerTlsConfig {
    /// These certificates, and else what holds unless the configuration says otherwise.
    pub fn new(certificates: Vec<CertificateFiles>) -> Self {
        Self {
            certificates,
            is_strict: false,
            version_min: TlsVersion::default(),
            clients: None,
            handshake_timeout: HANDSHAKE_TIMEOUT,
        }
    }

    /// Every file that is named.
    pub fn files(&self) -> impl Iterator<Item = &WrittenPath> {
        let clients = self.clients.iter();
        let clients = clients.flat_map(|clients| [&clients.authorities].into_iter().chain(&clients.revoked));
        self.certificates.iter().flat_map(CertificateFiles::all).chain(clients)
    }
}

const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
