//! Clusters: endpoints, balancing, pools, ejection and name resolution.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use eddy_ids::Shared;

use crate::cluster_tls::ClusterTlsConfig;
use crate::health::HealthConfig;
use crate::limits::LimitsConfig;

/// A cluster: a name, its endpoints and the distribution of requests over them.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterConfig {
    /// Name that rules refer to; unique in a configuration.
    pub name: Shared<str>,
    /// Endpoints; at least one.
    pub endpoints: Vec<EndpointConfig>,
    /// Protocol spoken with the endpoints.
    pub protocol: LinkProtocol,
    /// Balancing method.
    pub balance: Balance,
    /// Over-provisioning factor, percent: endpoints of a lower priority get no requests as long as the available share
    /// of a tier, multiplied by this factor, reaches 100 %. Default 140; [`UNLIMITED_OVERPROVISIONING`] where one
    /// endpoint can take all requests.
    pub overprovision_percent: u32,
    /// Zone of this eddy; within a tier, endpoints of the same zone come before the others.
    pub zone: Option<Shared<str>>,
    /// Slow start: time over which the share of a new or recovered endpoint grows from a tenth to all of it. Default
    /// off. Balancing by key ignores it.
    pub slow_start: Option<Duration>,
    /// Balancing key of a request, for balancing by key; a key of the rule takes precedence.
    pub key: Option<BalanceKey>,
    /// Maximum time to establish an upstream connection. Default 5 s.
    pub connect_timeout: Duration,
    /// Maximum wait for the first byte of a response head after the request was sent. Default 60 s.
    pub first_byte_timeout: Duration,
    /// Maximum silence of the endpoint in the middle of a response. Default 60 s.
    pub read_idle_timeout: Duration,
    /// Limits of the pool of idle connections.
    pub pool: PoolConfig,
    /// Limits of HTTP/2 connections to endpoints.
    pub http2: UpstreamHttp2Config,
    /// Maximum connections to one endpoint per worker, idle and busy. Default 1024.
    pub links_max: u32,
    /// Passive ejection of failing endpoints.
    pub ejection: EjectionConfig,
    /// Retry budget.
    pub retry_budget: RetryBudget,
    /// Cluster limits over all workers together. Default none.
    pub limits: LimitsConfig,
    /// Name resolution.
    pub dns: DnsConfig,
    /// Name servers to ask instead of the system's; empty for the system's.
    pub name_servers: Shared<[SocketAddr]>,
    /// TLS to endpoints, if configured.
    pub tls: Option<ClusterTlsConfig>,
    /// Active health checks, if configured.
    pub health: Option<HealthConfig>,
}

/// Limits of HTTP/2 connections to the endpoints of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpstreamHttp2Config {
    /// Maximum concurrent requests per connection, if the endpoint allows as many. Default 100.
    pub streams_max: u32,
    /// Initial flow-control window per response, bytes. Default 64 KiB.
    pub stream_window: u32,
    /// Limit to which a window grows with the bandwidth-delay product, bytes; not less than `stream_window`. Default 16 MiB.
    pub stream_window_max: u32,
}

/// One endpoint of a cluster as configured; a name may resolve to many addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointConfig {
    /// Address of the endpoint.
    pub address: EndpointAddress,
    /// Share of the requests relative to the other endpoints, 1 to 1000. Default 1.
    pub weight: u32,
    /// Optional settings.
    pub terms: EndpointOptions,
}

/// Optional settings of one endpoint, beside its address and weight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointOptions {
    /// Priority; endpoints of a higher tier are used as those of lower tiers fail, see
    /// [`ClusterConfig::overprovision_percent`]. Default 0.
    pub tier: u8,
    /// Zone of the endpoint; within a tier, endpoints in [`ClusterConfig::zone`] are preferred.
    pub zone: Option<Shared<str>>,
    /// Whether it is never used; it keeps its share of the keys in balancing by key.
    pub is_down: bool,
    /// Maximum concurrent exchanges at the endpoint, per worker or in total; `None` for no limit.
    pub active_max: Option<u32>,
    /// Whether `active_max` applies to all workers together. Default per worker.
    pub is_active_max_shared: bool,
    /// Ejection settings, where they differ from those of the cluster.
    pub ejection: Option<EjectionConfig>,
    /// Name by which keys are mapped to the endpoint (ring, Maglev); by default its address.
    pub label: Option<Shared<str>>,
}

