//! Addresses that Ingresses are served at.

use eddy_config::{CertificateFiles, ListenAddress};

/// Listen addresses of Ingresses, and the certificates shown there.
#[derive(Debug)]
pub(super) struct Addresses {
    /// Addresses without TLS.
    pub(super) plain: Vec<ListenAddress>,
    pub(super) secure: Vec<ListenAddress>,
    /// TLS certificates.
    pub(super) certificates: Vec<CertificateFiles>,
}

impl Addresses {
    /// Returns the addresses with TLS; none without a certificate.
    pub(super) fn secure(&self) -> &[ListenAddress] {
        if self.certificates.is_empty() { &[] } else { &self.secure }
    }
}

/// Port of Ingresses without TLS.
pub(super) const PORT: u16 = 80;

/// Port of Ingresses with TLS.
pub(super) const TLS_PORT: u16 = 443;
