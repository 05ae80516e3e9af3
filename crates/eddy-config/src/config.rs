//! Checked configuration: names are resolved and values are in range, ready to be compiled into a plan.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use eddy_http::{HeadLimits, Http2Limits};
use eddy_ids::{ClusterId, FilterId, Shared, Slots, TableId};
use eddy_model::{ClusterConfig, ClusterTlsConfig, WrittenPath};
use eddy_route::normalise::Normaliser;
use eddy_route::{CompiledRule, RouteError, RouteTable, Router};

pub use crate::access_log::{AccessLogConfig, LogFormat, LogServiceConfig, LogTarget, RecordedMetadata};
use crate::acme::AcmeConfig;
pub use crate::action::{
    Action, ActionKind, Failover, FailoverReason, FailureStatuses, HedgeConfig, Mirror, MirrorHost, Redirect,
    Respond, RetryConfig, SitesAt, WeightedAction, WeightedCluster,
};
pub use crate::address_block::AddressBlock;
pub use crate::filter::{
    DynamicModuleConfig, DynamicModuleSource, FilterConfig, FilterKind, GoSource, LuaAllowed, LuaConfig,
    LuaScriptText, RuleFilterConfig, WasmConfig, WasmIsolation,
};
use crate::forward::{Forwarding, ProxyProtocolConfig};
use crate::table::{SitesConfig, TableConfig};
use crate::tls::ListenerTlsConfig;

/// Route tables by name. Tables of other dialects are called after the address that they serve.
pub type TableSlots = Slots<TableId, Shared<str>, TableConfig>;

/// Clusters by name.
pub type ClusterSlots = Slots<ClusterId, Shared<str>, ClusterConfig>;

/// Filters by name.
pub type FilterSlots = Slots<FilterId, Shared<str>, FilterConfig>;

/// A complete, checked configuration.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// The listeners; at least one.
    pub listeners: Vec<ListenerConfig>,
    /// Route tables, by name.
    pub tables: TableSlots,
    /// NGINX configurations; listeners and actions refer to them and to their addresses by index.
    pub sites: Vec<Shared<SitesConfig>>,
    /// Clusters, by name.
    pub clusters: ClusterSlots,
    /// Filters, by name.
    pub filters: FilterSlots,
    /// ACME authority that certificates are ordered from, if any.
    pub acme: Option<AcmeConfig>,
    /// Settings of the gateway as a whole.
    pub settings: GatewaySettings,
    /// Configuration text as the admin listener shows it, with secrets hidden.
    pub shown: Shared<str>,
    /// Version identifier: a hash of the configuration text.
    pub version: Shared<str>,
    /// Files that the configuration includes, and directories that may hold more of them.
    pub included: Vec<PathBuf>,
}

/// Settings of the gateway as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewaySettings {
    /// The admin listener, if any.
    pub admin: Option<AdminConfig>,
    /// Access log, if any.
    pub access_log: Option<AccessLogConfig>,
    /// Destination, level and format of eddy's own log messages.
    pub log: LogConfig,
    /// Gateway-wide limits.
    pub limits: GatewayLimits,
    /// When a filter that crashes the process is taken out of service.
    pub quarantine: QuarantineConfig,
    /// Sampling of the route check: one of this many requests is also routed by a linear scan over the rules; 0 turns
    /// it off. Default 0.
    pub route_check: u32,
    /// Number of workers; `None` for one per core that this process may use.
    pub workers: Option<u16>,
    /// Maximum time that a drain waits for exchanges to end. Default 30 s.
    pub drain_timeout: Duration,
}

