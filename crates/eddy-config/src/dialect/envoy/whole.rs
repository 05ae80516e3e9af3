//! Envoy configuration as a whole: a bootstrap file, or a route configuration alone.

use eddy_builtin::{BuiltinConfig, GrpcWebConfig};
use eddy_filter::FilterPolicy;
use eddy_ids::{Shared, TableId};
use eddy_route::Router;

use super::bootstrap::{BEGINNING, default_listener};
use super::hash::{RouteKeys, give_keys};
use super::reader::EnvoyReader;
use super::routes::EnvoyRouteTable;
use super::scope::RouteConfigContext;
use super::shape;
use crate::check::{CheckedFilters, ClusterDraft, TablesDraft, shown_text};
use crate::config::{
    AdminConfig, GatewayConfig, GatewayLimits, ListenerConfig, LogConfig, LogFormat, Predecessor,
    QuarantineConfig, Serve,
};
use crate::leniency::Leniency;
use crate::problem::{ProblemReport, SourceSpan, SourceText};
use crate::version::version_of;
use crate::yaml::{YamlNode, has_outer_key, parse};

/// Whether a text is an Envoy configuration: a bootstrap file or a route configuration.
pub(crate) fn is_envoy(text: &str) -> bool {
    has_outer_key(text, |key| {
        matches!(key, "static_resources" | "staticResources" | "virtual_hosts" | "virtualHosts" | "@type")
    })
}

/// Checks an Envoy configuration, which is one text.
pub(crate) fn check_envoy(
    sources: &[SourceText],
    leniency: Leniency,
    last: Predecessor<'_>,
    report: &mut ProblemReport,
) -> Option<GatewayConfig> {
    let [source] = sources else {
        let place = SourceSpan { source: 1, ..BEGINNING };
        report
            .error(place, "an Envoy configuration is a single file")
            .hint("move everything into the first file");
        return None;
    };
    let tree = parse(&source.text, 0, report);
    let mut root = tree.root.filter(|_| tree.is_whole)?;
    if leniency == Leniency::Lenient {
        report.be_lenient();
    }
    let is_routes = root.entry("virtual_hosts").or_else(|| root.entry("virtualHosts")).is_some()
        || shape::type_of(&root).is_some_and(|name| name == ROUTES);
    let (message, name) = if is_routes { (ROUTES, "routes") } else { (BOOTSTRAP, "bootstrap") };
    shape::spell_enums(&mut root, message);
    let root = &root;
    shape::check(root, message, name, report);
    if report.has_errors() {
        return None;
    }
    let mut whole = EnvoyBootstrap {
        file: source.path.clone(),
        listeners: Vec::new(),
        tables: TablesDraft::new(last.tables),
        clusters: ClusterDraft::new(last.clusters),
        admin: None,
        filters: CheckedFilters::new(last.filters),
    };
    let mut reader = EnvoyReader::new(report);
    if is_routes {
        whole.routes_alone(root, &mut reader);
    } else {
        whole.bootstrap(root, &mut reader);
    }
    reader.object_to_rest(root);
    whole.check(report);
    report.be_strict();
    if report.has_errors() { None } else { Some(whole.config(sources, root)) }
}

/// Configuration as read so far.
struct EnvoyBootstrap<'l> {
    file: Shared<str>,
    listeners: Vec<ListenerConfig>,
    tables: TablesDraft<'l>,
    clusters: ClusterDraft<'l>,
    admin: Option<AdminConfig>,
    filters: CheckedFilters<'l>,
}

