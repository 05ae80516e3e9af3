//! The checked configuration: every name resolved, every value in range, ready to be compiled into a plan.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use eddy_filter::FilterPolicy;
use eddy_filter::builtin::BuiltinConfig;
use eddy_http::{HeadLimits, Http2Limits};
use eddy_route::RouteTable;
use eddy_route::nginx::Sites;
use eddy_route::normalise::Normaliser;
use eddy_tls::WrittenPath;
use eddy_upstream::{ClusterConfig, ClusterTlsConfig};

pub use crate::access_log::{AccessLogConfig, LogFormat, LogServiceConfig, LogTarget, RecordedMetadata};
use crate::acme::AcmeConfig;
pub use crate::action::{
    Action, ActionKind, Failover, FailoverReason, FailureStatuses, HedgeConfig, Mirror, MirrorHost, Redirect,
    Respond, RetryConfig, WeightedAction, WeightedCluster,
};
use crate::forward::{Forwarding, ProxyProtocolConfig};
use crate::tls::ListenerTlsConfig;

/// A whole configuration, checked.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// Where clients connect; at least one.
    pub listeners: Vec<ListenerConfig>,
    /// The route tables; listeners name them by index.
    pub tables: Vec<RouteTable>,
    /// The servers of configurations of NGINX's; listeners and actions name them and their addresses by index.
    pub sites: Vec<Arc<Sites>>,
    /// What rules do; `eddy_route::Rule::action` is an index into this list.
    pub actions: Vec<Action>,
    /// Where requests go; actions name them by index.
    pub clusters: Vec<ClusterConfig>,
    /// The filters; listeners and actions name them by index.
    pub filters: Vec<FilterConfig>,
    /// The authority that certificates are ordered from, if any are.
    pub acme: Option<AcmeConfig>,
    /// The admin listener, if any.
    pub admin: Option<AdminConfig>,
    /// Where access records go, if anywhere.
    pub access_log: Option<AccessLogConfig>,
    /// Where and how eddy's own messages go.
    pub log: LogConfig,
    /// Limits of the whole gateway.
    pub limits: GatewayLimits,
    /// When a filter that ends the process is not entered any more.
    pub quarantine: QuarantineConfig,
    /// Of how many requests one is routed by the plain scan as well; 0 for none. Default 0.
    pub route_check: u32,
    /// Workers; `None` for one a core that this process may use.
    pub workers: Option<u16>,
    /// Longest time a drain waits for exchanges to end. Default 30 s.
    pub drain_timeout: Duration,
    /// The text as shown by the admin listener: what was read, secrets hidden.
    pub shown: Arc<str>,
    /// Names this version among others (a hash of what was read).
    pub version: Arc<str>,
    /// Files that the configuration includes, and folders in which there may be more of them.
    pub included: Vec<PathBuf>,
}

/// A listener: an address, what is served there and its limits.
#[derive(Clone, Debug)]
pub struct ListenerConfig {
    /// Names the listener in metrics and logs; its address by default.
    pub name: Arc<str>,
    /// The bound address.
    pub address: ListenAddress,
    /// Whether a configuration is refused when eddy can't listen at the address. Otherwise the rest is served meanwhile.
    pub is_required: bool,
    /// What answers requests that come in here.
    pub serve: Serve,
    /// How it is served over TLS, if it is.
    pub tls: Option<ListenerTlsConfig>,
    /// Which connections begin with what a proxy in front says of them, if any do.
    pub proxy_protocol: Option<ProxyProtocolConfig>,
    /// How HTTP/2 is spoken.
    pub http2: Http2Config,
    /// How the paths of requests are normalised before rules see them.
    pub normaliser: Normaliser,
    /// Whether the port is taken from the host that clients name, before rules see it and endpoints are told. Default no.
    pub strips_port: bool,
    /// Limits of one connection and request.
    pub limits: HttpLimits,
    /// Timeouts of one connection and request.
    pub timeouts: HttpTimeouts,
    /// Which of the client's address and scheme the upstream is told, and how.
    pub forwarded: ForwardedConfig,
    /// The pseudonym to add to `Via`, if any (RFC 9110 §7.6.3).
    pub via: Option<Arc<str>>,
    /// The field that carries the request id, if any.
    pub request_id: Option<Arc<str>>,
    /// Whether access records are written for this listener (if an access log is configured).
    pub has_access_log: bool,
    /// The filters that its exchanges pass, by index, in order.
    pub filters: Vec<usize>,
}

/// How a listener speaks HTTP/2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Http2Config {
    /// Whether it is offered to clients that come over TLS.
    pub over_tls: bool,
    /// Whether it is taken from clients that begin with it in cleartext.
    pub in_cleartext: bool,
    /// How much a connection may hold and ask for; the limits of heads are the listener's.
    limits: Http2Limits,
}