/// A listener: a bound address, how it is served, and its limits.
#[derive(Clone, Debug)]
pub struct ListenerConfig {
    /// Name in metrics and logs. Default: the address.
    pub name: Shared<str>,
    /// Bound address.
    pub address: ListenAddress,
    /// Whether the configuration is refused when eddy cannot listen at the address. Otherwise the remaining listeners
    /// are served.
    pub is_required: bool,
    /// Service behind this listener: routes, NGINX servers, the demo or forwarding.
    pub serve: Serve,
    /// TLS settings, if the listener uses TLS.
    pub tls: Option<ListenerTlsConfig>,
    /// Connections that begin with a PROXY protocol header, if any.
    pub proxy_protocol: Option<ProxyProtocolConfig>,
    /// HTTP/2 settings.
    pub http2: Http2Config,
    /// Path normalisation, applied before rules see a request.
    pub normaliser: Normaliser,
    /// Whether the port is removed from the host before rules see it and before it is sent to endpoints. Default no.
    pub strips_port: bool,
    /// Limits per connection and request.
    pub limits: HttpLimits,
    /// Timeouts per connection and request.
    pub timeouts: HttpTimeouts,
    /// Headers that pass the client's address and scheme upstream.
    pub forwarded: ForwardedConfig,
    /// Pseudonym that is added to `Via`, if any (RFC 9110 §7.6.3).
    pub via: Option<Shared<str>>,
    /// Header that carries the request ID, if any.
    pub request_id: Option<Shared<str>>,
    /// Whether access log entries are written for this listener, if an access log is configured.
    pub has_access_log: bool,
    /// Filters that its exchanges pass, in order.
    pub filters: Vec<FilterId>,
}

/// HTTP/2 settings of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Http2Config {
    /// Whether HTTP/2 is offered to TLS clients.
    pub over_tls: bool,
    /// Whether HTTP/2 with prior knowledge is accepted in cleartext.
    pub in_cleartext: bool,
    /// Limits of a connection. The head limits are the listener's.
    limits: Http2Limits,
}

impl Default for Http2Config {
    fn default() -> Self {
        Self { over_tls: true, in_cleartext: true, limits: Http2Limits::default() }
    }
}

impl Http2Config {
    /// Returns these settings with `limits`, whose head limits are ignored.
    pub fn with(self, limits: Http2Limits) -> Self {
        Self { limits, ..self }
    }

    /// Returns the limits of a connection with these head limits.
    pub fn limits(&self, head: HeadLimits) -> Http2Limits {
        Http2Limits { head, ..self.limits }
    }
}

/// Address of a listener: `127.0.0.1:8080`, `unix:/run/eddy.sock` or `udp:127.0.0.1:53`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ListenAddress {
    /// TCP address and port.
    Tcp(SocketAddr),
    /// Unix socket in the file system.
    Unix(PathBuf),
    /// UDP address and port.
    Udp(SocketAddr),
}

/// Service behind a listener: routes, NGINX servers, the demo or forwarding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Serve {
    /// Route tables, in order.
    Routes(Vec<TableId>),
    /// Servers of an NGINX configuration.
    Sites(SitesAt),
    /// The built-in demo endpoint: `/echo`, `/fixed`, `/slow`.
    Demo,
    /// A TCP or UDP proxy: connections or datagrams are forwarded unchanged.
    Forward(Shared<Forwarding>),
}

/// Limits of one connection and its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    /// Limits of a request head.
    pub head: HeadLimits,
    /// Maximum size of a request body in bytes; `None` for no limit. Default none.
    pub body_bytes_max: Option<u64>,
    /// Maximum connections of this listener. Default 100,000.
    pub connections_max: u32,
    /// Maximum requests on a connection before it is closed; 0 for no limit. Default 0.
    pub requests_per_connection_max: u64,
}

/// Timeouts of one connection and its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpTimeouts {
    /// Maximum time from the first byte of a request head to its end. Default 10 s.
    pub head: Duration,
    /// Maximum idle time of a connection between requests. Default 60 s.
    pub idle: Duration,
    /// Minimum average rate in bytes per second, after `body_grace`, at which the client sends a request body or reads
    /// a response; 0 turns it off. Default 1024.
    pub body_rate_min: u32,
    /// Time during which a body may be slower than `body_rate_min`. Default 10 s.
    pub body_grace: Duration,
    /// Maximum time of an exchange, or until a tunnel opens; `None` for no limit. Default none.
    pub exchange: Option<Duration>,
    /// Maximum time without data in either direction of a tunnel. Default 10 min.
    pub tunnel: Duration,
    /// Maximum time that a tunnel continues after its configuration was replaced. Default 1 h.
    pub tunnel_reload: Duration,
}

