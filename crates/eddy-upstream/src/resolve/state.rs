//! State that the tasks of all names share: name servers, concurrent lookups and remembered answers.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use eddy_ids::Shared;
use eddy_io::monotonic_time;
use eddy_model::DnsConfig;
use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::NetError;
use tokio::sync::Semaphore;

use super::client::{self, AddressLookup};
use super::lock::lock;
use super::name::LastGoodAnswer;
use super::source::ClientSource;

/// State shared by the tasks of all names.
pub(super) struct ResolverState {
    source: ClientSource,
    lookups: Semaphore,
    remembered: Mutex<HashMap<NameQuery, Arc<Mutex<LastGoodAnswer>>>>,
    pub(super) has_route: fn(IpAddr) -> bool,
}

/// A name, and the name servers that are asked for it; empty for those of the system.
type NameQuery = (Shared<[SocketAddr]>, Shared<str>);

impl ResolverState {
    pub(super) fn new(source: ClientSource) -> Self {
        Self { source, lookups: Semaphore::new(LOOKUPS_MAX), remembered: Mutex::default(), has_route }
    }

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

    /// Returns the storage of the last good answer of these name servers for `host`, shared by all clusters that use
    /// the name.
    pub(super) fn remember(
        &self,
        servers: &Shared<[SocketAddr]>,
        host: &Shared<str>,
    ) -> Arc<Mutex<LastGoodAnswer>> {
        let now = monotonic_time();
        let mut remembered = lock(&self.remembered);
        let is_full = remembered.len() >= REMEMBERED_MAX;
        remembered.retain(|_, known| {
            // The task that resolves the name holds the other reference.
            let is_followed = Arc::strong_count(known) > 1;
            is_followed || (!is_full && lock(known).had_addresses_within(now, MEMORY))
        });
        Arc::clone(remembered.entry((Shared::clone(servers), Shared::clone(host))).or_default())
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