impl EnvoyBootstrap<'_> {
    fn routes_alone(&mut self, root: &YamlNode<'_>, reader: &mut EnvoyReader<'_>) {
        let mut frame = RouteConfigContext {
            file: self.file.clone(),
            clusters: &mut self.clusters,
            may_add_clusters: true,
            keys: &mut RouteKeys::new(),
            protocols: Vec::new(),
        };
        let routes = reader.routes(root, &mut frame);
        let table = self.add(routes, root, reader.report);
        if let Some((_, first)) = self.clusters.iter().next() {
            let first = &first.name;
            reader
                .report
                .warning(root.place, format!("clusters such as `{first}` have no addresses here: requests to them fail with 503"))
                .hint("write a bootstrap file, which has both: `static_resources: {listeners: [...], clusters: [...]}`");
        }
        self.listeners.push(default_listener(table));
    }

    fn bootstrap(&mut self, root: &YamlNode<'_>, reader: &mut EnvoyReader<'_>) {
        reader.pass(root, &["@type", "node", "layered_runtime", "stats_config"]);
        self.admin = reader.admin(root);
        let Some(resources) = reader.get(root, "static_resources") else {
            reader.report.error(root.place, "`static_resources` is missing");
            return;
        };
        reader.clusters(resources, &self.file, &mut self.clusters);
        let mut keys = RouteKeys::new();
        for manager in reader.listeners(resources, &self.file) {
            let mut frame = RouteConfigContext {
                file: self.file.clone(),
                clusters: &mut self.clusters,
                may_add_clusters: false,
                keys: &mut keys,
                protocols: manager.protocols,
            };
            let mut routes = reader.routes(manager.routes, &mut frame);
            routes.table.config.routes.reading.host.keeps_port &= !manager.config.strips_port;
            if manager.is_refused {
                continue;
            }
            let table = self.add(routes, manager.routes, reader.report);
            let grpc_web = manager.takes_grpc_web.then(|| {
                let builtin = BuiltinConfig::GrpcWeb(GrpcWebConfig::default());
                self.filters.builtin(GRPC_WEB_FILTER, builtin, FilterPolicy::default())
            });
            self.listeners.push(ListenerConfig {
                serve: Serve::Routes(vec![table]),
                filters: grpc_web.into_iter().collect(),
                ..manager.config
            });
        }
        give_keys(&mut self.clusters, &keys, reader.report);
        if self.listeners.is_empty() && !reader.report.has_errors() {
            reader.report.error(resources.place, "no `listeners` are configured");
        }
    }

    fn add(&mut self, routes: EnvoyRouteTable, node: &YamlNode<'_>, report: &mut ProblemReport) -> TableId {
        if routes.table.config.routes.rules.is_empty() {
            report.warning(node.place, "there are no routes").hint("every request gets a 404 response");
        }
        self.tables.add(routes.table)
    }

    /// Compiles the tables, so that their problems are reported here.
    fn check(&self, report: &mut ProblemReport) {
        for (table, places) in self.tables.iter() {
            match Router::build(std::slice::from_ref(&table.routes)) {
                Ok(router) => {
                    for ranked in router.ordered() {
                        if let (Some(dead), Some(place)) =
                            (ranked.dead, places.get(ranked.rule.index as usize))
                        {
                            report
                                .warning(
                                    place.rule,
                                    format!("the route `{}` can never win: {dead}", ranked.rule.rule),
                                )
                                .hint("`eddy routes` shows the order of all routes");
                        }
                    }
                }
                Err(errors) => {
                    for error in errors {
                        let at = table.routes.rules.iter().position(|rule| rule.origin == error.origin);
                        let place = at.and_then(|at| places.get(at)).map_or(BEGINNING, |places| places.rule);
                        report.error(place, error.problem.to_string()).hint(error.hint());
                    }
                }
            }
        }
    }

    fn config(self, sources: &[SourceText], root: &YamlNode<'_>) -> GatewayConfig {
        GatewayConfig {
            listeners: self.listeners,
            tables: self.tables.finish().0,
            sites: Vec::new(),
            clusters: self.clusters.finish(),
            filters: self.filters.finish().0,
            admin: self.admin,
            access_log: None,
            log: LogConfig { level: "info".into(), format: LogFormat::Text },
            limits: GatewayLimits::default(),
            quarantine: QuarantineConfig::default(),
            route_check: 0,
            acme: None,
            workers: None,
            drain_timeout: crate::config::DRAIN_TIMEOUT,
            shown: shown_text(sources, &[vec![root]]),
            version: version_of(sources),
            included: Vec::new(),
        }
    }
}

const ROUTES: &str = "envoy.config.route.v3.RouteConfiguration";

const BOOTSTRAP: &str = "envoy.config.bootstrap.v3.Bootstrap";

/// Name of the gRPC-Web filter.
const GRPC_WEB_FILTER: &str = "envoy-grpc-web";