/// Client information that is forwarded upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardedConfig {
    /// Whether `X-Forwarded-For`, `-Proto` and `-Host` are sent. Default yes.
    pub x_forwarded: bool,
    /// Whether `Forwarded` (RFC 7239) is sent. Default no.
    pub forwarded: bool,
    /// Peers whose own forwarding headers are kept and extended; those of other peers are replaced. Default none.
    pub trusted: Vec<AddressBlock>,
}

/// The admin listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdminConfig {
    /// Bound address; a loopback address unless the configuration allows others.
    pub address: SocketAddr,
}

/// eddy's own log messages on standard error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogConfig {
    /// `error`, `warn`, `info`, `debug` or `trace`. Default `info`.
    pub level: Shared<str>,
    /// Text or JSON. Default text.
    pub format: LogFormat,
}

/// Gateway-wide limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatewayLimits {
    /// Maximum client connections of all listeners. Default 100,000, and never more than the open-files limit allows.
    pub connections_max: u32,
    /// Maximum concurrent exchanges. Default 50,000.
    pub exchanges_max: u32,
    /// Resident memory, in percent of the machine's or cgroup's memory, above which new exchanges are answered 503.
    /// Default 90.
    pub memory_percent_max: u8,
    /// Soft memory limit of the Go runtime for filters, in percent of the machine's or cgroup's memory. Default 50.
    pub go_memory_percent: u8,
    /// Maximum time a request may wait for its worker; a request that waited longer is answered 503. Zero turns it off.
    /// Default 500 ms.
    pub queue_delay_max: Duration,
}

/// When a filter that repeatedly ends the gateway process is taken out of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuarantineConfig {
    /// Process crashes in the filter after which it is quarantined; 0 for never. Default 5.
    pub deaths: u32,
    /// Period in which crashes are counted. Default 60 s.
    pub within: Duration,
    /// Duration of the quarantine. Default 10 min.
    pub time: Duration,
}

impl GatewayConfig {
    /// Returns every file that TLS needs.
    pub fn tls_files(&self) -> impl Iterator<Item = &WrittenPath> {
        let listeners = self.listeners.iter().filter_map(|listener| listener.tls.as_ref());
        let clusters = self.clusters.values().filter_map(|cluster| cluster.tls.as_ref());
        let acme = self.acme.iter().filter_map(|acme| acme.authorities.as_ref());
        let files = listeners.flat_map(ListenerTlsConfig::files);
        files.chain(clusters.flat_map(ClusterTlsConfig::files)).chain(acme)
    }

    /// Whether any listener or cluster uses TLS.
    pub fn has_tls(&self) -> bool {
        self.listeners.iter().any(|listener| listener.tls.is_some())
            || self.clusters.values().any(|cluster| cluster.tls.is_some())
    }

    /// Whether the configuration also consists of other files, apart from libraries. If so, its effect may change
    /// although its text has not.
    pub fn has_other_files(&self) -> bool {
        let is_file = |script: &LuaScriptText| matches!(script, LuaScriptText::File(_));
        let has_file = |kind: &FilterKind| match kind {
            FilterKind::Builtin(builtin) => builtin.file().is_some(),
            FilterKind::Lua(lua) => is_file(&lua.script),
            FilterKind::Wasm(_) => true,
            FilterKind::Native { .. } | FilterKind::Go { .. } | FilterKind::DynamicModule(_) => false,
        };
        let mut rules = self.rule_filters();
        self.has_tls()
            || self.filters.values().any(|filter| has_file(&filter.kind))
            || rules.any(|rule| {
                rule.builtin.as_ref().is_some_and(|builtin| builtin.file().is_some())
                    || rule.lua.as_ref().is_some_and(is_file)
            })
    }

