//! NGINX configuration as a whole: the directives outside of servers, and listeners for the addresses of servers.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use eddy_ids::Shared;
use eddy_model::ClusterConfig;
use eddy_route::nginx::{Address, LastTry, PlaceKind, Sites};

use super::block::{EVENTS, HTTP, MAIN};
use super::constants::Constants;
use super::include::{includes, is_pattern, matches_pattern, united};
use super::reader::NginxReader;
use super::scope::BlockSettings;
use super::server::ServerRead;
use super::targets::Targets;
use super::tree::{Directive, NginxWord};
use crate::config::{
    AccessLogConfig, Action, AddressBlock, ForwardedConfig, GatewayConfig, GatewayLimits, Http2Config,
    HttpLimits, HttpTimeouts, ListenAddress, ListenerConfig, LogConfig, LogFormat, LogTarget,
    QuarantineConfig, Serve, SitesAt,
};
use crate::leniency::Leniency;
use crate::problem::{ProblemReport, SourceSpan, SourceText, shown};
use crate::version::version_of;

/// Checks an NGINX configuration: the source `root` and those that it includes.
///
/// Returns `None` when errors were reported before. Actions are numbered from `actions_before` on.
pub(crate) fn check_nginx(
    sources: &[SourceText],
    root: usize,
    actions_before: usize,
    leniency: Leniency,
    report: &mut ProblemReport,
) -> Option<GatewayConfig> {
    let directives = united(sources, root, report);
    if report.has_errors() {
        return None;
    }
    let mut reader = NginxReader::new(sources, actions_before, leniency, report);
    let first = sources.get(root).and_then(|source| Path::new(&*source.path).parent());
    reader.folder = first.map(Path::to_path_buf).unwrap_or_default();
    let mut frame = MainContext::default();
    reader.main(&directives, &mut frame);
    reader.check_variables();
    reader.check_names();
    let listeners = reader.listeners(&frame.servers);
    if reader.report.has_errors() {
        return None;
    }
    Some(reader.config(frame, listeners, sources, root))
}

/// Result of directives that another dialect generated.
pub(in crate::dialect) struct GeneratedSites {
    pub(in crate::dialect) listeners: Vec<ListenerConfig>,
    pub(in crate::dialect) sites: Sites,
    /// The existing actions, followed by those of the directives.
    pub(in crate::dialect) actions: Vec<Action>,
    /// The existing clusters, followed by those of the directives.
    pub(in crate::dialect) clusters: Vec<ClusterConfig>,
}

/// Reads directives that another dialect generated; returns `None` on errors, which are reported.
pub(in crate::dialect) fn make(
    directives: &[Directive],
    targets: Targets,
    (actions, clusters): (Vec<Action>, Vec<ClusterConfig>),
    sources: &[SourceText],
    report: &mut ProblemReport,
) -> Option<GeneratedSites> {
    let leniency = if report.is_lenient() { Leniency::Lenient } else { Leniency::Strict };
    let mut reader = NginxReader::new(sources, 0, leniency, report);
    // Hash keys are found by the index of an action, and of a cluster, in its list.
    reader.spec.hash_keys.resize(actions.len(), None);
    reader.hash_keys.resize(clusters.len(), None);
    (reader.actions, reader.clusters, reader.targets) = (actions, clusters, targets);
    let mut frame = MainContext::default();
    reader.main(directives, &mut frame);
    reader.check_variables();
    reader.check_names();
    let listeners = reader.listeners(&frame.servers);
    if reader.report.has_errors() {
        return None;
    }
    let NginxReader { spec, actions, clusters, .. } = reader;
    Some(GeneratedSites { listeners, sites: Sites::build(spec), actions, clusters })
}

/// Settings outside of servers.
#[derive(Default)]
struct MainContext {
    workers: Option<u16>,
    connections: Option<u32>,
    drain_timeout: Option<Duration>,
    servers: Vec<ServerRead>,
    access_log: Option<NginxWord>,
}

