//! What a cluster is: the checked description that balancing, pools and health work from.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::health::HealthConfig;
use crate::limits::LimitsConfig;
use crate::tls::ClusterTlsConfig;

/// A cluster: a name, the endpoints behind it and how requests are spread over them.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterConfig {
    /// The name rules refer to; unique in a configuration.
    pub name: Arc<str>,
    /// Where requests go; at least one.
    pub endpoints: Vec<EndpointConfig>,
    /// What endpoints are spoken to in.
    pub protocol: LinkProtocol,
    /// How an endpoint is chosen.
    pub balance: Balance,
    /// How many percent of its share a tier can bear: as long as of its endpoints so many are available that their part times this
    /// is the whole, no other is asked. Default 140; [`UNLIMITED_OVERPROVISIONING`] where one endpoint can bear all.
    pub overprovision_percent: u32,
    /// Where eddy stands: endpoints in the same zone are a tier before the others of theirs.
    pub zone: Option<Arc<str>>,
    /// For how long an endpoint that is new, or well again, gets less than its share: from a tenth at first to all of it. Default
    /// not at all. Balancing by a key does without.
    pub slow_start: Option<Duration>,
    /// What of a request is the key, for balancing that goes by one; where a rule has its own key, that goes first.
    pub key: Option<BalanceKey>,
    /// Longest time to establish a link. Default 5 s.
    pub connect_timeout: Duration,
    /// Longest wait for the first byte of a response head after the request was sent. Default 60 s.
    pub first_byte_timeout: Duration,
    /// Longest silence of the endpoint in the middle of a response. Default 60 s.
    pub read_idle_timeout: Duration,
    /// Limits of the pool of idle links.
    pub pool: PoolConfig,
    /// Most links to one endpoint from one worker, idle and busy. Default 1024.
    pub links_max: u32,
    /// When an endpoint is left out for a while because it fails.
    pub ejection: EjectionConfig,
    /// How many retries are allowed beside first attempts.
    pub retry_budget: RetryBudget,
    /// How much of it may be in use at once, by all workers together. Default any number.
    pub limits: LimitsConfig,
    /// How names are resolved.
    pub dns: DnsConfig,
    /// The name servers that are asked for names, and no others; the system's where there are none.
    pub name_servers: Arc<[SocketAddr]>,
    /// How endpoints are spoken to over TLS, if they are.
    pub tls: Option<ClusterTlsConfig>,
    /// How they are asked how they are, if they are.
    pub health: Option<HealthConfig>,
}

/// One endpoint of a cluster as configured; a name may stand for many addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointConfig {
    /// Where the endpoint is.
    pub address: EndpointAddress,
    /// Share of the requests relative to the other endpoints, 1 to 1000. Default 1.
    pub weight: u32,
    /// What else holds for it.
    pub terms: EndpointOptions,
}

/// What holds for one endpoint, beside where it is and its weight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointOptions {
    /// Endpoints of a higher tier are asked as those of the lower ones fail, see [`ClusterConfig::overprovision_percent`]. Default 0.
    pub tier: u8,
    /// Where it stands; of its tier, those in [`ClusterConfig::zone`] are asked first.
    pub zone: Option<Arc<str>>,
    /// Whether it is never asked; it keeps its place among those that a key is spread over.
    pub is_down: bool,
    /// Most exchanges that are there at once, of one worker or of all; `None` for no limit.
    pub active_max: Option<u32>,
    /// Whether `active_max` is for all workers together. Default for each worker.
    pub is_active_max_shared: bool,
    /// When it is left out because it fails, where that is not as for the rest of its cluster.
    pub ejection: Option<EjectionConfig>,
    /// What it is called where keys are spread over a ring; its address by default.
    pub label: Option<Arc<str>>,
}

/// Where an endpoint is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EndpointAddress {
    /// A TCP address.
    Socket(SocketAddr),
    /// A DNS name and a port, resolved again when its records expire.
    Name {
        /// The name, lower case, without a final dot.
        host: Arc<str>,
        /// The TCP port.
        port: u16,
    },
    /// A Unix socket.
    Unix(PathBuf),
}

/// What endpoints are spoken to in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LinkProtocol {
    /// HTTP/1.1: a link carries one request at a time.
    #[default]
    Http1,
    /// HTTP/2: a link carries many. In the clear endpoints have to know it; over TLS they have to agree.
    Http2,
    /// Over TLS HTTP/2 where an endpoint agrees, else HTTP/1.1.
    Auto,
}