impl Default for Http2Config {
    fn default() -> Self {
        Self { over_tls: true, in_cleartext: true, limits: Http2Limits::default() }
    }
}

impl Http2Config {
    /// It with these limits; those of heads are not taken from there.
    pub fn with(self, limits: Http2Limits) -> Self {
        Self { limits, ..self }
    }

    /// The limits of a connection whose heads have these.
    pub fn limits(&self, head: HeadLimits) -> Http2Limits {
        Http2Limits { head, ..self.limits }
    }
}

/// A filter as configured; made ready by those who know its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterConfig {
    /// Its name.
    pub name: Arc<str>,
    /// What runs it.
    pub kind: FilterKind,
    /// Its configuration as JSON; `null` where there is none, and of built-in filters. Of a filter in Wasm what it gets:
    /// a text as it is, nothing where there is none.
    pub config: Arc<str>,
    /// Its place in an exchange.
    pub policy: FilterPolicy,
}

/// What runs a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterKind {
    /// eddy itself.
    Builtin(BuiltinConfig),
    /// A shared library by the contract.
    Native {
        /// The file; relative ones are taken from where the configuration file lies.
        library: PathBuf,
        /// The filter's name in it.
        filter: Arc<str>,
    },
    /// A filter in Go.
    Go {
        /// Where its source or the built bundle lies.
        source: GoSource,
        /// The filter's name in it.
        filter: Arc<str>,
    },
    /// A module in Wasm.
    Wasm(Arc<WasmConfig>),
    /// A script in Lua.
    Lua(LuaConfig),
}

/// A module in Wasm, and what it may do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WasmConfig {
    /// The file; relative ones are taken from where the configuration file lies.
    pub module: PathBuf,
    /// Which of its filters is meant; empty where the module has but one.
    pub root_id: String,
    /// Names the machine among those of the same module; empty by default.
    pub vm_id: String,
    /// What an instance gets when it starts; empty where there is nothing.
    pub vm_config: String,
    /// How far a fault reaches.
    pub isolation: WasmIsolation,
    /// Largest memory of an instance. Default 64 MiB.
    pub memory_bytes: u64,
    /// Longest time of one call. Default 10 ms.
    pub cpu: Duration,
    /// The environment that the module sees.
    pub env: Vec<(String, String)>,
}

/// How far a fault of a module reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WasmIsolation {
    /// To all exchanges of its worker.
    #[default]
    Worker,
    /// To one exchange.
    Stream,
}

/// A filter in Lua.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LuaConfig {
    /// Its script.
    pub script: LuaScriptText,
    /// Scripts that rules can name.
    pub scripts: Vec<(Arc<str>, LuaScriptText)>,
    /// CPU time of a hook from one wait to the next.
    pub cpu: Duration,
    /// Memory of the script on each worker.
    pub memory_bytes: usize,
    /// Libraries that reach out of the machine.
    pub allow: LuaAllowed,
    /// Most values of the shared stores.
    pub shared_entries_max: usize,
    /// Most bytes of the shared stores.
    pub shared_bytes_max: usize,
}

/// Where the text of a script lies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LuaScriptText {
    /// In a file.
    File(PathBuf),
    /// In the configuration.
    Inline {
        /// What it is called in messages.
        name: Arc<str>,
        /// The script.
        text: Arc<str>,
    },
}

/// Libraries that a script in Lua may use beyond those that reach nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a set of four")]
pub struct LuaAllowed {
    /// `os`.
    pub os: bool,
    /// `io`.
    pub io: bool,
    /// `package` and `require`.
    pub package: bool,
    /// `ffi`.
    pub ffi: bool,
}

/// Where a filter in Go comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum GoSource {
    /// The folder of its package, to be linked into the configuration's bundle.
    Package(PathBuf),
    /// A bundle that was built before.
    Library(PathBuf),
    /// The configuration's bundle, and the folder of the filter's package in it.
    Linked {
        /// The bundle.
        library: PathBuf,
        /// The folder.
        package: PathBuf,
    },
}

/// What a rule says of a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFilterConfig {
    /// The filter, by index.
    pub filter: usize,
    /// Whether it is left out; `None` where the rule does not say.
    pub is_disabled: Option<bool>,
    /// The rule's configuration for it as JSON, if it has one; never of a built-in filter.
    pub config: Option<Arc<str>>,
    /// The configuration of a built-in filter under this rule, if it has one: the filter's own with the rule's keys
    /// laid over it.
    pub builtin: Option<Arc<BuiltinConfig>>,
    /// The script of a filter in Lua under this rule, if it has one.
    pub lua: Option<LuaScriptText>,
}

