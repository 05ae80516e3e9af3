//! DNS client of the control side: name servers, concurrent lookups and remembered answers.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::NetError;
use hickory_resolver::system_conf::parse_resolv_conf;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::client::{self, AddressLookup};
use super::follow::Resolution;
use super::name::LastGoodAnswer;
use super::source::{ClientSource, Parse};
use crate::config::{ClusterConfig, DnsConfig};

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

/// State shared by the tasks of all names.
pub(super) struct ResolverState {
    source: ClientSource,
    started: Instant,
    lookups: Semaphore,
    remembered: Mutex<HashMap<AskedName, Arc<Mutex<LastGoodAnswer>>>>,
    has_route: fn(IpAddr) -> bool,
}

/// A name, and the name servers that are asked for it; empty for those of the system.
type AskedName = (Arc<[SocketAddr]>, Arc<str>);

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
        let shared = ResolverState {
            source: source.map_err(ResolveError::Client)?,
            started: Instant::now(),
            lookups: Semaphore::new(LOOKUPS_MAX),
            remembered: Mutex::default(),
            has_route,
        };
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

impl ResolverState {
    /// Looks up a name, with `own` if the cluster has its own name servers.
    pub(super) async fn look_up(
        &self,
        own: Option<&ClientSource>,
        host: &str,
        dns: &DnsConfig,
    ) -> AddressLookup {
        let _permit = self.lookups.acquire().await;
        client::look_up(&own.unwrap_or(&self.source).client(), host, dns).await
    }

    /// Returns the time since the resolver was created.
    pub(super) fn now(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns the storage of the last good answer of these name servers for `host`, shared by all clusters that use
    /// the name.
    pub(super) fn remember(
        &self,
        servers: &Arc<[SocketAddr]>,
        host: &Arc<str>,
    ) -> Arc<Mutex<LastGoodAnswer>> {
        let now = self.now();
        let mut remembered = lock(&self.remembered);
        let is_full = remembered.len() >= REMEMBERED_MAX;
        remembered.retain(|_, known| {
            // The task that resolves the name holds the other reference.
            let is_followed = Arc::strong_count(known) > 1;
            is_followed || (!is_full && lock(known).was_good_within(now, MEMORY))
        });
        Arc::clone(remembered.entry((Arc::clone(servers), Arc::clone(host))).or_default())
    }

    /// Removes the family to which this machine has no route, unless it is the only one.
    pub(super) fn prefer_reachable(&self, addresses: Vec<IpAddr>) -> Vec<IpAddr> {
        let (v4, v6): (Vec<IpAddr>, Vec<IpAddr>) = addresses.into_iter().partition(IpAddr::is_ipv4);
        let is_reachable =
            |family: &[IpAddr]| family.first().is_some_and(|address| (self.has_route)(*address));
        match (is_reachable(&v4), is_reachable(&v6)) {
            (true, false) => v4,
            (false, true) => v6,
            (true, true) | (false, false) => [v4, v6].concat(),
        }
    }
}

/// Creates a client for these name servers only; it ignores the hosts file of this machine.
pub(super) fn client_of(servers: &[SocketAddr]) -> Result<ClientSource, NetError> {
    let mut options = ResolverOpts::default();
    options.use_hosts_file = ResolveHosts::Never;
    ClientSource::fixed(config_of(servers), options)
}

/// Returns a client configuration with these name servers only.
pub(crate) fn config_of(servers: &[SocketAddr]) -> ResolverConfig {
    let servers = servers.iter().map(|server| {
        let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
            connection.port = server.port();
            connection
        });
        NameServerConfig::new(server.ip(), true, connections.into())
    });
    ResolverConfig::from_name_servers(servers.collect())
}

/// Locks the mutex. Ignores poisoning: the data under these locks is consistent even after a panic.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the kernel has a route to `address`; sends nothing.
///
/// # Spec
/// RFC 6724 §5, rule 1: avoid unusable destinations.
fn has_route(address: IpAddr) -> bool {
    let local: SocketAddr = if address.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
    UdpSocket::bind(local).is_ok_and(|socket| socket.connect((address, DISCARD_PORT)).is_ok())
}

/// Maximum concurrent lookups.
pub const LOOKUPS_MAX: usize = 64;
/// Number of remembered names from which on unused ones are forgotten.
const REMEMBERED_MAX: usize = 10_000;
/// Time that an unused name is remembered.
const MEMORY: Duration = Duration::from_secs(3600);
const DISCARD_PORT: u16 = 9;
