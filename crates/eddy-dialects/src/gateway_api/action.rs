//! Actions of route rules.

use eddy_builtin::{BuiltinConfig, CorsConfig};
use eddy_check::Draft;
use eddy_config::{Action, ActionKind, Mirror, MirrorHost, Redirect, Respond, WeightedAction};
use eddy_http::FieldEdits;
use eddy_ids::{ClusterId, Shared};
use eddy_route::PathRewrite;
use eddy_spec::problem::{ProblemReport, SourceSpan};

use super::filter::{RouteFilters, RouteRedirect};
use super::reference::References;
use super::route::{GatewayRoute, RouteRule};
use super::route_part::BackendRef;
use crate::kubernetes::rule_filter;

/// Port and security of the listener where requests arrive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entrance {
    /// Port of the listener.
    pub(super) port: u16,
    /// Whether the listener uses TLS.
    pub(super) is_secure: bool,
}

/// Action of a rule and its path rewrite.
#[derive(Debug)]
pub(super) struct RouteRuleAction {
    pub(super) action: Action,
    /// New path for the backend or the redirect.
    pub(super) rewrite: Option<PathRewrite>,
    pub(super) rewrite_place: Option<SourceSpan>,
}

impl References<'_, '_, '_> {
    /// Builds the action of a rule at a listener.
    pub(super) fn action(
        &self,
        route: &GatewayRoute,
        rule: &RouteRule,
        entrance: Entrance,
        draft: &mut Draft<'_>,
        report: &mut ProblemReport,
    ) -> RouteRuleAction {
        let filters = &rule.filters;
        let new_path = match &filters.redirect {
            Some(redirect) => redirect.path.as_ref(),
            None => filters.path.as_ref(),
        };
        let mirrors = self.mirrors(route, rule, draft, report);
        let kind = match &filters.redirect {
            _ if filters.is_unserved => failing(),
            Some(redirect) => ActionKind::Redirect(redirect_of(redirect, entrance)),
            None => self.backends(route, rule, &mirrors, draft, report),
        };
        let mut action = Action { mirrors, ..around(kind, rule) };
        if let Some(cors) = &filters.cors {
            let (default, own) = (CorsConfig::default(), cors.clone());
            let (default, own) = (BuiltinConfig::Cors(default), BuiltinConfig::Cors(own));
            action.filters.push(rule_filter(CORS_FILTER, default, own, draft));
        }
        RouteRuleAction {
            action,
            rewrite: new_path.map(|path| path.rewrite.clone()),
            rewrite_place: new_path.map(|path| path.place),
        }
    }

    fn mirrors(
        &self,
        route: &GatewayRoute,
        rule: &RouteRule,
        draft: &mut Draft<'_>,
        report: &mut ProblemReport,
    ) -> Vec<Mirror> {
        let mirrors = rule.filters.mirrors.iter().filter_map(|mirror| {
            let cluster = self.cluster(route, &mirror.backend, draft, report)?;
            let (numerator, denominator) = (mirror.numerator, mirror.denominator);
            Some(Mirror { cluster, numerator, denominator, host: MirrorHost::Same })
        });
        mirrors.collect()
    }

    /// Returns where requests go: one cluster, or several by weight, each with the mirrors of the rule.
    fn backends(
        &self,
        route: &GatewayRoute,
        rule: &RouteRule,
        mirrors: &[Mirror],
        draft: &mut Draft<'_>,
        report: &mut ProblemReport,
    ) -> ActionKind {
        let mut resolved = Vec::with_capacity(rule.backends.len());
        for backend in &rule.backends {
            resolved.push((backend, self.cluster(route, backend, draft, report)));
        }
        match resolved.as_slice() {
            [] => failing(),
            [(backend, Some(cluster))] if backend.weight > 0 && backend.has_no_edits() => {
                ActionKind::Cluster(*cluster)
            }
            _ if rule.backends.iter().all(|backend| backend.weight == 0) => failing(),
            _ => {
                let shares = resolved.into_iter().filter(|(backend, _)| backend.weight > 0).map(
                    |(backend, cluster)| {
                        let mut action = around(cluster.map_or_else(failing, ActionKind::Cluster), rule);
                        action.mirrors = mirrors.to_vec();
                        action.request_edits =
                            joined(&action.request_edits, &backend.request_edits, backend.place, report);
                        action.response_edits =
                            joined(&action.response_edits, &backend.response_edits, backend.place, report);
                        WeightedAction { action: Shared::new(action), weight: backend.weight }
                    },
                );
                ActionKind::Split(shares.collect())
            }
        }
    }

    /// Returns the cluster of a backend reference, or `None` when it cannot be resolved.
    fn cluster(
        &self,
        route: &GatewayRoute,
        backend: &BackendRef,
        draft: &mut Draft<'_>,
        report: &mut ProblemReport,
    ) -> Option<ClusterId> {
        let found = self.resolve(route, backend).ok()?;
        Some(self.manifests.add(found, draft, report))
    }
}

impl BackendRef {
    fn has_no_edits(&self) -> bool {
        self.request_edits.is_empty() && self.response_edits.is_empty()
    }
}

/// Returns an action of this kind with the rule's header edits, host rewrite and timeouts.
fn around(kind: ActionKind, rule: &RouteRule) -> Action {
    let RouteFilters { request_edits, response_edits, host, .. } = &rule.filters;
    Action {
        request_edits: request_edits.clone(),
        response_edits: response_edits.clone(),
        host_rewrite: host.clone(),
        timeout: rule.timeout,
        attempt_timeout: rule.attempt_timeout,
        ..Action::new(kind)
    }
}

/// Returns a 500 response, for requests that cannot be sent to any backend.
pub(super) fn failing() -> ActionKind {
    respond(500, "no backend for this request\n")
}

/// Returns a fixed response.
pub(super) fn respond(status: u16, body: &str) -> ActionKind {
    ActionKind::Respond(Respond {
        status,
        body: body.as_bytes().into(),
        content_type: "text/plain; charset=utf-8".into(),
    })
}

/// Returns a redirect as a listener sends it.
fn redirect_of(redirect: &RouteRedirect, entrance: Entrance) -> Redirect {
    let scheme = redirect.scheme.unwrap_or(if entrance.is_secure { "https" } else { "http" });
    let usual = if scheme == "https" { 443 } else { 80 };
    let port = match (redirect.scheme, redirect.port) {
        (_, Some(port)) => Some(port),
        // The default port of the scheme.
        (Some(_), None) => None,
        (None, None) => Some(entrance.port),
    };
    let port = port.filter(|port| *port != usual);
    Redirect {
        status: redirect.status,
        scheme: Some(scheme.into()),
        host: redirect.host.clone(),
        port,
        strip_query: false,
        path: None,
        is_absolute: false,
    }
}

/// Joins two header edits, applied one after the other; a fault is reported.
fn joined(
    first: &FieldEdits,
    then: &FieldEdits,
    place: SourceSpan,
    report: &mut ProblemReport,
) -> FieldEdits {
    first.joined(then).unwrap_or_else(|fault| {
        report.error(place, fault.to_string());
        FieldEdits::new()
    })
}

/// Name of the CORS filter that rules enable.
pub(super) const CORS_FILTER: &str = "gateway-api-cors";
