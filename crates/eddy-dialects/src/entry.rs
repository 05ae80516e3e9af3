//! Entry point of the check: from source texts to a configuration or problems.

use eddy_check::{ConfigDialect, Draft, Predecessor};
use eddy_config::{ClusterSlots, FilterSlots, GatewayConfig, TableSlots};
use eddy_spec::problem::{Problem, ProblemReport, SourceText};
use eddy_spec::{Leniency, ObjectStatus};

use super::eddy::Eddy;
use super::envoy::Envoy;
use super::format::{TextFormat, is_manifest};
use super::nginx::{Nginx, is_nginx};
use super::objects::Kubernetes;

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

/// Checks the configuration in `sources`, like [`check_with`], as the successor of `last`: route tables, clusters and
/// filters keep their identifiers by name, and one that has not changed is the same object in both.
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
    let mut draft = Draft::new(sources, leniency, last);
    for dialect in dialects_of(sources) {
        dialect.lower(sources, &mut draft, &mut report);
    }
    let statuses = std::mem::take(&mut draft.statuses);
    match draft.finish(&mut report) {
        Some(config) if !report.has_errors() => {
            Ok(Checked { config, warnings: report.into_problems(sources), statuses })
        }
        Some(_) | None => Err(report.into_problems(sources)),
    }
}

/// Returns the dialects of texts that form one configuration, in the order in which they add to it.
fn dialects_of(sources: &[SourceText]) -> &'static [&'static dyn ConfigDialect<[SourceText]>] {
    match sources.first() {
        Some(first) if is_nginx(&first.path) => &[&Nginx],
        // Manifests may stand beside eddy's own texts, whose definitions take precedence.
        Some(_) if sources.iter().any(is_manifest) => &[&Eddy, &Kubernetes],
        Some(first) if TextFormat::of(&first.text) == TextFormat::Envoy => &[&Envoy],
        Some(_) | None => &[&Eddy],
    }
}
