//! Entry point of the check: from source texts to a config or problems.

use eddy_ids::Shared;

use super::embed::embedded_path;
use super::tables::check_tables;
use crate::check::{
    Draft, Orders, advise, check_access_log, check_admin, check_clusters, check_ends, check_filters,
    check_limits, check_listeners, check_log, check_quarantine, check_routes, shown_text, unite,
};
use crate::config::{ClusterSlots, DRAIN_TIMEOUT, FilterSlots, GatewayConfig, Predecessor, TableSlots};
use crate::dialect::envoy::check_envoy;
use crate::dialect::kubernetes::{Objects, read_objects};
use crate::dialect::nginx::{check_nginx, includes};
use crate::dialect::{ConfigLanguage, add_objects};
use crate::leniency::Leniency;
use crate::problem::{Problem, ProblemReport, SourceSpan, SourceText};
use crate::read::{Either, FromNode, Spanned};
use crate::spec::{GatewaySpec, TableSpec};
use crate::status::ObjectStatus;
use crate::version::version_of;
use crate::yaml::{YamlNode, YamlTree, parse, parse_documents};

/// A configuration without errors.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The configuration.
    pub config: GatewayConfig,
    /// Warnings, in the order of the files.
    pub warnings: Vec<Problem>,
    /// Status of the Gateway API objects, as a Kubernetes cluster would show it.
    pub statuses: Vec<ObjectStatus>,
}

/// Checks the configuration in `sources`; several sources are merged.
///
/// # Errors
/// All problems that were found, including warnings, in the order of the files; at least one is an error.
///
/// # Cost
/// Linear in the texts and in the expansion of aliases, plus the cost of `eddy_route::Router::build` for each listener.
pub fn check(sources: &[SourceText]) -> Result<Checked, Vec<Problem>> {
    check_with(sources, Leniency::Strict)
}

/// Checks the configuration in `sources`, like [`check`], with the given leniency for settings of other programs.
///
/// A first source whose name ends in `.conf` is an NGINX configuration; the others are then files that it includes.
/// Sources with `apiVersion` and `kind` are Kubernetes manifests; a first source with `static_resources` or
/// `virtual_hosts` is an Envoy configuration.
///
/// # Errors
/// As [`check`].
pub fn check_with(sources: &[SourceText], leniency: Leniency) -> Result<Checked, Vec<Problem>> {
    let (tables, clusters, filters) =
        (TableSlots::default(), ClusterSlots::default(), FilterSlots::default());
    check_beside(sources, leniency, Predecessor { tables: &tables, clusters: &clusters, filters: &filters })
}

/// Checks the configuration in `sources`, like [`check_with`], as the successor of `last`: route tables,
/// clusters and filters keep their identifiers by name, and one that has not changed is the same object in both.
///
/// # Errors
/// As [`check`].
pub fn check_after(
    sources: &[SourceText],
    leniency: Leniency,
    last: &GatewayConfig,
) -> Result<Checked, Vec<Problem>> {
    let GatewayConfig { tables, clusters, filters, .. } = last;
    check_beside(sources, leniency, Predecessor { tables, clusters, filters })
}

fn check_beside(
    sources: &[SourceText],
    leniency: Leniency,
    last: Predecessor<'_>,
) -> Result<Checked, Vec<Problem>> {
    let mut report = ProblemReport::new();
    let config = match ConfigLanguage::of(sources) {
        ConfigLanguage::Nginx => {
            check_nginx(sources, leniency, last, &mut report).map(|config| (config, Vec::new()))
        }
        ConfigLanguage::Envoy => {
            check_envoy(sources, leniency, last, &mut report).map(|config| (config, Vec::new()))
        }
        ConfigLanguage::Eddy | ConfigLanguage::Kubernetes => {
            let read = read_all(sources, leniency, &mut report);
            read.and_then(|read| check_spec(read, sources, leniency, last, &mut report))
        }
    };
    match config {
        Some((config, statuses)) if !report.has_errors() => {
            Ok(Checked { config, warnings: report.into_problems(sources), statuses })
        }
        Some(_) | None => Err(report.into_problems(sources)),
    }
}

/// All parsed sources.
struct ParsedSources<'t> {
    spec: GatewaySpec,
    /// Kubernetes objects, if there are manifests.
    objects: Option<Objects<'t>>,
    shown: Shared<str>,
}

/// Reads and merges the sources; returns `None` if the configuration as a whole cannot be checked.
fn read_all<'t>(
    sources: &'t [SourceText],
    leniency: Leniency,
    report: &mut ProblemReport,
) -> Option<ParsedSources<'t>> {
    let (mut united, mut roots, mut is_whole) = (None, Vec::new(), true);
    let mut trees: Vec<Option<YamlTree<'t>>> = Vec::with_capacity(sources.len());
    for (source, number) in sources.iter().zip(0..) {
        if source.is_included {
            // Files that tables refer to are read together with those tables.
            trees.push(Some(YamlTree { root: None, is_whole: true }));
        } else if ConfigLanguage::of_text(source) == ConfigLanguage::Kubernetes {
            let documents = parse_documents(&source.text, number, report);
            is_whole &= documents.is_whole;
            roots.extend(documents.roots);
            trees.push(None);
        } else {
            let tree = parse(&source.text, number, report);
            is_whole &= tree.is_whole;
            let spec = read_tree(&tree, number, report);
            trees.push(Some(tree));
            let Some(spec) = spec else { continue };
            match &mut united {
                Some(united) => unite(united, spec, sources, report),
                None => united = Some(spec),
            }
        }
    }
    if sources.is_empty() {
        report.error(SourceSpan::default(), "no configuration was given");
    }
    let has_manifests = trees.iter().any(Option::is_none);
    let objects = has_manifests.then(|| lenient(leniency, report, |report| read_objects(roots, report)));
    let spec = if has_manifests { Some(united.unwrap_or_default()) } else { united };
    // Everything missing from a truncated text would be reported as an undefined name.
    let spec = spec.filter(|_| is_whole)?;
    let objects_of = |number: usize| {
        let objects = objects.iter().flat_map(|objects| &objects.list);
        objects.filter(move |object| object.place.source as usize == number).map(|object| &object.node)
    };
    let documents: Vec<Vec<&YamlNode<'_>>> = trees
        .iter()
        .enumerate()
        .map(|(number, tree)| match tree {
            Some(tree) => tree.root.iter().collect(),
            None => objects_of(number).collect(),
        })
        .collect();
    let shown = shown_text(sources, &documents);
    Some(ParsedSources { spec, objects, shown })
}

