//! Bootstrap file: static listeners with their HTTP connection managers, and static clusters.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use eddy_check::ClusterDraft;
use eddy_config::{AdminConfig, HttpTimeouts, ListenAddress, ListenerConfig, Serve};
use eddy_ids::{Shared, TableId};
use eddy_model::{
    Balance, ClusterConfig, EjectionConfig, EndpointAddress, EndpointConfig, LinkProtocol, MAGLEV_TABLE_SIZE,
};
use eddy_route::normalise::{EnvoyPaths, EscapedSlashes, Normaliser};
use eddy_spec::problem::{SourceSpan, shown};
use eddy_spec::yaml::YamlNode;

use super::module_filter::HttpFilter;
use super::reader::EnvoyReader;

/// Listener whose routes are not read yet.
pub(super) struct Manager<'n, 't> {
    pub(super) config: ListenerConfig,
    /// `route_config` of the connection manager.
    pub(super) routes: &'n YamlNode<'t>,
    /// Upgrade protocols allowed on routes that do not configure them.
    pub(super) protocols: Vec<Box<str>>,
    /// Whether gRPC-Web calls are translated to gRPC.
    pub(super) filters: Vec<HttpFilter>,
    /// Whether a reported problem keeps the listener from being served; its routes are read all the same.
    pub(super) is_refused: bool,
}

