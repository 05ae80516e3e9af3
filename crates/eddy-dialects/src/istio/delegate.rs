//! Delegates: VirtualServices that refine the routes of another VirtualService.

use std::collections::{HashMap, HashSet};

use eddy_ids::Shared;
use eddy_spec::problem::{ProblemReport, shown};
use eddy_spec::read::{NamedMap, Spanned};
use eddy_spec::value::ObjectName;

use super::service::{Export, HttpRoute, VirtualService};
use super::spec::{MatchSpec, Tests, TextMatchSpec};
use crate::kubernetes::ApiText;

/// Replaces routes that name a delegate by the routes of the delegate, and removes the delegates themselves.
pub(super) fn unite_delegates(
    services: Vec<VirtualService>,
    report: &mut ProblemReport,
) -> Vec<VirtualService> {
    let (delegates, mut roots): (Vec<_>, Vec<_>) =
        services.into_iter().partition(|service| service.is_delegate && !has_delegate(service));
    let by_name: HashMap<&ObjectName, &VirtualService> =
        delegates.iter().map(|delegate| (&delegate.name, delegate)).collect();
    roots.retain(|root| {
        if root.is_delegate {
            report
                .error(root.place, "a delegate can't delegate further: Istio supports only one level")
                .hint("write its routes into the VirtualService that names it");
        }
        !root.is_delegate
    });
    let mut used: HashSet<&ObjectName> = HashSet::new();
    let mut left = MERGED_MAX;
    for root in &mut roots {
        let mut routes = Vec::with_capacity(root.routes.len());
        for route in std::mem::take(&mut root.routes) {
            let Some(delegate) = &route.spec.delegate else {
                routes.push(route);
                continue;
            };
            let place = delegate.place;
            let name = delegate.value.name.as_ref().map_or_else(|| "".into(), |name| name.value.0.clone());
            let namespace = delegate.value.namespace.as_ref();
            let namespace =
                namespace.map_or_else(|| root.name.namespace.clone(), |namespace| namespace.value.0.clone());
            let name = ObjectName { namespace, name };
            let shown_name = format!("{}/{}", shown(&name.namespace), shown(&name.name));
            let Some(found) = by_name.get(&name) else {
                report
                    .objection(
                        place,
                        format!("there is no delegate `{shown_name}`, which must be a VirtualService without `hosts`"),
                    )
                    .hint("Istio ignores this route; give `--lenient` to do the same");
                continue;
            };
            if !is_seen(found, &root.name.namespace) {
                report
                    .objection(
                        place,
                        format!("the delegate `{shown_name}` is not exported to this namespace"),
                    )
                    .hint("Istio ignores this route; give `--lenient` to do the same");
                continue;
            }
            used.insert(&found.name);
            for inner in &found.routes {
                let Some(merged) = merge_route(&route, inner, report) else { continue };
                left = left.saturating_sub(
                    1 + merged.spec.matches.as_ref().map_or(0, |matches| matches.value.len()),
                );
                if left > 0 {
                    routes.push(merged);
                }
            }
            if left == 0 {
                report
                    .error(
                        place,
                        format!("the routes of the delegates expand to more than {MERGED_MAX} matches"),
                    )
                    .hint("let fewer routes delegate to the same VirtualService");
                return Vec::new();
            }
        }
        root.routes = routes;
    }
    for delegate in &delegates {
        if !used.contains(&delegate.name) {
            report.warning(delegate.place, "no VirtualService delegates to this one, and it has no `hosts`");
        }
    }
    roots
}

fn has_delegate(service: &VirtualService) -> bool {
    service.routes.iter().any(|route| route.spec.delegate.is_some())
}

fn is_seen(delegate: &VirtualService, namespace: &str) -> bool {
    match &delegate.export {
        Export::All => true,
        Export::To(to) => {
            to.iter().any(|to| to == namespace || (to == "." && *delegate.name.namespace == *namespace))
        }
    }
}

