//! DNS client of the control side.

#[cfg(test)]
use std::net::IpAddr;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use eddy_model::ClusterConfig;
use hickory_resolver::config::ResolverOpts;
use hickory_resolver::net::NetError;
use hickory_resolver::system_conf::parse_resolv_conf;
use tokio::runtime::Handle;

use super::follow::Resolution;
use super::source::{ClientSource, Parse};
use super::state::{ResolverState, config_of};

/// Resolves the names of clusters; one per process, on the control side.
///
/// The last good addresses of a name are remembered while a cluster uses it and for an hour after, so that a new
/// configuration with the same name starts with them, even while no name server answers.
#[derive(Clone)]
pub struct Resolver {
    shared: Arc<ResolverState>,
}

/// Error of creating a resolver.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The DNS client could not be created.
    #[error("the DNS client could not be started")]
    Client(#[source] NetError),
}

impl Resolver {
    /// Creates a resolver that follows `/etc/resolv.conf` and `/etc/hosts`; changes of the former are picked up.
    ///
    /// If the file cannot be used, the name server on the local machine is asked, as specified in resolv.conf(5).
    ///
    /// # Errors
    /// `ResolveError::Client` when the DNS client cannot be created.
    pub fn from_system() -> Result<Self, ResolveError> {
        Self::from_file(Path::new("/etc/resolv.conf"), |text| parse_resolv_conf(text))
    }

    /// Creates a resolver with the name servers given in a file.
    pub(crate) fn from_file(path: &Path, parse: Parse) -> Result<Self, ResolveError> {
        Self::new(ClientSource::from_file(path, parse))
    }

    /// Creates a resolver with the given name servers, over UDP, and over TCP for long responses.
    ///
    /// # Errors
    /// `ResolveError::Client` when the DNS client cannot be created.
    pub fn from_name_servers(servers: &[SocketAddr]) -> Result<Self, ResolveError> {
        Self::new(ClientSource::fixed(config_of(servers), ResolverOpts::default()))
    }

    fn new(source: Result<ClientSource, NetError>) -> Result<Self, ResolveError> {
        let shared = ResolverState::new(source.map_err(ResolveError::Client)?);
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Decides reachability of addresses by `has_route`, for tests with addresses that do not exist.
    #[cfg(test)]
    pub(crate) fn with_routes(self, has_route: fn(IpAddr) -> bool) -> Self {
        let mut shared = Arc::into_inner(self.shared).unwrap();
        shared.has_route = has_route;
        Self { shared: Arc::new(shared) }
    }

    /// Starts to resolve the names of `cluster`, on the runtime of `handle`.
    pub fn follow(&self, cluster: &ClusterConfig, handle: &Handle) -> Resolution {
        Resolution::start(&self.shared, cluster, handle)
    }
}
