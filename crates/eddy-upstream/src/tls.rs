//! How endpoints are spoken to over TLS.

use std::sync::Arc;

use eddy_tls::{ServerCheck, TlsVersion, WrittenPath, WrittenPlace};

/// TLS towards the endpoints of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterTlsConfig {
    /// The name that endpoints are asked for and have to show, a host or an address; by default each endpoint's own, as its
    /// address has it.
    pub server_name: Option<Arc<str>>,
    /// Whether endpoints are told the name (SNI). Default yes.
    pub sends_name: bool,
    /// The authorities whose certificates are taken, PEM; by default those of the machine.
    pub authorities: Option<WrittenPath>,
    /// What eddy shows of itself, where endpoints ask for it.
    pub identity: Option<IdentityFiles>,
    /// What an endpoint has to show. Default everything.
    pub check: ServerCheck,
    /// The least version. Default 1.2.
    pub version_min: TlsVersion,
    /// Where the configuration says that there is TLS.
    pub place: WrittenPlace,
}

/// The files of a chain of certificates and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityFiles {
    /// The chain, PEM.
    pub chain: WrittenPath,
    /// The key, PEM.
    pub key: WrittenPath,
}

impl ClusterTlsConfig {
    /// TLS with every default, said at `place`.
    pub fn new(place: WrittenPlace) -> Self {
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

    /// Every file that is named.
    pub fn files(&self) -> impl Iterator<Item = &WrittenPath> {
        let own = self.identity.iter().flat_map(|files| [&files.chain, &files.key]);
        own.chain(&self.authorities)
    }
}