/// Returns the route of a delegate merged with the route that delegates, or `None` when they exclude each other, which
/// is reported.
fn merge_route(root: &HttpRoute, delegate: &HttpRoute, report: &mut ProblemReport) -> Option<HttpRoute> {
    let mut merged = delegate.clone();
    merged.label = format!("{}-{}", root.label, delegate.label.rsplit('/').next().unwrap_or_default());
    merged.spec.matches = merge_matches(root, delegate, report)?;
    let (own, outer) = (&mut merged.spec, &root.spec);
    inherit(&mut own.rewrite, &outer.rewrite);
    inherit(&mut own.direct_response, &outer.direct_response);
    inherit(&mut own.timeout, &outer.timeout);
    inherit(&mut own.retries, &outer.retries);
    inherit(&mut own.fault, &outer.fault);
    inherit(&mut own.mirror, &outer.mirror);
    inherit(&mut own.mirrors, &outer.mirrors);
    inherit(&mut own.mirror_percentage, &outer.mirror_percentage);
    inherit(&mut own.mirror_percent, &outer.mirror_percent);
    inherit(&mut own.cors, &outer.cors);
    inherit(&mut own.headers, &outer.headers);
    Some(merged)
}

fn inherit<T: Clone>(own: &mut Option<T>, outer: &Option<T>) {
    if own.is_none() {
        own.clone_from(outer);
    }
}

type Matches = Option<Spanned<Vec<Spanned<MatchSpec>>>>;

/// Joins each match of the delegate with each match of the root that it does not contradict.
fn merge_matches(root: &HttpRoute, delegate: &HttpRoute, report: &mut ProblemReport) -> Option<Matches> {
    let list = |route: &HttpRoute| route.spec.matches.clone().filter(|matches| !matches.value.is_empty());
    let (roots, own) = match (list(root), list(delegate)) {
        (None, own) => return Some(own),
        (roots, None) => return Some(roots),
        (Some(roots), Some(own)) => (roots, own),
    };
    let mut merged = Vec::new();
    if roots.value.len().saturating_mul(own.value.len()) > MERGED_MAX {
        report
            .error(
                own.place,
                format!("these matches and those of the delegating route combine to more than {MERGED_MAX}"),
            )
            .hint("write fewer matches");
        return None;
    }
    for inner in &own.value {
        let before = merged.len();
        let mut reason = "";
        for outer in &roots.value {
            match conflict(&outer.value, &inner.value) {
                Some(why) => reason = why,
                None => merged.push(Spanned { value: join(&outer.value, &inner.value), place: inner.place }),
            }
        }
        if merged.len() == before {
            let message = format!("this match contradicts the delegating route: {reason}");
            report
                .objection(inner.place, message)
                .hint("Istio ignores the whole route; give `--lenient` to do the same");
            return None;
        }
    }
    Some(Some(Spanned { value: merged, place: own.place }))
}

