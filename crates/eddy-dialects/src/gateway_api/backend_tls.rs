//! BackendTLSPolicies: TLS to the endpoints of Services.

use std::collections::BTreeSet;
use std::path::PathBuf;

use eddy_check::source_position;
use eddy_ids::Shared;
use eddy_model::{ClusterTlsConfig, InlineText, WrittenPath};
use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText, shown};
use eddy_spec::read::{NamedMap, Spanned};
use eddy_spec::value::ObjectName;
use eddy_spec::{ObjectStatus, PartStatus, StatusCondition};
use eddy_tls::{Authorities, is_server_name};

use super::attach::Attachment;
use super::gateway::GatewayObject;
use super::ref_fault::{RefFault, resolved_refs};
use super::route::GatewayRoute;
use super::route_part::BackendRef;
use super::spec::{BackendTlsPolicySpec, BackendValidationSpec};
use crate::kubernetes::{ApiText, GATEWAY_API, Label, Manifests, Object, PortOrName};

/// All policies, oldest first.
#[derive(Debug, Default)]
pub(super) struct BackendTls {
    policies: Vec<BackendTlsPolicy>,
}

/// One BackendTLSPolicy.
#[derive(Debug)]
struct BackendTlsPolicy {
    name: ObjectName,
    targets: Vec<BackendTlsTarget>,
    /// TLS settings, or the reason why they are unavailable; then nothing may be sent.
    tls: Result<ClusterTlsConfig, RefFault>,
}

/// Target of a policy: a Service, or a port of it.
#[derive(Debug, PartialEq, Eq)]
struct BackendTlsTarget {
    service: ObjectName,
    /// Name of the port; `None` for all ports.
    section: Option<Shared<str>>,
}

impl BackendTls {
    /// Reads the policies; problems go to `report`.
    pub(super) fn read(
        manifests: &Manifests<'_, '_>,
        sources: &[SourceText],
        report: &mut ProblemReport,
    ) -> Self {
        let mut objects: Vec<&Object<'_>> = manifests.objects.of(GATEWAY_API, "BackendTLSPolicy").collect();
        objects.sort_by_key(|object| {
            let metadata = &object.metadata;
            (metadata.created.unwrap_or(i64::MAX), metadata.namespace.clone(), metadata.name.clone())
        });
        let mut policies = Vec::new();
        for object in objects {
            let Some(spec) = object.needed_part::<BackendTlsPolicySpec>("spec", report) else { continue };
            let BackendTlsPolicySpec { targets, validation } = spec.value;
            let Some(validation) = validation else { continue };
            let namespace = &object.metadata.namespace;
            let tls = tls_of(&validation, namespace, manifests, sources, report);
            let mut policy = BackendTlsPolicy { name: object.metadata.full_name(), targets: Vec::new(), tls };
            for target in targets.into_iter().flat_map(|targets| targets.value) {
                let (kind, name) = (target.value.kind, target.value.name);
                let group = target.value.group.map(|group| group.value.0).unwrap_or_default();
                let (Some(kind), Some(name)) = (kind, name) else { continue };
                if !group.is_empty() || &*kind.value.0 != "Service" {
                    report
                        .warning(
                            target.place,
                            "a BackendTLSPolicy applies only to Services: this target has no effect",
                        )
                        .hint("write `group: ''` and `kind: Service`");
                    continue;
                }
                policy.targets.push(BackendTlsTarget {
                    service: ObjectName { namespace: Shared::clone(namespace), name: name.value.0 },
                    section: target.value.section.map(|section| section.value.0),
                });
            }
            policies.push(policy);
        }
        Self { policies }
    }

    /// Returns the TLS settings of a Service port: the policy for the port, else the one for the Service; of several
    /// the oldest.
    pub(super) fn of(
        &self,
        service: &ObjectName,
        port: Option<&str>,
    ) -> Option<&Result<ClusterTlsConfig, RefFault>> {
        let of_section = |section: Option<&str>| {
            self.policies
                .iter()
                .find(|policy| policy.targets.iter().any(|target| target.is(service, section)))
        };
        port.and_then(|port| of_section(Some(port))).or_else(|| of_section(None)).map(|policy| &policy.tls)
    }

