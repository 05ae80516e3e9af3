//! Ingresses as the API specifies: one table, in which the longest path of the most specific host wins.

use eddy_check::{ConditionPositions, Draft, RulePositions, TableDraft};
use eddy_config::{Action, ActionKind, ListenerTlsConfig};
use eddy_ids::ActionId;
use eddy_route::{Dialect, HostPattern, PathPattern, Rule};
use eddy_spec::problem::{ProblemReport, SourceSpan, shown};
use eddy_spec::read::Spanned;
use eddy_spec::value::ObjectName;

use super::model::{Addresses, Backend, Ingress, PathKind};
use crate::kubernetes::{Manifests, Unresolved, unavailable};

/// Adds a table of these Ingresses, ordered by age with the oldest first, at some addresses; problems go to `report`.
pub(super) fn add_plain(
    ingresses: &[Ingress],
    addresses: &Addresses,
    manifests: &Manifests<'_, '_>,
    draft: &mut Draft<'_>,
    report: &mut ProblemReport,
) {
    let mut maker = IngressRuleBuilder { manifests, draft, table: TableDraft::new("ingress", Dialect::Eddy) };
    for ingress in ingresses {
        maker.ingress(ingress, report);
    }
    let IngressRuleBuilder { table, .. } = maker;
    let table = draft.tables.add(table);
    let place = ingresses.first().map_or_else(SourceSpan::default, |ingress| ingress.place);
    for address in &addresses.plain {
        draft.serve(address.to_string().into(), address, table, place, report);
    }
    for address in &addresses.secure {
        let tls = ListenerTlsConfig::new(addresses.certificates.clone());
        draft.serve_tls(address.to_string().into(), address, table, tls, place, report);
    }
}

struct IngressRuleBuilder<'m, 'd, 's, 'o, 't> {
    manifests: &'m Manifests<'o, 't>,
    draft: &'d mut Draft<'s>,
    table: TableDraft,
}

impl IngressRuleBuilder<'_, '_, '_, '_, '_> {
    fn ingress(&mut self, ingress: &Ingress, report: &mut ProblemReport) {
        for (number, rule) in ingress.rules.iter().enumerate() {
            let host = rule.host.as_ref();
            for (index, path) in rule.paths.iter().flatten().enumerate() {
                let text = path.text().to_owned();
                let pattern = match path.kind {
                    PathKind::Exact => PathPattern::Exact(text),
                    PathKind::Prefix | PathKind::Implementation => PathPattern::Prefix(text),
                };
                let action = self.action(ingress, &path.backend, report);
                let name = format!("{}/{number}.{index}", ingress.full_name());
                let place = path.path.place;
                self.add(name, host, (pattern, Some(place)), action, place);
            }
            // A rule without paths sends all requests for its host to the default backend.
            if rule.paths.is_none()
                && let (Some(host), Some(backend)) = (host, &ingress.default_backend)
            {
                let action = self.action(ingress, backend, report);
                let name = format!("{}/{number}", ingress.full_name());
                self.add(name, Some(host), (PathPattern::Any, None), action, rule.place);
            }
        }
        if let Some(backend) = &ingress.default_backend {
            let action = self.action(ingress, backend, report);
            let name = format!("{}/default", ingress.full_name());
            self.add(name, None, (PathPattern::Any, None), action, ingress.place);
        }
    }

    fn add(
        &mut self,
        name: String,
        host: Option<&Spanned<String>>,
        (path, path_place): (PathPattern, Option<SourceSpan>),
        action: ActionId,
        place: SourceSpan,
    ) {
        let mut rule = Rule::new(&name, self.draft.origin(place));
        rule.hosts = host.map(|host| host_pattern(&host.value)).into_iter().collect();
        rule.path = path;
        rule.action = action;
        let conditions = ConditionPositions {
            host: host.map(|host| host.place),
            path: path_place,
            ..ConditionPositions::default()
        };
        self.table.push(rule, RulePositions { rule: place, conditions, rewrite: None });
    }

    /// Returns the action for requests to a backend.
    fn action(&mut self, ingress: &Ingress, backend: &Backend, report: &mut ProblemReport) -> ActionId {
        let kind = match backend {
            Backend::Service { name: service, port } => {
                let name = ObjectName {
                    namespace: ingress.namespace.as_str().into(),
                    name: service.value.as_str().into(),
                };
                match self.manifests.cluster(&name, port, self.draft, report) {
                    Ok(cluster) => ActionKind::Cluster(cluster),
                    Err(why) => {
                        note_unresolved(service, why, report);
                        unavailable()
                    }
                }
            }
            Backend::Resource(_) => unavailable(),
        };
        self.table.action(Action::new(kind))
    }
}

/// Reports a backend that cannot be resolved.
pub(super) fn note_unresolved(service: &Spanned<String>, why: Unresolved, report: &mut ProblemReport) {
    let what = match why {
        Unresolved::Service => format!("there is no Service `{}` in this namespace", shown(&service.value)),
        Unresolved::Port => format!("the Service `{}` has no such port", shown(&service.value)),
    };
    report.warning(service.place, what).hint("requests to it fail with 503");
}

/// Returns the pattern of a host; a wildcard stands for one label.
fn host_pattern(host: &str) -> HostPattern {
    match host.strip_prefix("*.") {
        Some(rest) => HostPattern::OneLabel(rest.to_owned()),
        None => HostPattern::Exact(host.to_owned()),
    }
}
