//! Actions of VirtualService routes.

use eddy_builtin::{BuiltinConfig, CorsConfig, FaultConfig};
use eddy_check::Draft;
use eddy_config::{Action, ActionKind, Mirror, MirrorHost, RuleFilterConfig, WeightedAction};
use eddy_ids::{ClusterId, Shared};
use eddy_route::{PathReplace, PathRewrite};
use eddy_spec::problem::{ProblemReport, SourceSpan};
use eddy_spec::read::Spanned;

use super::answer::{redirect, respond};
use super::destination::Destinations;
use super::edits::Edits;
use super::policy::{cors, fault, retries, share_of};
use super::service::HttpRoute;
use super::spec::{DestinationSpec, RouteDestinationSpec};
use crate::envoy::translated;
use crate::kubernetes::{rule_filter, unavailable};

/// Action of a route and its path rewrite.
#[derive(Clone, Debug)]
pub(super) struct IstioRouteAction {
    pub(super) action: Action,
    pub(super) rewrite: Option<PathRewrite>,
    pub(super) rewrite_place: Option<SourceSpan>,
}

impl Destinations<'_, '_, '_> {
    /// Builds the action of a route at a port; problems go to `report`.
    pub(super) fn action(
        &self,
        route: &HttpRoute,
        port: u16,
        draft: &mut Draft<'_>,
        report: &mut ProblemReport,
    ) -> Option<IstioRouteAction> {
        let spec = &route.spec;
        let kinds = [spec.redirect.is_some(), spec.direct_response.is_some(), spec.route.is_some()];
        if kinds.iter().filter(|is_there| **is_there).count() != 1 {
            report.error(
                route.place,
                "a route needs exactly one of `route`, `redirect`, `directResponse` and `delegate`",
            );
            return None;
        }
        let (retry, attempt_timeout) = retries(spec.retries.as_ref(), report);
        let timeout = spec.timeout.as_ref().map(|timeout| timeout.value.0);
        let mut edits =
            spec.headers.as_ref().map_or_else(Edits::default, |headers| Edits::read(&headers.value, report));
        let mut action = Action {
            timeout: timeout.filter(|timeout| !timeout.is_zero()),
            attempt_timeout,
            retry,
            filters: rule_filters(route, draft, report),
            ..Action::new(unavailable())
        };
        let (mut rewrite, mut rewrite_place) = (None, None);
        if let Some(spec) = &spec.redirect {
            note_unused(route, "redirect", report);
            action.kind = ActionKind::Redirect(redirect(spec, port, report)?);
        } else if let Some(spec) = &spec.direct_response {
            note_unused(route, "directResponse", report);
            action.kind = ActionKind::Respond(respond(&spec.value, report)?);
        } else if let Some(list) = &spec.route {
            (rewrite, rewrite_place) = rewrite_of(route, &mut edits);
            action.mirrors = self.mirrors(route, port, draft, report);
            let kind = self.forward(route, list, &action, &mut edits, port, draft, report)?;
            action.kind = kind;
            action.host_rewrite = edits.host.take();
        }
        action.request_edits = edits.request.to_field_edits(report);
        action.response_edits = edits.response.to_field_edits(report);
        Some(IstioRouteAction { action, rewrite, rewrite_place })
    }

    /// Returns where requests go: one cluster, whose edits are joined to those of the route in `edits`, or several by
    /// weight.
    #[expect(clippy::too_many_arguments, reason = "the input, and the output that it is written to")]
    fn forward(
        &self,
        route: &HttpRoute,
        list: &Spanned<Vec<Spanned<RouteDestinationSpec>>>,
        around: &Action,
        edits: &mut Edits,
        port: u16,
        draft: &mut Draft<'_>,
        report: &mut ProblemReport,
    ) -> Option<ActionKind> {
        let kind = |at: &Spanned<RouteDestinationSpec>, draft: &mut Draft<'_>, report: &mut ProblemReport| {
            let destination = at.value.destination.as_ref()?;
            let found = self.cluster(route, destination, port, draft, report);
            Some(found.map_or_else(unavailable, ActionKind::Cluster))
        };
        let changes = |at: &Spanned<RouteDestinationSpec>, report: &mut ProblemReport| {
            let headers = at.value.headers.as_ref();
            headers.map_or_else(Edits::default, |headers| Edits::read(&headers.value, report))
        };
        if let [only] = list.value.as_slice() {
            let own = changes(only, report);
            edits.request = edits.request.with(&own.request);
            edits.response = edits.response.with(&own.response);
            edits.host = edits.host.take().or(own.host);
            return kind(only, draft, report);
        }
        let weight = |at: &Spanned<RouteDestinationSpec>| {
            at.value.weight.as_ref().map_or(0, |weight| weight.value.to_u32())
        };
        let sum: u64 = list.value.iter().map(|at| u64::from(weight(at))).sum();
        if sum == 0 || sum > u64::from(u32::MAX) {
            report
                .error(
                    list.place,
                    "the sum of the destination weights must be greater than 0 and less than 2^32",
                )
                .hint("write a `weight` for each `destination`");
            return None;
        }
        let mut shares = Vec::new();
        for at in list.value.iter().filter(|at| weight(at) > 0) {
            let own = changes(at, report);
            let action = Action {
                kind: kind(at, draft, report)?,
                request_edits: edits.request.after(&own.request).to_field_edits(report),
                response_edits: edits.response.after(&own.response).to_field_edits(report),
                host_rewrite: edits.host.clone().or(own.host),
                ..around.clone()
            };
            shares.push(WeightedAction { action: Shared::new(action), weight: weight(at) });
        }
        Some(ActionKind::Split(shares))
    }

    fn mirrors(
        &self,
        route: &HttpRoute,
        port: u16,
        draft: &mut Draft<'_>,
        report: &mut ProblemReport,
    ) -> Vec<Mirror> {
        let spec = &route.spec;
        let share = share_of(spec.mirror_percentage.as_ref(), spec.mirror_percent.as_ref());
        let one = spec.mirror.iter().map(|mirror| (mirror, share.unwrap_or(MILLION)));
        let several = spec.mirrors.iter().flat_map(|mirrors| &mirrors.value).filter_map(|mirror| {
            let share = share_of(mirror.value.percentage.as_ref(), None).unwrap_or(MILLION);
            Some((mirror.value.destination.as_ref()?, share))
        });
        let meant: Vec<_> = one.chain(several).filter(|(_, share)| *share > 0).collect();
        let found = meant.into_iter().filter_map(|(destination, numerator)| {
            let cluster = self.cluster(route, destination, port, draft, report)?;
            Some(Mirror { cluster, numerator, denominator: MILLION, host: MirrorHost::Same })
        });
        found.collect()
    }

    fn cluster(
        &self,
        route: &HttpRoute,
        spec: &Spanned<DestinationSpec>,
        port: u16,
        draft: &mut Draft<'_>,
        report: &mut ProblemReport,
    ) -> Option<ClusterId> {
        self.find(&spec.value, spec.place, &route.namespace, port, draft, report)
    }
}

