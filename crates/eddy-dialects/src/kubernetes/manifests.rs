//! Manifests: the input that all Kubernetes dialects share.

use eddy_builtin::BuiltinConfig;
use eddy_check::Draft;
use eddy_config::{ActionKind, Respond, RuleFilterConfig};
use eddy_ids::{ClusterId, Shared};
use eddy_spec::problem::ProblemReport;
use eddy_spec::spec::KubernetesSpec;
use eddy_spec::value::ObjectName;

use super::backend::{Backend, Backends, Unresolved};
use super::object::Objects;
use super::secret::Secrets;
use super::settings::KubernetesSettings;
use super::value::PortOrName;

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

impl<'o, 't> Manifests<'o, 't> {
    /// Reads what all dialects share; problems go to `report`.
    pub(crate) fn read(
        objects: &'o Objects<'t>,
        spec: Option<&KubernetesSpec>,
        report: &mut ProblemReport,
    ) -> Self {
        let backends = Backends::read(objects, spec, report);
        let secrets = Secrets::read(objects, report);
        Self { objects, backends, secrets, settings: KubernetesSettings::of(spec) }
    }

    /// Returns the cluster of a Service port, with default settings unless eddy's own configuration has a cluster of
    /// that name.
    ///
    /// # Errors
    /// [`Unresolved`] when there is no such Service or port.
    pub(crate) fn cluster(
        &self,
        service: &ObjectName,
        port: &PortOrName,
        draft: &mut Draft<'_>,
        report: &mut ProblemReport,
    ) -> Result<ClusterId, Unresolved> {
        Ok(self.add(self.backends.find(service, port)?, draft, report))
    }

    /// Adds the cluster of a resolved port, unless eddy's own configuration has one of that name.
    pub(crate) fn add(&self, found: Backend, draft: &mut Draft<'_>, report: &mut ProblemReport) -> ClusterId {
        let Backend { cluster, place, .. } = found;
        if cluster.endpoints.is_empty() && draft.clusters.find(&cluster.name).is_none() {
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

/// Returns the settings of a rule for a built-in filter that is off for all other rules.
pub(crate) fn rule_filter(
    name: &'static str,
    default: BuiltinConfig,
    own: BuiltinConfig,
    draft: &mut Draft<'_>,
) -> RuleFilterConfig {
    RuleFilterConfig {
        filter: draft.filters.dormant(name, default),
        is_disabled: Some(false),
        config: None,
        builtin: Some(Shared::new(own)),
        lua: None,
    }
}

/// Returns a 503 response, for backends that cannot be resolved.
pub(crate) fn unavailable() -> ActionKind {
    let body: &[u8] = b"no endpoints for this request\n";
    ActionKind::Respond(Respond { status: 503, body: body.into(), content_type: "text/plain".into() })
}