/// Configured address of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EndpointAddress {
    /// A TCP address.
    Socket(SocketAddr),
    /// A DNS name and a port, resolved again when its records expire.
    Name {
        /// The name, lower case, without a final dot.
        host: Shared<str>,
        /// The TCP port.
        port: u16,
    },
    /// A Unix socket.
    Unix(PathBuf),
}

/// Protocol spoken with endpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LinkProtocol {
    /// HTTP/1.1: a connection carries one request at a time.
    #[default]
    Http1,
    /// HTTP/2: a connection carries many requests. Prior knowledge in clear text; negotiated over TLS.
    Http2,
    /// Over TLS, HTTP/2 where the endpoint agrees, else HTTP/1.1.
    Auto,
}

/// Balancing method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Balance {
    /// Smooth weighted round robin.
    #[default]
    RoundRobin,
    /// Least requests: the less loaded of two endpoints drawn at random, by weight.
    LeastRequest,
    /// Random, by weight.
    Random,
    /// Hash of a key: the same key goes to the same endpoint; most keys move when the number of endpoints changes.
    Hash,
    /// Hash of a key on a ring: few keys move when the number of endpoints changes.
    Ring,
    /// Maglev table of a key: few keys move, as with `Ring`, and shares match the weights closely.
    Maglev,
    /// Client address: the first three bytes of IPv4, all of IPv6.
    ClientAddress,
}

/// Part of a request that is the balancing key. Requests without it use round robin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BalanceKey {
    /// First value of a header.
    Header(Shared<str>),
    /// Value of a cookie.
    Cookie(Shared<str>),
    /// Full client address.
    Address,
    /// Path as sent to the endpoint, without the query.
    Path,
}

/// Limits of the pool of idle connections of one worker to one endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolConfig {
    /// Maximum idle connections per endpoint and worker. Default 128.
    pub idle_max: u32,
    /// Maximum idle time of a connection. Default 50 s.
    pub idle_timeout: Duration,
    /// Maximum requests on one connection before it is closed; 0 for no limit. Default 0.
    pub requests_max: u64,
}

/// Passive ejection: a failing endpoint is excluded for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EjectionConfig {
    /// Consecutive failures (connect errors, resets, 502, 503 and 504) that eject; 0 disables ejection. Default 5.
    pub failures: u32,
    /// Duration of the first ejection; each further one lasts one base time longer. Default 10 s.
    pub base_time: Duration,
    /// Maximum duration of an ejection. Default 300 s.
    pub time_max: Duration,
    /// Maximum share of ejected endpoints, percent; at least one endpoint always remains. Default 50.
    pub percent_max: u8,
    /// Time since the last failure after which a success resets the failure count; with zero, every success does.
    /// Default zero.
    pub memory: Duration,
}

/// Retries that a cluster allows in addition to first attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryBudget {
    /// Retries allowed as a percentage of the requests of the last ten seconds. Default 20.
    pub percent: u8,
    /// Retries per second that are allowed regardless of the number of requests. Default 10.
    pub floor_per_second: u32,
}

/// Resolution of endpoint names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DnsConfig {
    /// Minimum time between two lookups of a name, whatever the TTL. Default 1 s.
    pub refresh_min: Duration,
    /// Maximum time between two lookups of a name. Default 300 s.
    pub refresh_max: Duration,
    /// Maximum duration of a lookup. Default 5 s.
    pub timeout: Duration,
    /// Maximum age of the last good answer, used while lookups fail. Default 1 h.
    pub stale_max: Duration,
    /// Address families that are looked up. Default both.
    pub families: AddressFamilies,
}