impl NginxReader<'_> {
    fn main(&mut self, directives: &[Directive], frame: &mut MainContext) {
        self.has_workers = directives.iter().any(|directive| directive.name.text == "worker_processes");
        for directive in directives {
            if !self.accepts(directive, MAIN) {
                continue;
            }
            let block = directive.block.as_deref().unwrap_or_default();
            match (directive.name.text.as_str(), directive.arguments.as_slice()) {
                ("worker_processes", [number]) if number.text != "auto" => {
                    frame.workers = self.number(number, 1, 256).and_then(|number| u16::try_from(number).ok());
                }
                ("worker_shutdown_timeout", [time]) => frame.drain_timeout = self.time(time),
                ("events", []) => self.events(block, frame),
                ("http", []) => self.http(block, frame),
                _ => {}
            }
        }
        if frame.servers.is_empty() && !self.report.has_errors() {
            self.report
                .error(SourceSpan { source: 0, line: 1, column: 1, length: 1 }, "no `server` is configured")
                .hint("write `http { server { listen 8080; location / { proxy_pass http://127.0.0.1:9000; } } }`");
        }
    }

    fn events(&mut self, directives: &[Directive], frame: &mut MainContext) {
        for directive in directives {
            if self.accepts(directive, EVENTS)
                && let ("worker_connections", [number]) =
                    (directive.name.text.as_str(), directive.arguments.as_slice())
            {
                let number = self.number(number, 1, 10_000_000);
                frame.connections = number.and_then(|number| u32::try_from(number).ok());
            }
        }
    }

    fn http(&mut self, block: &[Directive], frame: &mut MainContext) {
        let directives: Vec<Directive> =
            block.iter().filter(|directive| self.accepts(directive, HTTP)).cloned().collect();
        self.declare_variables(&directives);
        self.constants = Constants::of_http(&directives);
        self.resolver = self.group_resolver(&directives);
        for directive in &directives {
            match directive.name.text.as_str() {
                "map" => self.map(directive),
                "upstream" => self.upstream(directive),
                _ => {}
            }
        }
        let outside = BlockSettings::default();
        let scope = outside.within(&directives, self).guarded(&outside, block);
        frame.access_log = scope.access_log.clone();
        for directive in directives.iter().filter(|directive| directive.name.text == "server") {
            let server = self.server(directive, &scope);
            frame.servers.push(server);
        }
    }

    /// Reports variables that are read but never assigned.
    fn check_variables(&mut self) {
        let mut uses: Vec<(u32, SourceSpan)> =
            self.first_uses.iter().map(|(slot, place)| (*slot, *place)).collect();
        uses.sort_by_key(|(_, place)| *place);
        for (slot, place) in uses {
            if self.unread.contains(&slot) {
                let message = format!(
                    "`${}` is used here, but eddy cannot read the directive that sets it",
                    shown(self.spec.variables.name(slot))
                );
                self.report
                    .error(place, message)
                    .hint("remove this use, or change the directive that sets it");
            } else if !self.spec.variables.is_defined(slot) {
                let message =
                    format!("the variable `${}` is undefined", shown(self.spec.variables.name(slot)));
                self.report
                    .error(place, message)
                    .hint("set it with `set`, `map` or a named group, or correct its name");
            }
        }
    }

    /// Reports named locations that are referred to but do not exist.
    fn check_names(&mut self) {
        let mut wrong = Vec::new();
        for server in &self.spec.servers {
            let place = |index: &u32| self.spec.places.get(*index as usize);
            let names: HashSet<&str> = server
                .locations
                .iter()
                .filter_map(|location| {
                    let PlaceKind::Named(name) = &place(location)?.kind else { return None };
                    Some(&**name)
                })
                .collect();
            let mut pending: Vec<u32> = server.locations.clone();
            pending.push(server.place);
            while let Some(spec) = pending.pop().as_ref().and_then(place) {
                pending.extend(&spec.locations);
                let pages = spec.error_pages.iter().filter_map(|page| page.target.as_plain());
                let pages = pages.filter_map(|target| std::str::from_utf8(target).ok()?.strip_prefix('@'));
                let tried = match &spec.last_try {
                    Some(LastTry::Named(name)) => Some(&**name),
                    Some(LastTry::Status(_) | LastTry::Path(_)) | None => None,
                };
                for name in pages.chain(tried).filter(|name| !names.contains(name)) {
                    wrong.push((spec.origin.clone(), name.to_owned()));
                }
            }
        }
        for (origin, name) in wrong {
            let source =
                self.sources.iter().position(|source| source.path == origin.file).unwrap_or_default();
            let source = u32::try_from(source).unwrap_or_default();
            let place = SourceSpan { source, line: origin.line, column: 1, length: 1 };
            self.report
                .error(place, format!("there is no location `@{}` in this server", shown(&name)))
                .hint(format!("add `location @{} {{ ... }}` to the server", shown(&name)));
        }
    }

    /// Returns the listeners of servers, one for each address.
    fn listeners(&mut self, servers: &[ServerRead]) -> Vec<ListenerConfig> {
        let spec = &mut self.spec;
        let mut listeners: Vec<ListenerConfig> = Vec::new();
        let mut by_address: HashMap<ListenAddress, usize> = HashMap::new();
        let mut has_default: Vec<bool> = Vec::new();
        let mut is_tls: Vec<bool> = Vec::new();
        let mut has_http2: Vec<bool> = Vec::new();
        for server in servers {
            for listen in &server.listens {
                let at = *by_address.entry(listen.address.clone()).or_insert_with(|| {
                    let text: Shared<str> = listen.address.to_string().into();
                    spec.addresses.push(Address { text, servers: Vec::new(), default: server.index });
                    has_default.push(false);
                    is_tls.push(false);
                    has_http2.push(false);
                    listeners.push(listener(&listen.address, spec.addresses.len() - 1, &server.scope));
                    listeners.len() - 1
                });
                is_tls[at] |= listen.is_tls;
                has_http2[at] |= listen.has_http2;
                let address = &mut spec.addresses[at];
                // A server that names an address twice does so in succession.
                if address.servers.last() != Some(&server.index) {
                    address.servers.push(server.index);
                }
                if listen.is_default && !has_default[at] {
                    has_default[at] = true;
                    address.default = server.index;
                    listeners[at] = listener(&listen.address, at, &server.scope);
                }
            }
        }
        // Errors reported before concern the input of what follows.
        if self.report.has_errors() {
            return listeners;
        }
        let addresses = std::mem::take(&mut self.spec.addresses);
        let speaking = servers.iter().filter(|server| server.scope.has_http2).map(|server| server.index);
        let speaking: HashSet<u32> = speaking.collect();
        for (at, (listener, address)) in listeners.iter_mut().zip(&addresses).enumerate() {
            if is_tls[at] {
                listener.tls = self.listener_tls(address, servers);
            }
            // Over TLS, one ALPN offer is made for all servers of an address.
            let says_any = address.servers.iter().any(|index| speaking.contains(index));
            listener.http2.over_tls = has_http2[at] || says_any;
            listener.http2.in_cleartext = has_http2[at] || speaking.contains(&address.default);
        }
        self.spec.addresses = addresses;
        listeners
    }

    fn config(
        self,
        frame: MainContext,
        listeners: Vec<ListenerConfig>,
        sources: &[SourceText],
        root: usize,
    ) -> GatewayConfig {
        let Self { spec, actions, clusters, .. } = self;
        let workers = u32::from(frame.workers.unwrap_or(1));
        let mut limits = GatewayLimits::default();
        if let Some(connections) = frame.connections {
            limits.connections_max = connections.saturating_mul(workers).max(connections);
        }
        GatewayConfig {
            listeners,
            tables: Vec::new(),
            actions,
            clusters,
            filters: Vec::new(),
            admin: None,
            access_log: frame.access_log.as_ref().and_then(access_log),
            log: LogConfig { level: "info".into(), format: LogFormat::Text },
            limits,
            quarantine: QuarantineConfig::default(),
            workers: frame.workers,
            drain_timeout: frame.drain_timeout.unwrap_or(crate::config::DRAIN_TIMEOUT),
            shown: sources.iter().map(|source| &*source.text).collect::<Vec<_>>().join("\n").into(),
            version: version_of(sources),
            sites: vec![Shared::new(Sites::build(spec))],
            included: included(sources, root),
            route_check: 0,
            acme: None,
        }
    }
}

