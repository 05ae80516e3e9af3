//! Name servers that resolve names while requests arrive.

use std::net::SocketAddr;
use std::time::Duration;

use eddy_model::{AddressFamilies, ClusterConfig};

/// Name servers and their settings.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct NameServers {
    pub(super) servers: Vec<SocketAddr>,
    /// Lifetime of an answer, whatever the TTL of its records.
    pub(super) valid: Option<Duration>,
    pub(super) families: AddressFamilies,
    /// `resolver_timeout`
    pub(super) timeout: Duration,
}

impl NameServers {
    /// Returns the same name servers with this `resolver_timeout`.
    pub(super) fn within(&self, timeout: Duration) -> Self {
        Self { timeout, ..self.clone() }
    }

    /// Makes a cluster use these name servers and no others.
    pub(super) fn serve(&self, cluster: &mut ClusterConfig) {
        cluster.name_servers = self.servers.as_slice().into();
        cluster.dns.families = self.families;
        cluster.dns.timeout = self.timeout;
        if let Some(valid) = self.valid {
            cluster.dns.refresh_min = valid;
            cluster.dns.refresh_max = valid;
        }
    }
}