/// Runs `read` with the severity of objections that `leniency` specifies.
fn lenient<T>(
    leniency: Leniency,
    report: &mut ProblemReport,
    read: impl FnOnce(&mut ProblemReport) -> T,
) -> T {
    if leniency == Leniency::Lenient {
        report.be_lenient();
    }
    let done = read(report);
    report.be_strict();
    done
}

fn read_tree(tree: &YamlTree<'_>, source: u32, report: &mut ProblemReport) -> Option<GatewaySpec> {
    let root = tree.root.as_ref().filter(|root| !root.is_nothing());
    let Some(root) = root else {
        if tree.is_whole {
            report
                .error(beginning_of(source), "the configuration is empty")
                .hint("a configuration begins with `listeners:`");
        }
        return None;
    };
    GatewaySpec::read(root, report)
}

/// Checks the complete spec; returns `None` if there are errors.
fn check_spec(
    read: ParsedSources<'_>,
    sources: &[SourceText],
    leniency: Leniency,
    last: Predecessor<'_>,
    report: &mut ProblemReport,
) -> Option<(GatewayConfig, Vec<ObjectStatus>)> {
    let ParsedSources { spec, objects, shown } = read;
    let mut draft = Draft::new(sources, Orders::new(spec.acme.as_ref(), sources, report), last);
    check_clusters(spec.clusters, spec.zone, &mut draft, report);
    check_filters(spec.filters, sources, &mut draft.filters, report);
    check_tables(spec.routes, leniency, &mut draft, report);
    check_listeners(spec.listeners.as_ref(), &mut draft, report);
    if let Some(objects) = &objects {
        let spec = spec.kubernetes.as_ref().map(|spec| &spec.value);
        lenient(leniency, report, |report| add_objects(objects, spec, &mut draft, report));
    }
    let Draft {
        listeners, mut taken, tables: drafted, sites, mut clusters, filters, included, statuses, ..
    } = draft;
    // After errors, the key may just be misspelt.
    if listeners.is_empty() && objects.is_none() && !report.has_errors() {
        report
            .error(beginning_of(0), "the configuration has no `listeners`")
            .hint("for example `listeners: [{address: 127.0.0.1:8080, routes: site}]`");
    }
    let admin = spec.admin.and_then(|admin| check_admin(&admin, &mut taken, report));
    let access_log = spec.access_log.and_then(|log| check_access_log(log.value, &mut clusters, report));
    let acme = taken.orders.finish(&listeners, report);
    let limits = check_limits(spec.limits.map(|limits| limits.value), report);
    let (tables, places, table_names) = drafted.finish();
    check_routes(&listeners, (&tables, &places), report);
    check_ends(&listeners, &clusters, sources, report);
    if report.has_errors() {
        return None;
    }
    // Filters that are not built in may send requests to any cluster.
    if !filters.may_send() {
        advise(clusters.names(), report);
    }
    advise(&table_names, report);
    let has_rules = tables.values().any(|table| !table.routes.rules.is_empty());
    filters.advise(&listeners, has_rules, report);
    let (filters, filter_names) = filters.finish();
    advise(&filter_names, report);
    Some((
        GatewayConfig {
            listeners,
            tables,
            clusters: clusters.finish(),
            filters,
            acme,
            admin,
            access_log,
            log: check_log(spec.log.map(|log| log.value)),
            limits,
            quarantine: check_quarantine(spec.quarantine.map(|quarantine| quarantine.value)),
            route_check: spec.route_check.map_or(0, |every| every.value.to_u32()),
            workers: spec.workers.map(|workers| workers.value.to_u16()),
            drain_timeout: spec.drain_timeout.map_or(DRAIN_TIMEOUT, |Spanned { value, .. }| value.0),
            shown,
            version: version_of(sources),
            sites,
            included,
        },
        statuses,
    ))
}

/// Returns the files that tables of eddy's configuration are read from, and the files that these include, as paths
/// relative to eddy's working directory.
pub(crate) fn embedded_files(sources: &[SourceText]) -> Vec<String> {
    let Some(ParsedSources { spec, .. }) = read_all(sources, Leniency::Strict, &mut ProblemReport::new())
    else {
        return Vec::new();
    };
    let mut files = Vec::new();
    for entry in spec.routes.into_iter().flat_map(|routes| routes.value.0) {
        if let Some(Spanned { value: Either::Other(TableSpec { file: Some(file), .. }), .. }) = entry.value {
            let path = embedded_path(&file, sources);
            if let Some(root) = sources.iter().position(|source| *source.path == *path) {
                files.extend(includes(sources, root));
            }
            files.push(path);
        }
    }
    files.sort();
    files.dedup();
    files
}

/// Returns the position of the first character of a source.
fn beginning_of(source: u32) -> SourceSpan {
    SourceSpan { source, line: 1, column: 1, length: 1 }
}
