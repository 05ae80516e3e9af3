//! From objects to what they add to a configuration.

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

/// All that dialects of Kubernetes read.
#[derive(Debug)]
pub(crate) struct Manifests<'o, 't> {
    /// The objects.
    pub(crate) objects: &'o Objects<'t>,
    /// What is behind Services.
    pub(crate) backends: Backends,
    /// The certificates.
    pub(crate) secrets: Secrets,
    /// Where to listen.
    pub(crate) settings: KubernetesSettings,
}

/// Adds what objects say; what is wrong with them goes to `report`.
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
            .error(place, "nothing to listen on: no object here says where requests come in")
            .hint("add a Gateway with a listener of protocol HTTP");
    }
}

impl Manifests<'_, '_> {
    /// The cluster of a port of a Service, with default settings unless eddy's own configuration has one of its name.
    ///
    /// # Errors
    /// There is no such Service or port.
    pub(crate) fn cluster(
        &self,
        service: &ObjectName,
        port: &PortOrName,
        draft: &mut Draft<'_, '_>,
        report: &mut ProblemReport,
    ) -> Result<usize, Unresolved> {
        Ok(self.add(self.backends.find(service, port)?, draft, report))
    }

    /// Adds the cluster of what was found, unless eddy's own configuration has one of its name.
    pub(crate) fn add(&self, found: Backend, draft: &mut Draft<'_, '_>, report: &mut ProblemReport) -> usize {
        let Backend { cluster, place, .. } = found;
        if cluster.endpoints.is_empty() && !draft.has_cluster(&cluster.name) {
            let name = &cluster.name;
            let message =
                format!("no endpoints are known of the Service at `{name}`: requests to it are answered 503");
            report
                .warning(place.unwrap_or_default(), message)
                .hint(format!("add its EndpointSlice, or to eddy.yaml `kubernetes: {{endpoints: {{'{name}': [127.0.0.1:9000]}}}}`"));
        }
        draft.cluster(cluster, place.unwrap_or_default())
    }
}
