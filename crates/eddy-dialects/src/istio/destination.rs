//! Destinations: resolution of host names to clusters.

use eddy_check::Draft;
use eddy_ids::{ClusterId, Shared};
use eddy_model::ClusterConfig;
use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText, shown};
use eddy_spec::read::Spanned;
use eddy_spec::value::ObjectName;

use super::entry::{ServiceEntries, protocol_of, read_entries};
use super::host::{full_name, service_of};
use super::spec::DestinationSpec;
use super::subset::{DestinationRules, Subset, read_rules};
use crate::kubernetes::{ApiText, Backend, Manifests, PortOrName, Unresolved};

/// Resolver of destinations.
#[derive(Debug)]
pub(super) struct Destinations<'m, 'o, 't> {
    manifests: &'m Manifests<'o, 't>,
    entries: ServiceEntries,
    rules: DestinationRules,
}

/// Destination to resolve.
struct DestinationQuery<'w> {
    /// Full name of the host.
    host: &'w str,
    port: u16,
    subset: Option<&'w Spanned<ApiText>>,
    place: SourceSpan,
}

impl<'m, 'o, 't> Destinations<'m, 'o, 't> {
    /// Reads ServiceEntries and DestinationRules; problems go to `report`.
    pub(super) fn read(
        manifests: &'m Manifests<'o, 't>,
        sources: &[SourceText],
        report: &mut ProblemReport,
    ) -> Self {
        let entries = read_entries(manifests.objects, report);
        Self { manifests, entries, rules: read_rules(manifests, sources, report) }
    }

    /// Returns the cluster of a destination, or `None` when it does not exist, which is reported.
    pub(super) fn find(
        &self,
        spec: &DestinationSpec,
        place: SourceSpan,
        namespace: &Shared<str>,
        listener_port: u16,
        draft: &mut Draft<'_>,
        report: &mut ProblemReport,
    ) -> Option<ClusterId> {
        let written = spec.host.as_ref()?;
        let host = full_name(&written.value.0, namespace);
        let port =
            spec.port.as_ref().and_then(|port| port.value.number.as_ref()).map(|port| port.value.to_u16());
        let subset = spec.subset.as_ref().filter(|subset| !subset.value.0.is_empty());
        let service = service_of(&host);
        let only_port = || match &service {
            Some(service) if self.manifests.backends.knows(service) => {
                self.manifests.backends.only_port(service)
            }
            Some(_) | None => self.entries.only_port(&host),
        };
        // A destination without any other port has the port where the request arrived.
        let port = port.or_else(only_port).unwrap_or(listener_port);
        let wanted = DestinationQuery { host: &host, port, subset, place };
        if self.entries.has(&host)
            && !service.as_ref().is_some_and(|service| self.manifests.backends.knows(service))
        {
            return self.entry(&wanted, draft, report);
        }
        let Some(service) = service else {
            let hint = if written.value.0.contains('.') {
                "Istio does not complete a name with a dot: write `name`, or `name.namespace.svc.cluster.local`"
            } else {
                ANSWERED_503
            };
            let message = format!("there is no Service or ServiceEntry `{}`", shown(&written.value.0));
            report.warning(written.place, message).hint(hint);
            return None;
        };
        self.service(&service, &wanted, draft, report)
    }

    fn service(
        &self,
        service: &ObjectName,
        wanted: &DestinationQuery<'_>,
        draft: &mut Draft<'_>,
        report: &mut ProblemReport,
    ) -> Option<ClusterId> {
        let port = PortOrName::Number(wanted.port);
        let mut backend = match self.manifests.backends.find(service, &port) {
            Ok(backend) => backend,
            Err(why) => {
                let name = format!("{}/{}", shown(&service.namespace), shown(&service.name));
                let message = match why {
                    Unresolved::Service => format!("there is no Service `{name}`"),
                    Unresolved::Port => format!("the Service `{name}` has no port {}", wanted.port),
                };
                report.warning(wanted.place, message).hint(ANSWERED_503);
                return None;
            }
        };
        let spoken = backend.app_protocol.as_deref().or(backend.port_name.as_deref());
        let protocol = protocol_of(spoken.unwrap_or_default());
        let subset = match wanted.subset {
            Some(written) => Some((self.subset(wanted, written, report)?, written)),
            None => None,
        };
        if let Some((subset, written)) = subset {
            let known = self.manifests.backends.find_labelled(service, &port, &subset.labels);
            backend = match known {
                Some(endpoints) => Backend {
                    cluster: ClusterConfig::new(
                        &format!("{}/{}", backend.cluster.name, subset.name),
                        endpoints,
                    ),
                    ..backend
                },
                None => self.by_name(service, subset, &port, written.place, report).unwrap_or(backend),
            };
        }
        backend.cluster.protocol = protocol;
        self.rules.apply(wanted.host, subset.map(|(subset, _)| subset), &mut backend.cluster);
        Some(self.manifests.add(backend, draft, report))
    }

    /// Returns the Service named `service-subset`, whose endpoints stand for a subset when no labels are known.
    fn by_name(
        &self,
        service: &ObjectName,
        subset: &Subset,
        port: &PortOrName,
        place: SourceSpan,
        report: &mut ProblemReport,
    ) -> Option<Backend> {
        let name = format!("{}-{}", service.name, subset.name);
        let own = ObjectName { namespace: service.namespace.clone(), name: name.into() };
        if let Ok(backend) = self.manifests.backends.find(&own, port) {
            return Some(backend);
        }
        report
            .objection(
                place,
                format!("the endpoints of the subset `{}` are unknown: no manifest has their labels", shown(&subset.name)),
            )
            .hint(format!(
                "add the Pods of `{}` to the manifests, or a Service `{}`; with `--lenient`, eddy uses all endpoints",
                service.name, own.name
            ));
        None
    }

    fn entry(
        &self,
        wanted: &DestinationQuery<'_>,
        draft: &mut Draft<'_>,
        report: &mut ProblemReport,
    ) -> Option<ClusterId> {
        let subset = match wanted.subset {
            Some(written) => Some(self.subset(wanted, written, report)?),
            None => None,
        };
        let labels = subset.map_or(&[][..], |subset| &subset.labels);
        let Some(mut cluster) = self.entries.find(wanted.host, wanted.port, labels) else {
            let message = format!("the ServiceEntry of `{}` has no port {}", shown(wanted.host), wanted.port);
            report.warning(wanted.place, message).hint(ANSWERED_503);
            return None;
        };
        if let Some(subset) = subset {
            cluster.name = format!("{}/{}", cluster.name, subset.name).into();
        }
        if cluster.endpoints.is_empty() {
            report
                .warning(wanted.place, format!("`{}` has no known endpoints", shown(&cluster.name)))
                .hint(ANSWERED_503);
        }
        self.rules.apply(wanted.host, subset, &mut cluster);
        Some(draft.cluster(cluster, wanted.place))
    }

    fn subset(
        &self,
        wanted: &DestinationQuery<'_>,
        written: &Spanned<ApiText>,
        report: &mut ProblemReport,
    ) -> Option<&Subset> {
        let found = self.rules.subset(wanted.host, &written.value.0);
        if found.is_none() {
            let message = format!(
                "no DestinationRule of `{}` has a subset `{}`",
                shown(wanted.host),
                shown(&written.value.0)
            );
            report.warning(written.place, message).hint(ANSWERED_503);
        }
        found
    }
}

const ANSWERED_503: &str = "requests to it fail with 503";