impl EnvoyReader<'_> {
    /// Reads the clusters and adds them.
    pub(super) fn clusters(&mut self, node: &YamlNode<'_>, clusters: &mut ClusterDraft<'_>) {
        for node in self.list(node, "clusters") {
            let Some(cluster) = self.cluster_config(node) else {
                self.mark_all_read(node);
                continue;
            };
            let name = Shared::clone(&cluster.name);
            if clusters.define_used(cluster, node.place).is_err() {
                self.report.error(node.place, format!("the cluster `{}` is defined twice", shown(&name)));
            }
        }
    }

    fn cluster_config(&mut self, node: &YamlNode<'_>) -> Option<ClusterConfig> {
        self.pass(node, &["alt_stat_name", "metadata"]);
        self.warn_ineffective(
            node,
            &[
                ("dns_lookup_family", "eddy looks up addresses of both families"),
                ("respect_dns_ttl", "names are looked up again when their records expire"),
                ("ring_hash_lb_config", "eddy builds the ring in its own way"),
            ],
        );
        let Some(name) = self.word(node, "name") else {
            self.report.error(node.place, "a cluster needs a `name`");
            return None;
        };
        let kind = self.text(node, "type").unwrap_or("STATIC").to_owned();
        if !matches!(&*kind, "STATIC" | "0" | "STRICT_DNS" | "1" | "LOGICAL_DNS" | "2") {
            let place = self.get(node, "type").map_or(node.place, |node| node.place);
            self.report
                .objection(place, format!("the cluster type `{}` is not supported", shown(&kind)))
                .hint("supported are STATIC, STRICT_DNS and LOGICAL_DNS");
        }
        let mut endpoints = Vec::new();
        let mut overprovisioning = None;
        if let Some(assignment) = self.get(node, "load_assignment") {
            self.pass(assignment, &["cluster_name"]);
            if let Some(policy) = self.get(assignment, "policy") {
                overprovisioning = self.number::<u32>(policy, "overprovisioning_factor");
            }
            for locality in self.list(assignment, "endpoints") {
                self.warn_ineffective(
                    locality,
                    &[("locality", "eddy treats endpoints of all localities alike")],
                );
                let tier = self.number::<u8>(locality, "priority").unwrap_or(0);
                for endpoint in self.list(locality, "lb_endpoints") {
                    endpoints.extend(self.endpoint(endpoint, tier));
                }
            }
        }
        let mut cluster = ClusterConfig::new(name, endpoints);
        cluster.overprovision_percent = overprovisioning.unwrap_or(cluster.overprovision_percent);
        if let Some(timeout) = self.duration(node, "connect_timeout") {
            cluster.connect_timeout = timeout;
        }
        cluster.protocol = self.protocol(node);
        cluster.balance = match self.text(node, "lb_policy") {
            None | Some("ROUND_ROBIN" | "0") => Balance::RoundRobin,
            Some("LEAST_REQUEST" | "1") => Balance::LeastRequest,
            Some("RANDOM" | "3") => Balance::Random,
            Some("RING_HASH" | "2") => Balance::Ring,
            Some("MAGLEV" | "5") => Balance::Maglev,
            Some(other) => {
                let (message, place) =
                    (format!("`lb_policy: {}` is not supported", shown(other)), node.place);
                self.report
                    .objection(place, message)
                    .hint("supported are ROUND_ROBIN, LEAST_REQUEST, RANDOM, RING_HASH and MAGLEV");
                Balance::RoundRobin
            }
        };
        if let Some(table) = self.get(node, "maglev_lb_config")
            && self.number::<usize>(table, "table_size").is_some_and(|places| places != MAGLEV_TABLE_SIZE)
        {
            self.report
                .objection(
                    table.place,
                    format!(
                        "eddy's Maglev table always has {MAGLEV_TABLE_SIZE} entries, which is Envoy's default"
                    ),
                )
                .hint("leave `table_size` out");
        }
        if let Some(socket) = self.get(node, "transport_socket") {
            cluster.tls = self.upstream_tls(socket, &cluster.endpoints);
        }
        // Without `outlier_detection`, Envoy ejects no endpoint.
        cluster.ejection.failures = 0;
        if let Some(detection) = self.get(node, "outlier_detection") {
            self.warn_ineffective(
                detection,
                &[("interval", "an endpoint is ejected as soon as it reaches the number of failures")],
            );
            cluster.ejection = EjectionConfig {
                failures: self.number(detection, "consecutive_5xx").unwrap_or(5),
                base_time: self.duration(detection, "base_ejection_time").unwrap_or(Duration::from_secs(30)),
                time_max: self.duration(detection, "max_ejection_time").unwrap_or(Duration::from_secs(300)),
                percent_max: self.number(detection, "max_ejection_percent").unwrap_or(10),
                ..EjectionConfig::default()
            };
        }
        Some(cluster)
    }

    /// Reads the upstream protocol: the deprecated `http2_protocol_options` or the newer
    /// `typed_extension_protocol_options`.
    fn protocol(&mut self, node: &YamlNode<'_>) -> LinkProtocol {
        if self.get(node, "http2_protocol_options").is_some() {
            return LinkProtocol::Http2;
        }
        let options = self.get(node, "typed_extension_protocol_options");
        let Some(entry) = options.and_then(|options| options.entry(PROTOCOL_OPTIONS)) else {
            return LinkProtocol::Http1;
        };
        self.take(&entry.key);
        let Some((options, _)) = self.typed(&entry.value, &[PROTOCOL_OPTIONS]) else {
            return LinkProtocol::Http1;
        };
        self.upstream_filters(options, "http_filters");
        if let Some(explicit) = self.get(options, "explicit_http_config") {
            // eddy has no options for HTTP/1.
            let _ = self.get(explicit, "http_protocol_options");
            if self.get(explicit, "http2_protocol_options").is_some() {
                return LinkProtocol::Http2;
            }
        }
        if let Some(auto) = self.get(options, "auto_config") {
            for version in ["http_protocol_options", "http2_protocol_options"] {
                let _ = self.get(auto, version);
            }
            return LinkProtocol::Auto;
        }
        LinkProtocol::Http1
    }

    fn endpoint(&mut self, node: &YamlNode<'_>, tier: u8) -> Option<EndpointConfig> {
        let weight = self.number::<u32>(node, "load_balancing_weight").unwrap_or(1);
        let endpoint = self.get(node, "endpoint")?;
        let address = self.get(endpoint, "address")?;
        let address = match self.address(address)? {
            Written::Pipe(path) => EndpointAddress::Unix(path),
            Written::Socket(host, port) => match host.parse::<IpAddr>() {
                Ok(ip) => EndpointAddress::Socket(SocketAddr::new(ip, port)),
                Err(_) => EndpointAddress::Name { host: host.to_ascii_lowercase().into(), port },
            },
        };
        let mut endpoint = EndpointConfig::new(address);
        endpoint.weight = weight.clamp(1, 1000);
        endpoint.terms.tier = tier;
        Some(endpoint)
    }

    fn address(&mut self, node: &YamlNode<'_>) -> Option<Written> {
        if let Some(pipe) = self.get(node, "pipe") {
            return self.word(pipe, "path").map(|path| Written::Pipe(path.into()));
        }
        let socket = self.get(node, "socket_address");
        let written = socket.and_then(|socket| {
            self.pass(socket, &["protocol", "resolver_name"]);
            let port = self.number::<u16>(socket, "port_value")?;
            Some(Written::Socket(self.word(socket, "address")?.to_owned(), port))
        });
        if written.is_none() {
            self.report
                .error(node.place, "the address is missing")
                .hint("for example `socket_address: {address: 127.0.0.1, port_value: 8080}`");
        }
        written
    }

    /// Reads the admin listener.
    pub(super) fn admin(&mut self, node: &YamlNode<'_>) -> Option<AdminConfig> {
        let admin = self.get(node, "admin")?;
        self.pass(admin, &["access_log", "access_log_path", "profile_path"]);
        let address = self.get(admin, "address")?;
        match self.address(address)? {
            Written::Socket(host, port) => match host.parse::<IpAddr>() {
                Ok(ip) => Some(AdminConfig { address: self.admin_address(ip, port, address.place) }),
                Err(_) => {
                    self.report.error(address.place, format!("`{}` is not an IP address", shown(&host)));
                    None
                }
            },
            Written::Pipe(_) => {
                self.report.objection(address.place, "the admin listener needs a TCP address");
                None
            }
        }
    }

    /// Returns the address of the admin listener: always loopback, whatever address is written.
    fn admin_address(&mut self, written: IpAddr, port: u16, place: SourceSpan) -> SocketAddr {
        let loopback: IpAddr =
            if written.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() };
        let address = SocketAddr::new(if written.is_loopback() { written } else { loopback }, port);
        if address.ip() != written {
            self.report
                .warning(
                    place,
                    format!("the admin listener is bound to {address}: eddy opens it on loopback only, not on {written}"),
                )
                .hint(format!("write `address: {}`", address.ip()));
        }
        address
    }

    /// Reads the listeners, in order.
    pub(super) fn listeners<'n, 't>(&mut self, node: &'n YamlNode<'t>) -> Vec<Manager<'n, 't>> {
        let mut managers = Vec::new();
        for listener in self.list(node, "listeners") {
            match self.listener(listener) {
                Some(manager) => managers.push(manager),
                // The problem is reported; the fields left unread because of it must not be.
                None => self.mark_all_read(listener),
            }
        }
        managers
    }

    fn listener<'n, 't>(&mut self, node: &'n YamlNode<'t>) -> Option<Manager<'n, 't>> {
        self.pass(node, &["stat_prefix", "enable_reuse_port", "reuse_port", "traffic_direction", "metadata"]);
        let address = match self.get(node, "address").and_then(|address| self.address(address))? {
            Written::Pipe(path) => ListenAddress::Unix(path),
            Written::Socket(host, port) => {
                let Ok(ip) = host.parse::<IpAddr>() else {
                    self.report.error(node.place, format!("`{}` is not an IP address", shown(&host)));
                    return None;
                };
                ListenAddress::Tcp(SocketAddr::new(ip, port))
            }
        };
        let name = self.word(node, "name").map_or_else(|| address.to_string(), str::to_owned);
        let chains = self.list(node, "filter_chains");
        let [chain] = chains else {
            self.report
                .error(node.place, format!("a listener needs exactly one filter chain, not {}", chains.len()))
                .hint("eddy does not select filter chains by connection; write a listener for each");
            return None;
        };
        self.pass(chain, &["name", "metadata"]);
        let filters = self.list(chain, "filters");
        let [filter] = filters else {
            self.report
                .error(chain.place, "a filter chain needs exactly one filter: the HTTP connection manager")
                .hint("Envoy's other network filters are not supported");
            return None;
        };
        self.chain_match(chain);
        let manager = self.network_filter(filter)?;
        let mut manager = self.manager(manager, &name, address)?;
        if let Some(socket) = self.get(chain, "transport_socket") {
            manager.config.tls = self.downstream_tls(socket);
            manager.is_refused = manager.config.tls.is_none();
        }
        Some(manager)
    }

    fn manager<'n, 't>(
        &mut self,
        node: &'n YamlNode<'t>,
        name: &str,
        address: ListenAddress,
    ) -> Option<Manager<'n, 't>> {
        self.pass(node, &["stat_prefix"]);
        self.warn_ineffective(
            node,
            &[
                ("codec_type", "connections use HTTP/1.1"),
                ("tracing", "eddy does not support tracing"),
                ("server_name", "the endpoint's `Server` header is forwarded"),
                ("server_header_transformation", "the endpoint's `Server` header is forwarded"),
                ("generate_request_id", "eddy generates no request IDs"),
                ("access_log", "no access log is written"),
                ("http_protocol_options", "eddy uses its own rules"),
                ("use_remote_address", "the client address is always that of the connection"),
            ],
        );
        let filters = self.http_filters(node);
        let escaped_slashes = match self.text(node, "path_with_escaped_slashes_action") {
            Some("REJECT_REQUEST" | "2") => EscapedSlashes::Refused,
            Some("UNESCAPE_AND_FORWARD" | "4") => EscapedSlashes::Decoded,
            Some("UNESCAPE_AND_REDIRECT" | "3") => {
                self.report
                    .objection(node.place, "eddy does not redirect to the unescaped path")
                    .hint("write UNESCAPE_AND_FORWARD or REJECT_REQUEST");
                EscapedSlashes::Decoded
            }
            _ => EscapedSlashes::Kept,
        };
        let normaliser = Normaliser::Envoy(EnvoyPaths {
            escaped_slashes,
            normalizes: self.is_true(node, "normalize_path"),
            merges_slashes: self.is_true(node, "merge_slashes"),
        });
        let mut timeouts = HttpTimeouts::default();
        if let Some(timeout) = self.duration(node, "request_headers_timeout").filter(|time| !time.is_zero()) {
            timeouts.head = timeout;
        }
        if let Some(options) = self.get(node, "common_http_protocol_options")
            && let Some(idle) = self.duration(options, "idle_timeout").filter(|time| !time.is_zero())
        {
            timeouts.idle = idle;
        }
        let Some(routes) = self.get(node, "route_config") else {
            self.report
                .error(node.place, format!("the listener `{}` has no `route_config`", shown(name)))
                .hint("eddy reads routes only from the configuration file: write them here");
            return None;
        };
        let config = ListenerConfig {
            name: name.into(),
            normaliser,
            strips_port: self.is_true(node, "strip_any_host_port"),
            timeouts,
            has_access_log: false,
            ..ListenerConfig::new(address, Serve::Routes(Vec::new()))
        };
        let protocols = self.upgrade_protocols(node, &[]);
        Some(Manager { config, routes, protocols, filters, is_refused: false })
    }
}

/// Address as written.
enum Written {
    Socket(String, u16),
    Pipe(PathBuf),
}

/// Returns the listener for a file that is a route configuration only.
pub(super) fn default_listener(table: TableId) -> ListenerConfig {
    let address = ListenAddress::Tcp(SocketAddr::from(([127, 0, 0, 1], 10_000)));
    ListenerConfig {
        name: "routes".into(),
        normaliser: Normaliser::Envoy(EnvoyPaths::default()),
        has_access_log: false,
        ..ListenerConfig::new(address, Serve::Routes(vec![table]))
    }
}

/// First character of a source.
pub(super) const SOURCE_START: SourceSpan = SourceSpan { source: 0, line: 1, column: 1, length: 1 };

/// Extension that selects the upstream protocol.
const PROTOCOL_OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
