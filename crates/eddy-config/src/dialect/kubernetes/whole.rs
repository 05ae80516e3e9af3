//! Entry point of the Kubernetes dialects: adds objects to a configuration.

use super::backend::{Backend, Backends, Unresolved};
use super::object::Objects;
use super::secret::Secrets;
use super::settings::KubernetesSettings;
use super::value::PortOrName;
use crate::check::Draft;
use crate::dialect::{gateway_api, ingress, istio};
use crate::problem::{ProblemReport, SourceSpan};
use crate::spec::KubernetesSpec;
use crate::value::ObjectName;

/// Input that all Kubernetes dialects share.
#[derive(Debug)]
pub(crate) struct Manifests<'o, 't> {
    /// All objects.
    pub(crate) objects: &'o Objects<'t>,
    /// Services and their endpoints.
    pub(crate) backends: Backends,
    /// TLS certificates.
    pub(crate) secrets: Secrets,
    /// Listen addresses and other settings.
    pub(crate) settings: KubernetesSettings,
}

/// Adds the contents of objects to the draft; problems go to `report`.
pub(crate) fn add(
    objects: &Objects<'_>,
    spec: Option<&KubernetesSpec>,
    draft: &mut Draft<'_, '_>,
    report: &mut ProblemReport,
) {
    let backends = Backends::read(objects, spec, report);
    let secrets = Secrets::read(objects, report);
    let manifests = Manifests { objects, backends, secrets, settings: KubernetesSettings::of(spec) };
    gateway_api::add(&manifests, draft, report);
    ingress::add(&manifests, draft, report);
    istio::add(&manifests, draft, report);
    if draft.listeners.is_empty() && !report.has_errors() {
        let place = objects.list.first().map_or_else(SourceSpan::default, |object| object.place);
        report
            .error(place, "the manifests define no listener")
            .hint("add a Gateway with a listener of protocol HTTP");
    }
}

impl Manifests<'_, '_> {
    /// Returns the cluster of a Service port, with default settings unless eddy's own configuration has a cluster of
    /// that name.
    ///
    /// # Errors
    /// [`Unresolved`] when there is no such Service or port.
    pub(crate) fn cluster(
        &self,
        service: &ObjectName,
        port: &PortOrName,
        draft: &mut Draft<'_, '_>,
        report: &mut ProblemReport,
    ) -> Result<usize, Unresolved> {
        Ok(self.add(self.backends.find(service, port)?, draft, report))
    }

    /// Adds the cluster of a resolved port, unless eddy's own configuration has one of that name.
    pub(crate) fn add(&self, found: Backend, draft: &mut Draft<'_, '_>, report: &mut ProblemReport) -> usize {
        let Backend { cluster, place, .. } = found;
        if cluster.endpoints.is_empty() && !draft.has_cluster(&cluster.name) {
            let name = &cluster.name;
            let message =
                format!("the Service at `{name}` has no known endpoints: requests to it fail with 503");
            report
                .warning(place.unwrap_or_default(), message)
                .hint(format!("add its EndpointSlice, or to eddy.yaml `kubernetes: {{endpoints: {{'{name}': [127.0.0.1:9000]}}}}`"));
        }
        draft.cluster(cluster, place.unwrap_or_default())
    }
}