/// How an endpoint is chosen for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Balance {
    /// Each in turn, smooth by weight.
    #[default]
    RoundRobin,
    /// The less loaded of two drawn at random (by weight).
    LeastRequest,
    /// At random, by weight.
    Random,
    /// By a key of the request: the same key to the same endpoint; another number of endpoints moves most keys.
    Hash,
    /// By a key of the request, on a ring: another number of endpoints moves few keys.
    Ring,
    /// By a key of the request, over a table: as `Ring`, and as even as the weights say.
    Maglev,
    /// By the client's address: its first three bytes, all of IPv6.
    ClientAddress,
}

/// What of a request is the key that balancing goes by. A request without it goes to endpoints in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BalanceKey {
    /// The first value of a field.
    Header(Arc<str>),
    /// The value of a cookie.
    Cookie(Arc<str>),
    /// The client's address, all of it.
    Address,
    /// The path as the endpoint is sent it, without the query.
    Path,
}

/// Limits of the pool of idle links that a worker keeps for an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolConfig {
    /// Most idle links kept for an endpoint by one worker. Default 128.
    pub idle_max: u32,
    /// How long an idle link is kept. Default 50 s.
    pub idle_timeout: Duration,
    /// Most requests on one link before it is closed; 0 for no limit. Default 0.
    pub requests_max: u64,
}

/// Passive ejection: an endpoint that fails is left out for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EjectionConfig {
    /// Failures in a row (connect errors, resets, 502, 503 and 504) that eject; 0 turns ejection off. Default 5.
    pub failures: u32,
    /// How long the first ejection lasts; each further one lasts one base time longer. Default 10 s.
    pub base_time: Duration,
    /// The longest an ejection lasts. Default 300 s.
    pub time_max: Duration,
    /// Most endpoints left out at once, percent; at least one endpoint always stays. Default 50.
    pub percent_max: u8,
    /// How long after the last failure a success lets the failures be forgotten; with zero, each does. Default zero.
    pub memory: Duration,
}

/// How many retries a cluster allows beside first attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryBudget {
    /// Retries allowed as a percentage of the requests of the last ten seconds. Default 20.
    pub percent: u8,
    /// Retries a second that are allowed however few the requests are. Default 10.
    pub floor_per_second: u32,
}

/// How endpoint names are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DnsConfig {
    /// Shortest time between two look-ups of a name, whatever its TTL says. Default 1 s.
    pub refresh_min: Duration,
    /// Longest time between two look-ups of a name. Default 300 s.
    pub refresh_max: Duration,
    /// Longest a look-up may take. Default 5 s.
    pub timeout: Duration,
    /// How long the last good answer is used when look-ups fail. Default 1 h.
    pub stale_max: Duration,
    /// Which addresses of a name are looked up. Default both families.
    pub families: AddressFamilies,
}

/// Which address families are looked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AddressFamilies {
    /// IPv4 and IPv6.
    #[default]
    Both,
    /// IPv4 alone.
    V4,
    /// IPv6 alone.
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
    /// A cluster with every default, for `endpoints`.
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
            links_max: 1024,
            ejection: EjectionConfig::default(),
            retry_budget: RetryBudget::default(),
            limits: LimitsConfig::default(),
            dns: DnsConfig::default(),
            name_servers: Arc::default(),
            tls: None,
            health: None,
        }
    }

    /// Whether an endpoint is given by name, so that the set of endpoints can change.
    pub fn has_names(&self) -> bool {
        self.endpoints.iter().any(|endpoint| matches!(endpoint.address, EndpointAddress::Name { .. }))
    }
}

/// For [`ClusterConfig::overprovision_percent`]: one endpoint that is available can bear what all of its tier do.
pub const UNLIMITED_OVERPROVISIONING: u32 = u32::MAX;

impl EndpointConfig {
    /// An endpoint of weight 1 that nothing else holds for.
    pub fn new(address: EndpointAddress) -> Self {
        Self { address, weight: 1, terms: EndpointOptions::default() }
    }
}

impl LinkProtocol {
    /// What is offered in a handshake of TLS, the preferred one first.
    pub fn offered(self) -> &'static [&'static [u8]] {
        match self {
            Self::Http1 => &[b"http/1.1"],
            Self::Http2 => &[b"h2"],
            Self::Auto => &[b"h2", b"http/1.1"],
        }
    }
}

impl Balance {
    /// Whether a request's key decides.
    pub fn goes_by_key(self) -> bool {
        self.has_key() || self == Self::ClientAddress
    }

    /// Whether it goes by the key that the cluster, or a rule, names.
    pub fn has_key(self) -> bool {
        matches!(self, Self::Hash | Self::Ring | Self::Maglev)
    }
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self { idle_max: 128, idle_timeout: Duration::from_secs(50), requests_max: 0 }
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