/// Returns the built-in filters that a route turns on.
fn rule_filters(
    route: &HttpRoute,
    draft: &mut Draft<'_>,
    report: &mut ProblemReport,
) -> Vec<RuleFilterConfig> {
    let mut rules = Vec::new();
    if let Some(spec) = &route.spec.cors {
        let own = BuiltinConfig::Cors(cors(&spec.value, report));
        rules.push(rule_filter(CORS_FILTER, BuiltinConfig::Cors(CorsConfig::default()), own, draft));
    }
    if let Some(spec) = &route.spec.fault {
        let own = BuiltinConfig::Fault(fault(&spec.value, report));
        rules.push(rule_filter(FAULT_FILTER, BuiltinConfig::Fault(FaultConfig::default()), own, draft));
    }
    rules
}

/// Returns the path rewrite and its source position; a host rewrite goes to `edits`.
fn rewrite_of(route: &HttpRoute, edits: &mut Edits) -> (Option<PathRewrite>, Option<SourceSpan>) {
    let Some(change) = &route.spec.rewrite else { return (None, None) };
    if let Some(host) = change.value.authority.as_ref().filter(|host| !host.value.0.is_empty()) {
        edits.host = Some(Shared::clone(&host.value.0));
    }
    if let Some(regex) = &change.value.regex {
        let (Some(found), Some(by)) = (&regex.value.found, &regex.value.by) else { return (None, None) };
        let replace = PathReplace { expression: translated(&found.value.0), by: by.value.0.to_string() };
        return (Some(PathRewrite::Replace(replace)), Some(regex.place));
    }
    match change.value.uri.as_ref().filter(|uri| !uri.value.0.is_empty()) {
        Some(uri) => (Some(PathRewrite::Matched(uri.value.0.to_string())), Some(uri.place)),
        None => (None, None),
    }
}

/// Reports settings that have no effect next to a local reply.
fn note_unused(route: &HttpRoute, kind: &str, report: &mut ProblemReport) {
    if let Some(rewrite) = &route.spec.rewrite {
        report
            .warning(rewrite.place, format!("`rewrite` has no effect with `{kind}`"))
            .hint("remove it; Istio rejects it unless it comes from a delegating route");
    }
}

const MILLION: u32 = 1_000_000;

/// Name of the CORS filter that rules enable.
const CORS_FILTER: &str = "istio-cors";
/// Name of the fault filter that rules enable.
const FAULT_FILTER: &str = "istio-fault";

/// Names of the filters that rules enable, in the order in which requests pass them.
pub(super) const RULE_FILTERS: [&str; 2] = [CORS_FILTER, FAULT_FILTER];