/// Returns the reason why two matches cannot be joined, or `None` when they can.
fn conflict(root: &MatchSpec, inner: &MatchSpec) -> Option<&'static str> {
    for (outer, own, why) in [
        (&root.uri, &inner.uri, "its `uri` does not match this one"),
        (&root.scheme, &inner.scheme, "its `scheme` does not match this one"),
        (&root.method, &inner.method, "its `method` does not match this one"),
        (&root.authority, &inner.authority, "its `authority` does not match this one"),
    ] {
        if tests_conflict(outer.as_ref(), own.as_ref()) {
            return Some(why);
        }
    }
    for (outer, own, why) in [
        (&root.headers, &inner.headers, "its `headers` do not match these"),
        (&root.without_headers, &inner.without_headers, "its `withoutHeaders` do not match these"),
        (&root.query, &inner.query, "its `queryParams` do not match these"),
    ] {
        let own = own.iter().flat_map(|own| &own.value.0);
        for entry in own {
            let other = outer.as_ref().and_then(|outer| test_of(&outer.value, &entry.name.value.0));
            if tests_conflict(other, entry.value.as_ref()) {
                return Some(why);
            }
        }
    }
    let ignores = |spec: &MatchSpec| spec.ignores_case.as_ref().is_some_and(|flag| flag.value);
    if ignores(root) != ignores(inner) {
        return Some("`ignoreUriCase` differs");
    }
    let names = |spec: &MatchSpec| -> Vec<Shared<str>> {
        let gateways = spec.gateways.iter().flat_map(|gateways| &gateways.value);
        gateways.map(|gateway| gateway.value.0.clone()).collect()
    };
    let (outer, own) = (names(root), names(inner));
    if !outer.is_empty() && own.iter().any(|gateway| !outer.contains(gateway)) {
        return Some("its `gateways` do not include all of these");
    }
    let ports = root.port.as_ref().zip(inner.port.as_ref());
    ports.filter(|(outer, own)| outer.value != own.value).map(|_| "`port` differs")
}

fn test_of<'t>(tests: &'t Tests, name: &str) -> Option<&'t Spanned<TextMatchSpec>> {
    tests.0.iter().find(|entry| *entry.name.value.0 == *name).and_then(|entry| entry.value.as_ref())
}

fn tests_conflict(root: Option<&Spanned<TextMatchSpec>>, inner: Option<&Spanned<TextMatchSpec>>) -> bool {
    let (Some(root), Some(inner)) = (root, inner) else { return false };
    let text = |text: &Option<Spanned<ApiText>>| text.as_ref().map_or("", |text| &*text.value.0).to_owned();
    let parts = |spec: &TextMatchSpec| (text(&spec.exact), text(&spec.prefix), text(&spec.regex));
    let (exact, prefix, regex) = parts(&root.value);
    let (own_exact, own_prefix, own_regex) = parts(&inner.value);
    if !regex.is_empty() || !own_regex.is_empty() {
        return true;
    }
    if !exact.is_empty() {
        return !own_prefix.is_empty() || own_exact != exact;
    }
    if prefix.is_empty() {
        return true;
    }
    if !own_prefix.is_empty() {
        return !own_prefix.starts_with(&prefix);
    }
    own_exact.is_empty() || !own_exact.starts_with(&prefix)
}

/// Joins both matches; the delegate's conditions take precedence over those of the root.
fn join(root: &MatchSpec, inner: &MatchSpec) -> MatchSpec {
    let mut joined = inner.clone();
    inherit(&mut joined.uri, &root.uri);
    inherit(&mut joined.scheme, &root.scheme);
    inherit(&mut joined.method, &root.method);
    inherit(&mut joined.authority, &root.authority);
    inherit(&mut joined.port, &root.port);
    inherit(&mut joined.gateways, &root.gateways);
    inherit(&mut joined.source_labels, &root.source_labels);
    inherit(&mut joined.source_namespace, &root.source_namespace);
    joined.headers = join_tests(root.headers.as_ref(), inner.headers.as_ref());
    joined.without_headers = join_tests(root.without_headers.as_ref(), inner.without_headers.as_ref());
    joined.query = join_tests(root.query.as_ref(), inner.query.as_ref());
    joined
}

fn join_tests(root: Option<&Spanned<Tests>>, inner: Option<&Spanned<Tests>>) -> Option<Spanned<Tests>> {
    let (Some(root), Some(inner)) = (root, inner) else { return root.or(inner).cloned() };
    let mut all = inner.value.0.clone();
    let others = root.value.0.iter().filter(|entry| test_of(&inner.value, &entry.name.value.0).is_none());
    all.extend(others.cloned());
    Some(Spanned { value: NamedMap(all), place: inner.place })
}

/// Maximum number of matches that all delegates make of their own and those that delegate to them.
const MERGED_MAX: usize = 100_000;