/// Address families that are looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AddressFamilies {
    /// IPv4 and IPv6.
    #[default]
    Both,
    /// IPv4 only.
    V4,
    /// IPv6 only.
    V6,
}

impl AddressFamilies {
    /// Whether IPv4 addresses are looked up.
    pub fn has_v4(self) -> bool {
        self != Self::V6
    }

    /// Whether IPv6 addresses are looked up.
    pub fn has_v6(self) -> bool {
        self != Self::V4
    }
}

impl ClusterConfig {
    /// Creates a cluster with default settings for `endpoints`.
    pub fn new(name: &str, endpoints: Vec<EndpointConfig>) -> Self {
        Self {
            name: name.into(),
            endpoints,
            protocol: LinkProtocol::default(),
            balance: Balance::default(),
            overprovision_percent: 140,
            zone: None,
            slow_start: None,
            key: None,
            connect_timeout: Duration::from_secs(5),
            first_byte_timeout: Duration::from_secs(60),
            read_idle_timeout: Duration::from_secs(60),
            pool: PoolConfig::default(),
            http2: UpstreamHttp2Config::default(),
            links_max: 1024,
            ejection: EjectionConfig::default(),
            retry_budget: RetryBudget::default(),
            limits: LimitsConfig::default(),
            dns: DnsConfig::default(),
            name_servers: Shared::default(),
            tls: None,
            health: None,
        }
    }

    /// Whether an endpoint is configured by name, so that the set of endpoints can change.
    pub fn has_names(&self) -> bool {
        self.endpoints.iter().any(|endpoint| matches!(endpoint.address, EndpointAddress::Name { .. }))
    }
}

/// For [`ClusterConfig::overprovision_percent`]: one available endpoint can take all requests of its tier.
pub const UNLIMITED_OVERPROVISIONING: u32 = u32::MAX;

/// Table size of [`Balance::Maglev`]: a prime, a hundred times the number of endpoints in most clusters.
pub const MAGLEV_TABLE_SIZE: usize = 65_537;

impl EndpointConfig {
    /// Creates an endpoint with weight 1 and no optional settings.
    pub fn new(address: EndpointAddress) -> Self {
        Self { address, weight: 1, terms: EndpointOptions::default() }
    }
}

impl LinkProtocol {
    /// Returns the ALPN protocols offered in a TLS handshake, preferred one first.
    pub fn offered(self) -> &'static [&'static [u8]] {
        match self {
            Self::Http1 => &[b"http/1.1"],
            Self::Http2 => &[b"h2"],
            Self::Auto => &[b"h2", b"http/1.1"],
        }
    }
}

impl Balance {
    /// Whether the balancing depends on a key of the request, the client address included.
    pub fn balances_by_key(self) -> bool {
        self.has_key() || self == Self::ClientAddress
    }

    /// Whether the balancing uses the key that the cluster or a rule names.
    pub fn has_key(self) -> bool {
        matches!(self, Self::Hash | Self::Ring | Self::Maglev)
    }
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self { idle_max: 128, idle_timeout: Duration::from_secs(50), requests_max: 0 }
    }
}

impl Default for UpstreamHttp2Config {
    fn default() -> Self {
        Self { streams_max: 100, stream_window: 64 * 1024, stream_window_max: 16 * 1024 * 1024 }
    }
}

impl Default for EjectionConfig {
    fn default() -> Self {
        Self {
            failures: 5,
            base_time: Duration::from_secs(10),
            time_max: Duration::from_secs(300),
            percent_max: 50,
            memory: Duration::ZERO,
        }
    }
}

impl Default for RetryBudget {
    fn default() -> Self {
        Self { percent: 20, floor_per_second: 10 }
    }
}

impl Default for DnsConfig {
    fn default() -> Self {
        Self {
            refresh_min: Duration::from_secs(1),
            refresh_max: Duration::from_secs(300),
            timeout: Duration::from_secs(5),
            stale_max: Duration::from_secs(3600),
            families: AddressFamilies::default(),
        }
    }
}
