//! NGINX configuration as a whole: the directives outside of servers, and listeners for the addresses of servers.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use eddy_check::{ConfigDialect, Draft};
use eddy_config::{
    AccessLogConfig, AddressBlock, ForwardedConfig, GatewaySettings, HttpLimits, HttpTimeouts, ListenAddress,
    ListenerConfig, LogFormat, LogTarget, Serve, SitesAt, SitesConfig,
};
use eddy_ids::Shared;
use eddy_route::nginx::{Address, BlockKind, Sites, TryFilesFallback};
use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText, place_of, shown};

use super::block::{EVENTS, HTTP, MAIN};
use super::constants::Constants;
use super::include::{includes, is_pattern, matches_pattern, united};
use super::listen::Listen;
use super::reader::{NginxOutput, NginxReader, Targets};
use super::scope::BlockSettings;
use super::server::ServerRead;
use super::tree::{Directive, NginxWord};

/// Servers of an NGINX configuration, and listeners for them.
pub(crate) struct NginxServers {
    pub(crate) listeners: Vec<ListenerConfig>,
    pub(crate) sites: SitesConfig,
    main: MainContext,
}

/// NGINX's configuration language: the first text is `nginx.conf`, the others are files that it includes.
pub(crate) struct Nginx;

impl ConfigDialect<[SourceText]> for Nginx {
    fn lower(&self, sources: &[SourceText], draft: &mut Draft<'_>, report: &mut ProblemReport) {
        for (number, source) in sources.iter().enumerate() {
            let gap = if number > 0 { "\n" } else { "" };
            draft.show_text(number, format!("{gap}{}", source.text));
        }
        draft.included = included(sources, 0);
        let (clusters, place) = (&mut draft.clusters, SourceSpan::default());
        let output = NginxOutput { clusters, sites: draft.sites.len(), table: None, place };
        let read = report.with(draft.leniency, |report| read_nginx(sources, 0, output, report));
        let Some(NginxServers { listeners, sites, main }) = read else {
            draft.is_incomplete = true;
            return;
        };
        draft.listeners = listeners;
        draft.sites.push(Shared::new(sites));
        main.set(&mut draft.settings);
    }
}

/// Reads NGINX directives: the source `root` and those that it includes.
///
/// Returns `None` when errors were reported before.
pub(crate) fn read_nginx(
    sources: &[SourceText],
    root: usize,
    output: NginxOutput<'_, '_>,
    report: &mut ProblemReport,
) -> Option<NginxServers> {
    let directives = united(sources, root, report);
    if report.has_errors() {
        return None;
    }
    let mut reader = NginxReader::new(sources, output, report);
    let first = sources.get(root).and_then(|source| Path::new(&*source.path).parent());
    reader.folder = first.map(Path::to_path_buf).unwrap_or_default();
    reader.read(&directives)
}