/// Where a listener is bound: `127.0.0.1:8080`, `unix:/run/eddy.sock` or `udp:127.0.0.1:53`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ListenAddress {
    /// A TCP address and port.
    Tcp(SocketAddr),
    /// A Unix socket in the file system.
    Unix(PathBuf),
    /// A UDP address and port.
    Udp(SocketAddr),
}

/// What answers the requests of a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Serve {
    /// Route tables, by index, in order.
    Routes(Vec<usize>),
    /// Servers of NGINX's.
    Sites(SitesAt),
    /// The embedded demo endpoint: `/echo`, `/fixed`, `/slow`.
    Demo,
    /// Nothing of eddy's: connections, or datagrams, are passed on as they are.
    Forward(Arc<Forwarding>),
}

/// The servers of NGINX's that listen at one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SitesAt {
    /// The configuration that they are of, by index in [`Config::sites`].
    pub sites: usize,
    /// The address, by index in that.
    pub address: usize,
}

/// Limits of one connection and its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    /// Limits of a head.
    pub head: HeadLimits,
    /// Largest request body, bytes; `None` for no limit. Default none.
    pub body_bytes_max: Option<u64>,
    /// Most connections of this listener. Default 100,000.
    pub connections_max: u32,
    /// Most requests on a connection before it is closed; 0 for no limit. Default 0.
    pub requests_per_connection_max: u64,
}

/// Timeouts of one connection and its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpTimeouts {
    /// Longest time from the first byte of a request head to its end. Default 10 s.
    pub head: Duration,
    /// Longest time a connection may be idle between requests. Default 60 s.
    pub idle: Duration,
    /// Least bytes a second, on average after `body_grace`, of a request body or of a response being read by the client; 0 turns it off. Default 1024.
    pub body_rate_min: u32,
    /// How long a body may be slower than `body_rate_min`. Default 10 s.
    pub body_grace: Duration,
    /// Longest time of a whole exchange, or until a tunnel opens; `None` for no limit. Default none.
    pub exchange: Option<Duration>,
    /// Longest silence on both ways of a tunnel. Default 10 min.
    pub tunnel: Duration,
    /// Longest time that a tunnel goes on under a configuration that was replaced. Default 1 h.
    pub tunnel_reload: Duration,
}

/// What the upstream is told of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardedConfig {
    /// Send `X-Forwarded-For`, `-Proto` and `-Host`. Default yes.
    pub x_forwarded: bool,
    /// Send `Forwarded` (RFC 7239). Default no.
    pub forwarded: bool,
    /// Peers whose own forwarding fields are kept and extended; others' are replaced. Default none.
    pub trusted: Vec<AddressBlock>,
}

/// A block of addresses, as in `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressBlock {
    /// Any address of the block.
    pub address: IpAddr,
    /// Length of the common prefix, bits.
    pub prefix_bits: u8,
}

/// The admin listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdminConfig {
    /// A loopback address, unless the configuration says it may be another.
    pub address: SocketAddr,
}

/// eddy's own messages on standard error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogConfig {
    /// `error`, `warn`, `info`, `debug` or `trace`. Default `info`.
    pub level: Arc<str>,
    /// Text or JSON. Default text.
    pub format: LogFormat,
}

/// Limits of the whole gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatewayLimits {
    /// Most client connections of all listeners. Default 100,000, and never more than the file limit allows.
    pub connections_max: u32,
    /// Most exchanges at once. Default 50,000.
    pub exchanges_max: u32,
    /// Resident memory, percent of the machine's or cgroup's, above which new exchanges are answered 503. Default 90.
    pub memory_percent_max: u8,
    /// Memory that the runtime of filters in Go should stay below, percent of the machine's or cgroup's. Default 50.
    pub go_memory_percent: u8,
    /// Longest a request may wait for its worker before it is answered 503 instead of being worked on; zero turns it off. Default 500 ms.
    pub queue_delay_max: Duration,
}

/// When a filter that ends the gateway process again and again is not entered any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuarantineConfig {
    /// Deaths in it that it takes; 0 for never. Default 5.
    pub deaths: u32,
    /// The time in which they are counted. Default 60 s.
    pub within: Duration,
    /// How long it is not entered. Default 10 min.
    pub time: Duration,
}

impl GatewayConfig {
    /// Every file that TLS needs.
    pub fn tls_files(&self) -> impl Iterator<Item = &WrittenPath> {
        let listeners = self.listeners.iter().filter_map(|listener| listener.tls.as_ref());
        let clusters = self.clusters.iter().filter_map(|cluster| cluster.tls.as_ref());
        let acme = self.acme.iter().filter_map(|acme| acme.authorities.as_ref());
        let files = listeners.flat_map(ListenerTlsConfig::files);
        files.chain(clusters.flat_map(ClusterTlsConfig::files)).chain(acme)
    }

