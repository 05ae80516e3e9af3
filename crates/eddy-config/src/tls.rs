//! Checked configuration of TLS on listeners.

use std::time::Duration;

use eddy_model::{TlsVersion, WrittenPath};

/// TLS settings of a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerTlsConfig {
    /// Certificates and their keys, in order of preference; at least one.
    pub certificates: Vec<CertificateFiles>,
    /// Whether clients are rejected whose server name (SNI) matches no certificate, or that send none. Default no.
    pub is_strict: bool,
    /// Minimum TLS version. Default 1.2.
    pub version_min: TlsVersion,
    /// Client certificate settings (mTLS). Default: clients are not asked for a certificate.
    pub clients: Option<ClientCertificatesConfig>,
    /// Maximum time until the TLS handshake is complete. Default 5 s.
    pub handshake_timeout: Duration,
}

/// Files of a certificate chain and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// Certificate chain, PEM.
    pub chain: WrittenPath,
    /// Private key, PEM.
    pub key: WrittenPath,
    /// OCSP response, DER.
    pub ocsp: Option<WrittenPath>,
    /// Hosts that the certificate is used for, instead of the names in it: a leading `*.` matches any number of labels,
    /// `*` every host. Default: the names in the certificate.
    pub hosts: Option<Vec<String>>,
}

impl CertificateFiles {
    fn all(&self) -> impl Iterator<Item = &WrittenPath> {
        [&self.chain, &self.key].into_iter().chain(&self.ocsp)
    }
}

/// Client certificate settings (mTLS).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificatesConfig {
    /// Certificate authorities, PEM.
    pub authorities: WrittenPath,
    /// Whether clients without a certificate are served as well. Default no.
    pub is_optional: bool,
    /// Certificate revocation lists of the authorities, PEM. Default none.
    pub revoked: Option<WrittenPath>,
}

impl ListenerTlsConfig {
    /// Returns settings with these certificates and defaults for everything else.
    pub fn new(certificates: Vec<CertificateFiles>) -> Self {
        Self {
            certificates,
            is_strict: false,
            version_min: TlsVersion::default(),
            clients: None,
            handshake_timeout: HANDSHAKE_TIMEOUT,
        }
    }

    /// Returns every file that is named.
    pub fn files(&self) -> impl Iterator<Item = &WrittenPath> {
        let clients = self.clients.iter();
        let clients = clients.flat_map(|clients| [&clients.authorities].into_iter().chain(&clients.revoked));
        self.certificates.iter().flat_map(CertificateFiles::all).chain(clients)
    }
}

const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
