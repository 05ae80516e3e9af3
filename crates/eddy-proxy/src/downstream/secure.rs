//! TLS properties of a client.

use eddy_io::TlsFacts;
use eddy_tls::ClientCertificate;

/// TLS properties of a client.
#[derive(Debug)]
pub(crate) struct SecureClient {
    pub(crate) facts: TlsFacts,
    /// The client's verified certificate, if it has sent one.
    pub(crate) certificate: Option<ClientCertificate>,
}

impl SecureClient {
    /// Returns the client certificate in the form forwarded to upstreams; empty without a certificate.
    pub(crate) fn forwarded(&self) -> &str {
        self.certificate.as_ref().map_or("", |certificate| &certificate.forwarded)
    }
}