    /// Whether anything is spoken over TLS.
    pub fn has_tls(&self) -> bool {
        self.listeners.iter().any(|listener| listener.tls.is_some())
            || self.clusters.iter().any(|cluster| cluster.tls.is_some())
    }

    /// Whether it is made of other files as well, that are no libraries: what holds may then change though the text has
    /// not.
    pub fn has_other_files(&self) -> bool {
        let is_file = |script: &LuaScriptText| matches!(script, LuaScriptText::File(_));
        let has_file = |kind: &FilterKind| match kind {
            FilterKind::Builtin(builtin) => builtin.file().is_some(),
            FilterKind::Lua(lua) => is_file(&lua.script),
            FilterKind::Wasm(_) => true,
            FilterKind::Native { .. } | FilterKind::Go { .. } => false,
        };
        let mut rules = self.actions.iter().flat_map(|action| &action.filters);
        self.has_tls()
            || self.filters.iter().any(|filter| has_file(&filter.kind))
            || rules.any(|rule| {
                rule.builtin.as_ref().is_some_and(|builtin| builtin.file().is_some())
                    || rule.lua.as_ref().is_some_and(is_file)
            })
    }

    /// The scripts in Lua, the modules in Wasm and the files that are included, which are watched like the configuration
    /// itself.
    pub fn companions(&self) -> Vec<PathBuf> {
        let of_script = |script: &LuaScriptText| match script {
            LuaScriptText::File(path) => Some(path.clone()),
            LuaScriptText::Inline { .. } => None,
        };
        let of_filter = |filter: &FilterConfig| match &filter.kind {
            FilterKind::Lua(lua) => of_script(&lua.script),
            FilterKind::Wasm(wasm) => Some(wasm.module.clone()),
            FilterKind::Builtin(_) | FilterKind::Native { .. } | FilterKind::Go { .. } => None,
        };
        let rules = self.actions.iter().flat_map(|action| &action.filters);
        let of_rules = rules.filter_map(|rule| of_script(rule.lua.as_ref()?));
        let mut files: Vec<PathBuf> = self.filters.iter().filter_map(of_filter).chain(of_rules).collect();
        files.extend(self.included.iter().cloned());
        let tls = self.tls_files().filter(|file| file.text.is_none());
        files.extend(tls.map(|file| file.path.clone()));
        files.sort();
        files.dedup();
        files
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Udp(address) => write!(f, "udp:{address}"),
        }
    }
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            head: HeadLimits::default(),
            body_bytes_max: None,
            connections_max: 100_000,
            requests_per_connection_max: 0,
        }
    }
}

impl Default for HttpTimeouts {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            idle: Duration::from_secs(60),
            body_rate_min: 1024,
            body_grace: Duration::from_secs(10),
            exchange: None,
            tunnel: Duration::from_secs(600),
            tunnel_reload: Duration::from_secs(3600),
        }
    }
}

impl Default for ForwardedConfig {
    fn default() -> Self {
        Self { x_forwarded: true, forwarded: false, trusted: Vec::new() }
    }
}

impl Default for GatewayLimits {
    fn default() -> Self {
        Self {
            connections_max: 100_000,
            exchanges_max: 50_000,
            memory_percent_max: 90,
            go_memory_percent: 50,
            queue_delay_max: Duration::from_millis(500),
        }
    }
}

impl Default for QuarantineConfig {
    fn default() -> Self {
        Self { deaths: 5, within: Duration::from_secs(60), time: Duration::from_secs(600) }
    }
}

impl AddressBlock {
    /// Whether `address` lies in the block; an IPv4-mapped IPv6 address counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address.to_canonical(), address.to_canonical()) {
            (IpAddr::V4(block), IpAddr::V4(address)) => {
                shared_prefix_bits(block.to_bits().into(), address.to_bits().into(), 32)
                    >= self.prefix_bits.into()
            }
            (IpAddr::V6(block), IpAddr::V6(address)) => {
                shared_prefix_bits(block.to_bits(), address.to_bits(), 128) >= self.prefix_bits.into()
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        }
    }
}

fn shared_prefix_bits(a: u128, b: u128, width: u32) -> u32 {
    (a ^ b).leading_zeros() - (128 - width)
}

impl GatewayConfig {
    /// Whether two actions, by index, do the same.
    pub fn are_alike(&self, a: u32, b: u32) -> bool {
        let action = |index: u32| self.actions.get(index as usize);
        action(a).zip(action(b)).is_some_and(|(a, b)| a == b)
    }
}