/// Reads directives that another dialect generated; returns `None` on errors, which are reported.
pub(crate) fn read_generated(
    directives: &[Directive],
    targets: Targets,
    output: NginxOutput<'_, '_>,
    sources: &[SourceText],
    report: &mut ProblemReport,
) -> Option<NginxServers> {
    let mut reader = NginxReader::new(sources, output, report);
    reader.targets = targets;
    reader.read(directives)
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

impl NginxReader<'_, '_> {
    /// Reads a whole configuration; returns `None` when errors were reported before.
    fn read(mut self, directives: &[Directive]) -> Option<NginxServers> {
        let mut main = MainContext::default();
        self.main(directives, &mut main);
        self.check_variables();
        self.check_names();
        let listeners = self.listeners(&main.servers);
        if self.report.has_errors() {
            return None;
        }
        let sites = SitesConfig { program: Sites::build(self.spec), actions: self.actions };
        Some(NginxServers { listeners, sites, main })
    }

    fn main(&mut self, directives: &[Directive], main: &mut MainContext) {
        self.has_workers = directives.iter().any(|directive| directive.name.text == "worker_processes");
        for directive in directives {
            if !self.accepts(directive, MAIN) {
                continue;
            }
            let block = directive.block.as_deref().unwrap_or_default();
            match (directive.name.text.as_str(), directive.arguments.as_slice()) {
                ("worker_processes", [number]) if number.text != "auto" => {
                    main.workers = self.number(number, 1, 256).and_then(|number| u16::try_from(number).ok());
                }
                ("worker_shutdown_timeout", [time]) => main.drain_timeout = self.time(time),
                ("events", []) => self.events(block, main),
                ("http", []) => self.http(block, main),
                _ => {}
            }
        }
        if main.servers.is_empty() && !self.report.has_errors() {
            self.report
                .error(SourceSpan { source: 0, line: 1, column: 1, length: 1 }, "no `server` is configured")
                .hint("write `http { server { listen 8080; location / { proxy_pass http://127.0.0.1:9000; } } }`");
        }
    }

    fn events(&mut self, directives: &[Directive], main: &mut MainContext) {
        for directive in directives {
            if self.accepts(directive, EVENTS)
                && let ("worker_connections", [number]) =
                    (directive.name.text.as_str(), directive.arguments.as_slice())
            {
                let number = self.number(number, 1, 10_000_000);
                main.connections = number.and_then(|number| u32::try_from(number).ok());
            }
        }
    }

    fn http(&mut self, block: &[Directive], main: &mut MainContext) {
        let directives = self.accepted(block, HTTP);
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
        main.access_log = scope.access_log.clone();
        for directive in directives.iter().filter(|directive| directive.name.text == "server") {
            let server = self.server(directive, &scope);
            main.servers.push(server);
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
                    let BlockKind::Named(name) = &place(location)?.kind else { return None };
                    Some(&**name)
                })
                .collect();
            let mut pending: Vec<u32> = server.locations.clone();
            pending.push(server.place);
            while let Some(spec) = pending.pop().as_ref().and_then(place) {
                pending.extend(&spec.locations);
                let pages = spec.error_pages.iter().filter_map(|page| page.target.as_plain());
                let pages = pages.filter_map(|target| std::str::from_utf8(target).ok()?.strip_prefix('@'));
                let tried = match &spec.try_files_fallback {
                    Some(TryFilesFallback::Named(name)) => Some(&**name),
                    Some(TryFilesFallback::Status(_) | TryFilesFallback::Path(_)) | None => None,
                };
                for name in pages.chain(tried).filter(|name| !names.contains(name)) {
                    wrong.push((spec.origin.clone(), name.to_owned()));
                }
            }
        }
        for (origin, name) in wrong {
            self.report
                .error(
                    place_of(&origin, self.sources),
                    format!("there is no location `@{}` in this server", shown(&name)),
                )
                .hint(format!("add `location @{} {{ ... }}` to the server", shown(&name)));
        }
    }

    /// Returns the listeners of servers, one for each address.
    fn listeners(&mut self, servers: &[ServerRead]) -> Vec<ListenerConfig> {
        let (spec, sites) = (&mut self.spec, self.output.sites);
        let mut listeners: Vec<ListenerConfig> = Vec::new();
        let mut by_address: HashMap<ListenAddress, usize> = HashMap::new();
        // Parameters of all `listen` of each address together.
        let mut listens: Vec<Listen> = Vec::new();
        for server in servers {
            for listen in &server.listens {
                let at = *by_address.entry(listen.address.clone()).or_insert_with(|| {
                    let text: Shared<str> = listen.address.to_string().into();
                    spec.addresses.push(Address { text, servers: Vec::new(), default: server.index });
                    listens.push(Listen { is_default: false, ..listen.clone() });
                    listeners.push(listener(
                        &listen.address,
                        SitesAt { sites, address: spec.addresses.len() - 1 },
                        &server.scope,
                    ));
                    listeners.len() - 1
                });
                let known = &mut listens[at];
                known.is_tls |= listen.is_tls;
                known.has_http2 |= listen.has_http2;
                let address = &mut spec.addresses[at];
                // A server that names an address twice does so in succession.
                if address.servers.last() != Some(&server.index) {
                    address.servers.push(server.index);
                }
                if listen.is_default && !known.is_default {
                    known.is_default = true;
                    address.default = server.index;
                    listeners[at] = listener(&listen.address, SitesAt { sites, address: at }, &server.scope);
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
        for ((listener, address), listen) in listeners.iter_mut().zip(&addresses).zip(listens) {
            if listen.is_tls {
                listener.tls = self.listener_tls(address, servers);
            }
            // Over TLS, one ALPN offer is made for all servers of an address.
            let says_any = address.servers.iter().any(|index| speaking.contains(index));
            listener.http2.over_tls = listen.has_http2 || says_any;
            listener.http2.in_cleartext = listen.has_http2 || speaking.contains(&address.default);
        }
        self.spec.addresses = addresses;
        listeners
    }
}

impl MainContext {
    /// Sets what the directives say about the gateway as a whole.
    fn set(self, settings: &mut GatewaySettings) {
        let limit = &mut settings.limits.connections_max;
        let workers = u32::from(self.workers.unwrap_or(1));
        *limit = self.connections.map_or(*limit, |each| each.saturating_mul(workers).max(each));
        settings.workers = self.workers;
        settings.access_log = self.access_log.as_ref().and_then(access_log);
        settings.drain_timeout = self.drain_timeout.unwrap_or(settings.drain_timeout);
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
fn listener(address: &ListenAddress, at: SitesAt, scope: &BlockSettings) -> ListenerConfig {
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
        limits,
        timeouts,
        forwarded: ForwardedConfig { x_forwarded: false, forwarded: false, trusted: trusted.collect() },
        has_access_log: scope.access_log.as_ref().is_none_or(|word| word.text != "off"),
        ..ListenerConfig::new(address.clone(), Serve::Sites(at))
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
