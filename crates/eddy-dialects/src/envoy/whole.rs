//! Envoy configuration as a whole: a bootstrap file, or a route configuration alone.

use eddy_builtin::{BuiltinConfig, GrpcWebConfig};
use eddy_check::{ConfigDialect, Draft, TableDraft};
use eddy_config::{ListenerConfig, Serve};
use eddy_filter::FilterPolicy;
use eddy_ids::{FilterId, Shared, TableId};
use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText};
use eddy_spec::yaml::{YamlNode, parse};

use super::bootstrap::{SOURCE_START, default_listener};
use super::hash::{RouteKeys, set_hash_keys};
use super::module_filter::{HttpFilter, ModuleFilter, ModuleInChain};
use super::reader::EnvoyReader;
use super::scope::RouteConfigContext;
use super::shape;

/// Envoy's configuration language: one text, a bootstrap file or a route configuration.
pub(crate) struct Envoy;

impl ConfigDialect<[SourceText]> for Envoy {
    fn lower(&self, sources: &[SourceText], draft: &mut Draft<'_>, report: &mut ProblemReport) {
        let [source] = sources else {
            let place = SourceSpan { source: 1, ..SOURCE_START };
            report
                .error(place, "an Envoy configuration is a single file")
                .hint("move everything into the first file");
            return;
        };
        let tree = parse(&source.text, 0, report);
        let Some(mut root) = tree.root.filter(|_| tree.is_whole) else {
            draft.is_incomplete = true;
            return;
        };
        report.with(draft.leniency, |report| read(&mut root, &source.path, draft, report));
        draft.show(0, [&root]);
    }
}

fn read(root: &mut YamlNode<'_>, file: &Shared<str>, draft: &mut Draft<'_>, report: &mut ProblemReport) {
    let is_routes = root.entry("virtual_hosts").or_else(|| root.entry("virtualHosts")).is_some()
        || shape::type_of(root).is_some_and(|name| name == ROUTES);
    let (message, name) = if is_routes { (ROUTES, "routes") } else { (BOOTSTRAP, "bootstrap") };
    shape::spell_enums(root, message);
    let root = &*root;
    shape::check(root, message, name, report);
    if report.has_errors() {
        return;
    }
    let mut reader = EnvoyReader::new(Shared::clone(file), report);
    if is_routes {
        read_routes(root, &mut reader, draft);
    } else {
        read_bootstrap(root, &mut reader, draft);
    }
    reader.report_unread_fields(root);
}

/// Reads a route configuration alone.
fn read_routes(root: &YamlNode<'_>, reader: &mut EnvoyReader<'_>, draft: &mut Draft<'_>) {
    let mut context = RouteConfigContext {
        table: reader.route_table(root),
        clusters: &mut draft.clusters,
        may_add_clusters: true,
        keys: &mut RouteKeys::new(),
        protocols: Vec::new(),
        modules: Vec::new(),
    };
    reader.routes(root, &mut context);
    let table = add_table(context.table, root, reader, draft);
    if let Some((_, first)) = draft.clusters.iter().next() {
        let first = &first.name;
        reader
            .report
            .warning(root.place, format!("clusters such as `{first}` have no addresses here: requests to them fail with 503"))
            .hint("write a bootstrap file, which has both: `static_resources: {listeners: [...], clusters: [...]}`");
    }
    draft.listeners.push(default_listener(table));
}

/// Reads a bootstrap file.
fn read_bootstrap(root: &YamlNode<'_>, reader: &mut EnvoyReader<'_>, draft: &mut Draft<'_>) {
    reader.pass(root, &["@type", "node", "layered_runtime", "stats_config"]);
    draft.settings.admin = reader.admin(root);
    let Some(resources) = reader.get(root, "static_resources") else {
        reader.report.error(root.place, "`static_resources` is missing");
        return;
    };
    reader.clusters(resources, &mut draft.clusters);
    let mut keys = RouteKeys::new();
    for manager in reader.listeners(resources) {
        let (filters, modules) = add_filters(manager.filters, draft);
        let mut context = RouteConfigContext {
            table: reader.route_table(manager.routes),
            clusters: &mut draft.clusters,
            may_add_clusters: false,
            keys: &mut keys,
            protocols: manager.protocols,
            modules,
        };
        context.table.config.routes.reading.host.keeps_port &= !manager.config.strips_port;
        reader.routes(manager.routes, &mut context);
        if manager.is_refused {
            continue;
        }
        let table = add_table(context.table, manager.routes, reader, draft);
        draft.listeners.push(ListenerConfig { serve: Serve::Routes(vec![table]), filters, ..manager.config });
    }
    set_hash_keys(&mut draft.clusters, &keys, reader.report);
    if draft.listeners.is_empty() && !reader.report.has_errors() {
        reader.report.error(resources.place, "no `listeners` are configured");
    }
}

/// Adds the HTTP filters of a connection manager, in order; returns also those of dynamic modules.
fn add_filters(filters: Vec<HttpFilter>, draft: &mut Draft<'_>) -> (Vec<FilterId>, Vec<ModuleInChain>) {
    let (mut ids, mut modules) = (Vec::new(), Vec::new());
    for filter in filters {
        let id = match filter {
            HttpFilter::GrpcWeb => {
                let builtin = BuiltinConfig::GrpcWeb(GrpcWebConfig::default());
                draft.filters.builtin(GRPC_WEB_FILTER, builtin, FilterPolicy::default())
            }
            HttpFilter::Module(ModuleFilter { entry, module, config }) => {
                let filter = draft.filters.dynamic_module(&entry, module.clone(), &config);
                modules.push(ModuleInChain { entry, filter, module });
                filter
            }
        };
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    (ids, modules)
}

fn add_table(
    table: TableDraft,
    node: &YamlNode<'_>,
    reader: &mut EnvoyReader<'_>,
    draft: &mut Draft<'_>,
) -> TableId {
    // After an error, routes may be missing that the file has.
    if table.config.routes.rules.is_empty() && !reader.report.has_errors() {
        reader.report.warning(node.place, "there are no routes").hint("every request gets a 404 response");
    }
    draft.tables.add(table)
}

const ROUTES: &str = "envoy.config.route.v3.RouteConfiguration";

const BOOTSTRAP: &str = "envoy.config.bootstrap.v3.Bootstrap";

/// Name of the gRPC-Web filter.
const GRPC_WEB_FILTER: &str = "envoy-grpc-web";