    /// Returns the Lua scripts, Wasm modules, included files and TLS files, which are watched like the configuration
    /// itself.
    pub fn companions(&self) -> Vec<PathBuf> {
        let of_script = |script: &LuaScriptText| match script {
            LuaScriptText::File(path) => Some(path.clone()),
            LuaScriptText::Inline { .. } => None,
        };
        let of_filter = |filter: &Shared<FilterConfig>| match &filter.kind {
            FilterKind::Lua(lua) => of_script(&lua.script),
            FilterKind::Wasm(wasm) => Some(wasm.module.clone()),
            FilterKind::Builtin(_)
            | FilterKind::Native { .. }
            | FilterKind::Go { .. }
            | FilterKind::DynamicModule(_) => None,
        };
        let of_rules = self.rule_filters().filter_map(|rule| of_script(rule.lua.as_ref()?));
        let mut files: Vec<PathBuf> = self.filters.values().filter_map(of_filter).chain(of_rules).collect();
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

impl Default for GatewaySettings {
    fn default() -> Self {
        Self {
            admin: None,
            access_log: None,
            log: LogConfig { level: "info".into(), format: LogFormat::Text },
            limits: GatewayLimits::default(),
            quarantine: QuarantineConfig::default(),
            route_check: 0,
            workers: None,
            drain_timeout: Duration::from_secs(30),
        }
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

impl ListenerConfig {
    /// Returns a required listener with default settings, which is called after its address.
    pub fn new(address: ListenAddress, serve: Serve) -> Self {
        Self {
            name: address.to_string().into(),
            address,
            is_required: true,
            serve,
            tls: None,
            proxy_protocol: None,
            http2: Http2Config::default(),
            normaliser: Normaliser::Eddy,
            strips_port: false,
            limits: HttpLimits::default(),
            timeouts: HttpTimeouts::default(),
            forwarded: ForwardedConfig::default(),
            via: None,
            request_id: None,
            has_access_log: true,
            filters: Vec::new(),
        }
    }

    /// Returns the table of a rule of this listener's router.
    ///
    /// # Panics
    /// When the router was not built from the tables of this listener.
    pub fn table_of(&self, rule: &CompiledRule) -> TableId {
        let Serve::Routes(tables) = &self.serve else {
            unreachable!("only a listener that serves routes has a router")
        };
        *tables.get(rule.table as usize).expect("the router was built from the tables of this listener")
    }
}

impl GatewayConfig {
    /// Returns the tables that a listener serves, in order; none unless it serves routes.
    pub fn tables_of(&self, listener: &ListenerConfig) -> Vec<&Shared<TableConfig>> {
        let Serve::Routes(tables) = &listener.serve else { return Vec::new() };
        tables.iter().map(|id| &self.tables[*id]).collect()
    }

    /// Compiles the tables that a listener serves; `None` unless it serves routes.
    ///
    /// # Errors
    /// As [`Router::build`].
    pub fn router(&self, listener: &ListenerConfig) -> Result<Option<Router>, Vec<RouteError>> {
        if !matches!(listener.serve, Serve::Routes(_)) {
            return Ok(None);
        }
        let tables: Vec<&RouteTable> =
            self.tables_of(listener).into_iter().map(|table| &table.routes).collect();
        Router::build(&tables).map(Some)
    }

    /// Returns the action of a rule of the router of a listener.
    ///
    /// # Panics
    /// When the router was not built from the tables of this listener.
    pub fn action_of(&self, listener: &ListenerConfig, rule: &CompiledRule) -> &Shared<Action> {
        self.tables[listener.table_of(rule)].action(rule.action)
    }

    /// Returns the settings of filters in rules.
    pub fn rule_filters(&self) -> impl Iterator<Item = &RuleFilterConfig> {
        let actions = self.tables.values().flat_map(|table| &table.actions);
        actions.flat_map(|action| &action.filters)
    }
}
