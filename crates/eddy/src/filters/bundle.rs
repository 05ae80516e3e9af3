//! The library with the filters of a configuration's Go packages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use eddy_config::{FilterConfig, FilterKind, GatewayConfig, GoSource};
use eddy_ids::{FilterId, Shared};
use eddy_spec::problem::{Problem, SourceText};

use super::problem::FilterProblem;
use super::registered::registered_name;
use crate::bundle::{Bundle, BundleFailure, BundleManifest, Cache, GoBuildTarget, bundle};

/// Returns the folders of all Go packages of a configuration. They share a library, because a process has room for one
/// Go runtime.
fn packages(config: &GatewayConfig) -> BTreeSet<&Path> {
    config.filters.values().filter_map(|filter| package_of(filter)).collect()
}

/// Returns the folder of a filter that is a Go package.
fn package_of(filter: &FilterConfig) -> Option<&Path> {
    if let FilterKind::Go { source: GoSource::Package(path), .. } = &filter.kind { Some(path) } else { None }
}

/// Returns the folders of the filters that are Go packages.
pub(crate) fn folders_of(config: &GatewayConfig) -> BTreeMap<Shared<str>, PathBuf> {
    let folder = |filter: &Shared<FilterConfig>| {
        Some((Shared::clone(&filter.name), package_of(filter)?.canonicalize().ok()?))
    };
    config.filters.values().filter_map(folder).collect()
}

/// Links the Go packages of a configuration into a library, or finds the one linked before, and replaces the packages
/// in the configuration by it. Returns `None` without packages.
///
/// # Errors
/// Why there is no library.
///
/// # Cost
/// A tenth of a second, or the time of a compiler.
pub(crate) fn link_packages(
    config: &mut GatewayConfig,
    cache: Option<&Path>,
    target: GoBuildTarget,
    notice: &dyn Fn(),
) -> Result<Option<Bundle>, BundleFailure> {
    let packages = packages(config);
    if packages.is_empty() {
        return Ok(None);
    }
    let bundle = bundle(&packages, &Cache::find(cache)?, target, notice)?;
    name_library(config, &bundle.library);
    Ok(Some(bundle))
}

/// Replaces the packages in a configuration by this library.
pub(crate) fn name_library(config: &mut GatewayConfig, library: &Path) {
    let ids: Vec<FilterId> = config.filters.iter().map(|(id, _)| id).collect();
    for id in ids {
        let FilterKind::Go { source: GoSource::Package(package), filter } = &config.filters[id].kind else {
            continue;
        };
        let source = GoSource::Linked { library: library.to_owned(), package: package.clone() };
        let kind = FilterKind::Go { source, filter: filter.clone() };
        config.filters.update(id, |filter| filter.kind = kind);
    }
}

/// Returns the problems in the files of the packages, and one at the first package in the configuration. The files are
/// added to `sources`.
pub(crate) fn problems_of(
    failure: BundleFailure,
    config: &GatewayConfig,
    sources: &mut Vec<SourceText>,
) -> Vec<Problem> {
    let filter = config.filters.values().find(|filter| package_of(filter).is_some());
    let name = filter.map(|filter| &*filter.name).unwrap_or_default();
    match failure {
        BundleFailure::Code { problems, sources: files } => {
            let message = "the Go packages of the configuration do not build";
            let summary = FilterProblem::new(name, message, None).in_sources(sources);
            sources.extend(files);
            problems.into_iter().chain([summary]).collect()
        }
        BundleFailure::Other { message, hint } => {
            vec![FilterProblem::new(name, message, hint.as_deref()).in_sources(sources)]
        }
    }
}

/// Returns the library of a Go filter.
///
/// # Errors
/// When the library does not match the manifest next to it, or the package was not linked.
pub(super) fn library_of(source: &GoSource) -> Result<PathBuf, String> {
    match source {
        GoSource::Library(path) | GoSource::Linked { library: path, .. } => {
            if let Some(record) = BundleManifest::beside(path) {
                record.check(path).map_err(|why| format!("library \"{}\": {why}", path.display()))?;
            }
            Ok(path.clone())
        }
        GoSource::Package(path) => Err(format!("the package \"{}\" was not linked", path.display())),
    }
}

/// Returns the name under which a library registers the filter `name` of its source.
///
/// # Errors
/// When the configured package registers no filter of that name.
pub(super) fn name_in(source: &GoSource, name: &str, known: &[String]) -> Result<String, String> {
    let GoSource::Linked { library, package } = source else { return Ok(name.to_owned()) };
    let folder = package.canonicalize().map_err(|error| error.to_string())?;
    let record = BundleManifest::beside(library);
    let linked = record.as_ref().and_then(|record| record.linked.iter().find(|one| one.folder == folder));
    linked.map_or_else(|| Ok(name.to_owned()), |linked| registered_name(name, linked, known))
}
