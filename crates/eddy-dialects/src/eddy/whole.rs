//! eddy's own configuration as a whole: reads its texts, and adds its parts.

use eddy_check::{
    ConfigDialect, Draft, Orders, check_access_log, check_admin, check_clusters, check_filters, check_limits,
    check_listeners, check_log, check_quarantine, unite,
};
use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText};
use eddy_spec::read::{Either, FromNode, Spanned};
use eddy_spec::spec::{GatewaySpec, TableSpec};
use eddy_spec::yaml::{YamlNode, YamlTree, parse};

use super::embed::embedded_path;
use super::tables::check_tables;
use crate::format::is_manifest;
use crate::nginx::includes;

/// eddy's own configuration language. Its texts may stand beside Kubernetes manifests.
pub(crate) struct Eddy;

impl ConfigDialect<[SourceText]> for Eddy {
    fn lower(&self, sources: &[SourceText], draft: &mut Draft<'_>, report: &mut ProblemReport) {
        if sources.is_empty() {
            report.error(SourceSpan::default(), "no configuration was given");
        }
        match read(sources, |number, roots| draft.show(number, roots), report) {
            Some(spec) => add(spec, sources, draft, report),
            None => draft.is_incomplete = true,
        }
    }
}

/// Reads the texts and merges them, and passes the roots of each to `show`. Returns `None` without a text, or if one
/// cannot be read to its end: everything missing from it would be reported as an undefined name.
fn read(
    sources: &[SourceText],
    mut show: impl FnMut(usize, &[YamlNode<'_>]),
    report: &mut ProblemReport,
) -> Option<GatewaySpec> {
    let (mut united, mut is_whole) = (None::<GatewaySpec>, true);
    for (source, number) in sources.iter().zip(0..) {
        if source.is_included {
            // Files that tables refer to are read together with those tables.
            show(number as usize, &[]);
            continue;
        }
        if is_manifest(source) {
            united.get_or_insert_default();
            continue;
        }
        let tree = parse(&source.text, number, report);
        is_whole &= tree.is_whole;
        show(number as usize, tree.root.as_slice());
        let Some(spec) = read_tree(&tree, number, report) else { continue };
        match &mut united {
            Some(united) => unite(united, spec, sources, report),
            None => united = Some(spec),
        }
    }
    united.filter(|_| is_whole)
}

fn read_tree(tree: &YamlTree<'_>, source: u32, report: &mut ProblemReport) -> Option<GatewaySpec> {
    let root = tree.root.as_ref().filter(|root| !root.is_nothing());
    let Some(root) = root else {
        if tree.is_whole {
            report
                .error(source_start(source), "the configuration is empty")
                .hint("a configuration begins with `listeners:`");
        }
        return None;
    };
    GatewaySpec::read(root, report)
}

/// Checks the complete spec and adds its parts.
fn add(spec: GatewaySpec, sources: &[SourceText], draft: &mut Draft<'_>, report: &mut ProblemReport) {
    draft.taken.orders = Orders::new(spec.acme.as_ref(), sources, report);
    draft.kubernetes = spec.kubernetes.map(|spec| spec.value);
    check_clusters(spec.clusters, spec.zone, draft, report);
    check_filters(spec.filters, sources, &mut draft.filters, report);
    check_tables(spec.routes, draft, report);
    check_listeners(spec.listeners.as_ref(), draft, report);
    // After errors, the key may just be misspelt.
    let has_manifests = sources.iter().any(is_manifest);
    if draft.listeners.is_empty() && !has_manifests && !report.has_errors() {
        report
            .error(source_start(0), "the configuration has no `listeners`")
            .hint("for example `listeners: [{address: 127.0.0.1:8080, routes: site}]`");
    }
    let settings = &mut draft.settings;
    settings.admin = spec.admin.and_then(|admin| check_admin(&admin, &mut draft.taken, report));
    settings.access_log =
        spec.access_log.and_then(|log| check_access_log(log.value, &mut draft.clusters, report));
    settings.log = check_log(spec.log.map(|log| log.value));
    settings.limits = check_limits(spec.limits.map(|limits| limits.value), report);
    settings.quarantine = check_quarantine(spec.quarantine.map(|quarantine| quarantine.value));
    settings.route_check = spec.route_check.map_or(settings.route_check, |every| every.value.to_u32());
    settings.workers = spec.workers.map(|workers| workers.value.to_u16());
    settings.drain_timeout = spec.drain_timeout.map_or(settings.drain_timeout, |timeout| timeout.value.0);
}

/// Returns the files that tables of eddy's configuration are read from, and the files that these include, as paths
/// relative to eddy's working directory.
pub(crate) fn embedded_files(sources: &[SourceText]) -> Vec<String> {
    let Some(spec) = read(sources, |_, _| {}, &mut ProblemReport::new()) else { return Vec::new() };
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
fn source_start(source: u32) -> SourceSpan {
    SourceSpan { source, line: 1, column: 1, length: 1 }
}