    /// Returns the conditions that policies would get in a cluster, one for each Gateway with a route to one of their
    /// Services.
    pub(super) fn statuses(
        &self,
        routes: &[GatewayRoute],
        gateways: &[GatewayObject],
        attachments: &[Attachment],
        manifests: &Manifests<'_, '_>,
    ) -> Vec<ObjectStatus> {
        let status = |(number, policy): (usize, &BackendTlsPolicy)| {
            let is_meant = |backend: &BackendRef| policy.is_for(backend, manifests);
            let ancestors: BTreeSet<usize> = attachments
                .iter()
                .filter(|attachment| routes[attachment.route].backends().any(is_meant))
                .map(|attachment| attachment.listener.gateway)
                .collect();
            let conditions = vec![self.accepted(number, policy, manifests), policy.resolved()];
            let parts = ancestors.into_iter().map(|gateway| {
                let ObjectName { namespace, name } = &gateways[gateway].name;
                PartStatus {
                    part: Some(format!("ancestor {namespace}/{name}")),
                    conditions: conditions.clone(),
                    ..PartStatus::default()
                }
            });
            ObjectStatus {
                kind: "BackendTLSPolicy",
                namespace: policy.name.namespace.clone(),
                name: policy.name.name.clone(),
                parts: parts.collect(),
            }
        };
        self.policies.iter().enumerate().map(status).collect()
    }

    fn accepted(
        &self,
        number: usize,
        policy: &BackendTlsPolicy,
        manifests: &Manifests<'_, '_>,
    ) -> StatusCondition {
        let older = &self.policies[..number];
        let rival_of = |target| older.iter().find(|older| older.targets.contains(target));
        let rivals = policy.targets.iter().map(rival_of);
        // A policy takes effect if one of its targets has no older policy.
        if let Some(Some(rivals)) =
            rivals.collect::<Option<Vec<&BackendTlsPolicy>>>().map(|rivals| rivals.first().copied())
        {
            let ObjectName { namespace, name } = &rivals.name;
            let message = format!("the BackendTLSPolicy `{namespace}/{name}` is older");
            return StatusCondition::fails("Accepted", "Conflicted", message);
        }
        if let Err(fault) = &policy.tls {
            return StatusCondition::fails("Accepted", "NoValidCACertificate", fault.message.clone());
        }
        match policy.targets.iter().find(|target| !target.is_there(manifests)) {
            Some(BackendTlsTarget { service: ObjectName { namespace, name }, section }) => {
                let port =
                    section.as_ref().map_or(String::new(), |section| format!(" with a port `{section}`"));
                let message = format!("there is no Service `{namespace}/{name}`{port}");
                StatusCondition::fails("Accepted", "TargetNotFound", message)
            }
            None => StatusCondition::holds("Accepted"),
        }
    }
}

impl BackendTlsPolicy {
    /// Whether one of its targets is the Service and port that a route refers to.
    fn is_for(&self, backend: &BackendRef, manifests: &Manifests<'_, '_>) -> bool {
        let found = manifests.backends.find(&backend.service, &PortOrName::Number(backend.port));
        let port = found.ok().and_then(|found| found.port_name);
        let mut targets = self.targets.iter();
        backend.other_kind.is_none()
            && targets.any(|target| {
                target.service == backend.service
                    && target.section.as_ref().is_none_or(|section| port.as_ref() == Some(section))
            })
    }

    fn resolved(&self) -> StatusCondition {
        resolved_refs(self.tls.as_ref().err().filter(|fault| fault.reason != NO_AUTHORITY))
    }
}

impl BackendTlsTarget {
    fn is(&self, service: &ObjectName, section: Option<&str>) -> bool {
        self.service == *service && self.section.as_deref() == section
    }

    fn is_there(&self, manifests: &Manifests<'_, '_>) -> bool {
        match &self.section {
            Some(section) => {
                manifests.backends.find(&self.service, &PortOrName::Name(Shared::clone(section))).is_ok()
            }
            None => manifests.backends.knows(&self.service),
        }
    }
}