/// Returns the files that are included, and the directories that patterns search.
pub(crate) fn included(sources: &[SourceText], root: usize) -> Vec<PathBuf> {
    let asked = includes(sources, root);
    let is_asked = |source: &&SourceText| asked.iter().any(|pattern| matches_pattern(pattern, &source.path));
    let files = sources.iter().filter(is_asked).map(|source| PathBuf::from(&*source.path));
    let files: Vec<PathBuf> = files.collect();
    let patterns = asked.into_iter().filter(|pattern| is_pattern(pattern));
    let folders = patterns.filter_map(|pattern| Path::new(&pattern).parent().map(Path::to_path_buf));
    files.into_iter().chain(folders.filter(|folder| !is_pattern(&folder.to_string_lossy()))).collect()
}

/// Returns a listener with the limits of its default server.
fn listener(address: &ListenAddress, index: usize, scope: &BlockSettings) -> ListenerConfig {
    let mut limits = HttpLimits::default();
    if let Some(bytes) = scope.head_bytes_max {
        limits.head.head_bytes_max = u32::try_from(bytes.clamp(1024, 1 << 20)).unwrap_or(1 << 20);
        limits.head.target_bytes_max = limits.head.target_bytes_max.min(limits.head.head_bytes_max);
    }
    limits.requests_per_connection_max = scope.requests_max.unwrap_or_default();
    let mut timeouts = HttpTimeouts::default();
    timeouts.head = scope.head_timeout.unwrap_or(timeouts.head);
    timeouts.idle = scope.idle_timeout.unwrap_or(timeouts.idle);
    // Forwarding headers of clients are passed on unchanged, and nothing is added, unless the configuration says so.
    let everybody = ["0.0.0.0", "::"].map(|address| address.parse());
    let trusted = everybody.into_iter().flatten().map(|address| AddressBlock { address, prefix_bits: 0 });
    ListenerConfig {
        is_required: true,
        http2: Http2Config::default(),
        normaliser: eddy_route::normalise::Normaliser::Eddy,
        strips_port: false,
        name: address.to_string().into(),
        address: address.clone(),
        serve: Serve::Sites(SitesAt { sites: 0, address: index }),
        tls: None,
        proxy_protocol: None,
        limits,
        timeouts,
        forwarded: ForwardedConfig { x_forwarded: false, forwarded: false, trusted: trusted.collect() },
        via: None,
        request_id: None,
        has_access_log: scope.access_log.as_ref().is_none_or(|word| word.text != "off"),
        filters: Vec::new(),
    }
}

fn access_log(word: &NginxWord) -> Option<AccessLogConfig> {
    let target = match word.text.as_str() {
        "off" => return None,
        "/dev/stdout" => LogTarget::Stdout,
        "/dev/stderr" => LogTarget::Stderr,
        file => LogTarget::File(file.into()),
    };
    Some(AccessLogConfig {
        target: Some(target),
        service: None,
        format: LogFormat::Text,
        time_zone: "UTC".into(),
        has_step: false,
        metadata: Vec::new(),
    })
}
