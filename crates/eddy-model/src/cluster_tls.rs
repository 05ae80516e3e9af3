//! TLS configuration towards endpoints.

use eddy_ids::Shared;

use crate::tls_text::{ServerCheck, SourcePosition, TlsVersion, WrittenPath};

/// TLS settings towards the endpoints of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterTlsConfig {
    /// Name that endpoints are asked for (SNI) and that their certificates must match, a host or an address; by default
    /// the endpoint's own name from its address.
    pub server_name: Option<Shared<str>>,
    /// Whether the name is sent (SNI). Default yes.
    pub sends_name: bool,
    /// Trusted certificate authorities, PEM; by default those of the system.
    pub authorities: Option<WrittenPath>,
    /// Client certificate of eddy, for endpoints that ask for one.
    pub identity: Option<IdentityFiles>,
    /// Verification of endpoint certificates. Default full.
    pub check: ServerCheck,
    /// Minimum TLS version. Default 1.2.
    pub version_min: TlsVersion,
    /// Position of the TLS settings in the configuration.
    pub place: SourcePosition,
}

/// Files of a certificate chain and its private key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityFiles {
    /// Certificate chain, PEM.
    pub chain: WrittenPath,
    /// Private key, PEM.
    pub key: WrittenPath,
}

impl ClusterTlsConfig {
    /// Creates TLS settings with defaults, configured at `place`.
    pub fn new(place: SourcePosition) -> Self {
        Self {
            server_name: None,
            sends_name: true,
            authorities: None,
            identity: None,
            check: ServerCheck::default(),
            version_min: TlsVersion::default(),
            place,
        }
    }

    /// Iterates over all configured files.
    pub fn files(&self) -> impl Iterator<Item = &WrittenPath> {
        let own = self.identity.iter().flat_map(|files| [&files.chain, &files.key]);
        own.chain(&self.authorities)
    }
}