/// Returns the TLS settings of a policy, or the reason why they are unavailable.
fn tls_of(
    spec: &Spanned<BackendValidationSpec>,
    namespace: &Shared<str>,
    manifests: &Manifests<'_, '_>,
    sources: &[SourceText],
    report: &mut ProblemReport,
) -> Result<ClusterTlsConfig, RefFault> {
    let Spanned { value: spec, place } = spec;
    let mut tls = ClusterTlsConfig::new(source_position(*place, sources));
    let hostname = spec.hostname.as_ref().map(|name| name.value.0.to_ascii_lowercase()).unwrap_or_default();
    if !is_server_name(&hostname) {
        report.error(*place, format!("`{}` is not a valid server name", shown(&hostname)));
    }
    if let Some(names) = &spec.names {
        let others = names.value.iter().filter(|name| {
            name.value.hostname.as_ref().is_none_or(|own| !own.value.0.eq_ignore_ascii_case(&hostname))
        });
        for other in others {
            report
                .objection(other.place, "eddy checks certificates only for the SNI name that it sends")
                .hint("leave `subjectAltNames` out, or write the `hostname`");
        }
    }
    tls.server_name = Some(hostname.as_str().into());
    match (&spec.authorities, &spec.well_known) {
        (None, Some(well_known)) if &*well_known.value.0 == "System" => Ok(tls),
        (Some(references), None) if !references.value.is_empty() => {
            if let Some(second) = references.value.get(1) {
                report
                    .objection(second.place, "eddy reads certificate authorities from only one ConfigMap")
                    .hint("put them into one ConfigMap");
            }
            let first = references.value.first().expect("the list is not empty");
            let name = first.value.name.as_ref().map(|name| name.value.0.clone()).unwrap_or_default();
            let kind = first.value.kind.as_ref().map_or("", |kind| &*kind.value.0);
            let group = first.value.group.as_ref().map_or("", |group| &*group.value.0);
            let found = match kind {
                "ConfigMap" if group.is_empty() => authorities(
                    &ObjectName { namespace: Shared::clone(namespace), name },
                    manifests,
                    sources,
                    report,
                ),
                other => Err(RefFault {
                    reason: "InvalidKind",
                    message: format!(
                        "certificate authorities must be in a ConfigMap, not in a `{}`",
                        shown(other)
                    ),
                }),
            };
            tls.authorities = Some(found.map_err(|fault| warn_of_fault(fault, first.place, report))?);
            Ok(tls)
        }
        _ => {
            let message = "a BackendTLSPolicy needs certificate authorities: `caCertificateRefs` or `wellKnownCACertificates: System`";
            let fault = RefFault { reason: NO_AUTHORITY, message: message.to_owned() };
            Err(warn_of_fault(fault, *place, report))
        }
    }
}

fn warn_of_fault(fault: RefFault, place: SourceSpan, report: &mut ProblemReport) -> RefFault {
    report.warning(place, fault.message.clone()).hint("requests to the Service fail with 500");
    fault
}

/// Returns the authorities in a ConfigMap.
fn authorities(
    name: &ObjectName,
    manifests: &Manifests<'_, '_>,
    sources: &[SourceText],
    report: &mut ProblemReport,
) -> Result<WrittenPath, RefFault> {
    let fail = |message: String| Err(RefFault { reason: "InvalidCACertificateRef", message });
    let shown_name = format!("ConfigMap `{}/{}`", name.namespace, name.name);
    let object = manifests.objects.of("", "ConfigMap").find(|object| object.metadata.full_name() == *name);
    let Some(object) = object else { return fail(format!("there is no {shown_name}")) };
    let data = object.part::<NamedMap<Label, ApiText>>("data", report);
    let mut entries = data.into_iter().flat_map(|data| data.value.0);
    let entry = entries.find(|entry| &*entry.name.value.0 == AUTHORITIES).and_then(|entry| entry.value);
    let Some(text) = entry else { return fail(format!("the {shown_name} has no `{AUTHORITIES}`")) };
    let bytes: Shared<[u8]> = text.value.0.as_bytes().into();
    if let Err(error) = Authorities::from_pem(&bytes) {
        return fail(format!("the `{AUTHORITIES}` of the {shown_name} is not usable: {error}"));
    }
    Ok(WrittenPath {
        path: PathBuf::from(format!("{AUTHORITIES} of ConfigMap {}/{}", name.namespace, name.name)),
        text: Some(InlineText(bytes)),
        place: source_position(text.place, sources),
    })
}

const AUTHORITIES: &str = "ca.crt";
/// Reason in the Gateway API for a policy that names no authority at all.
const NO_AUTHORITY: &str = "NoValidCACertificate";
