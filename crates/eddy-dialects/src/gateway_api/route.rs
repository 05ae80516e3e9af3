//! Routes, checked: their parents, matches, filters and backends.

use std::time::Duration;

use eddy_ids::Shared;
use eddy_route::{HostPattern, PathPattern};
use eddy_spec::problem::{ProblemReport, SourceSpan, shown};
use eddy_spec::read::Spanned;
use eddy_spec::value::ObjectName;

use super::creation_order::CreationOrder;
use super::filter::{RouteFilters, read_filters};
use super::host::read_host;
use super::matching::read_matches;
use super::route_part::{BackendRef, RouteKind, RouteMatch, counted};
use super::spec::{BackendSpec, ParentSpec, RouteSpec, RuleSpec, TimeoutsSpec};
use crate::kubernetes::{ApiText, GATEWAY_API, Object};

/// Route of either kind.
#[derive(Debug)]
pub(super) struct GatewayRoute {
    pub(super) kind: RouteKind,
    /// Name and namespace.
    pub(super) name: ObjectName,
    /// Precedence among routes.
    pub(super) creation_order: CreationOrder,
    /// Parents that it attaches to.
    pub(super) parents: Vec<Parent>,
    /// Hosts that it serves; empty for any host.
    pub(super) hostnames: Vec<HostPattern>,
    pub(super) rules: Vec<RouteRule>,
    pub(super) place: SourceSpan,
}

/// Parent that a route attaches to.
#[derive(Debug)]
pub(super) struct Parent {
    pub(super) gateway: ObjectName,
    /// Name of the listener, if given.
    pub(super) section: Option<Shared<str>>,
    /// Port of the listener, if given.
    pub(super) port: Option<u16>,
    pub(super) place: SourceSpan,
}

#[derive(Debug)]
pub(super) struct RouteRule {
    /// Name of the rule, or else its number from 1.
    pub(super) label: String,
    /// Alternative matches.
    pub(super) matches: Vec<RouteMatch>,
    /// Filters of requests and responses.
    pub(super) filters: RouteFilters,
    /// Backends that requests are sent to.
    pub(super) backends: Vec<BackendRef>,
    /// Timeout of the exchange; `None` for no limit of the rule's own.
    pub(super) timeout: Option<Duration>,
    /// Timeout of one attempt.
    pub(super) attempt_timeout: Option<Duration>,
    pub(super) place: SourceSpan,
}

impl GatewayRoute {
    pub(super) fn of(object: &Object<'_>, kind: RouteKind, report: &mut ProblemReport) -> Option<Self> {
        let spec: RouteSpec = object.needed_part("spec", report)?.value;
        let namespace = &object.metadata.namespace;
        let mut route = Self {
            kind,
            name: object.metadata.full_name(),
            creation_order: CreationOrder::of(&object.metadata),
            parents: Vec::new(),
            hostnames: Vec::new(),
            rules: Vec::new(),
            place: object.metadata.place,
        };
        for parent in counted(spec.parents, 32, "parentRefs", report) {
            route.parents.extend(Parent::of(parent, namespace, report));
        }
        for hostname in counted(spec.hostnames, 16, "hostnames", report) {
            route.hostnames.extend(read_host(&hostname, report));
        }
        let is_given = spec.rules.is_some();
        for rule in counted(spec.rules, 16, "rules", report) {
            let rule = RouteRule::of(rule, kind, route.rules.len() + 1, namespace, report);
            if route.rules.iter().any(|other| other.label == rule.label) {
                report.error(
                    rule.place,
                    format!("another rule of this route has the name `{}`", shown(&rule.label)),
                );
            }
            route.rules.push(rule);
        }
        if route.rules.iter().map(|rule| rule.matches.len()).sum::<usize>() > 128 {
            report.error(object.place, "the route has too many matches: at most 128 in all its rules");
        }
        if !is_given {
            // The API gives a route without rules one rule for all requests, which then has no backends.
            route.rules.push(RouteRule::of(
                Spanned { value: RuleSpec::default(), place: object.place },
                kind,
                1,
                namespace,
                report,
            ));
        }
        Some(route)
    }

    /// Returns every backend reference, including those of mirrors.
    pub(super) fn backends(&self) -> impl Iterator<Item = &BackendRef> {
        self.rules.iter().flat_map(|rule| {
            rule.backends.iter().chain(rule.filters.mirrors.iter().map(|mirror| &mirror.backend))
        })
    }
}

impl Parent {
    fn of(spec: Spanned<ParentSpec>, namespace: &Shared<str>, report: &mut ProblemReport) -> Option<Self> {
        let Spanned { value: spec, place } = spec;
        let is_gateway = spec.group.as_ref().is_none_or(|group| &*group.value.0 == GATEWAY_API)
            && spec.kind.as_ref().is_none_or(|kind| &*kind.value.0 == "Gateway");
        let name = spec.name?;
        if !is_gateway {
            let kind = spec.kind.map_or_else(|| "Gateway".into(), |kind| kind.value.0);
            report.warning(
                place,
                format!("the reference to a {} is ignored: eddy serves only Gateways", shown(&kind)),
            );
            return None;
        }
        let namespace =
            spec.namespace.map_or_else(|| Shared::clone(namespace), |namespace| namespace.value.0);
        Some(Self {
            gateway: ObjectName { namespace, name: name.value.0 },
            section: spec.section.map(|section| section.value.0),
            port: spec.port.map(|port| port.value.to_u16()),
            place,
        })
    }
}

impl RouteRule {
    fn of(
        spec: Spanned<RuleSpec>,
        kind: RouteKind,
        number: usize,
        namespace: &Shared<str>,
        report: &mut ProblemReport,
    ) -> Self {
        let Spanned { value: spec, place } = spec;
        let matches = read_matches(spec.matches, kind, place, report);
        let backends_place = spec.backends.as_ref().map(|backends| backends.place);
        let filters = read_filters(spec.filters, kind, namespace, report);
        let backends: Vec<BackendRef> = counted(spec.backends, 16, "backendRefs", report)
            .into_iter()
            .filter_map(|backend| BackendRef::of(backend, kind, namespace, report))
            .collect();
        if filters.redirect.is_some() && !backends.is_empty() {
            report.error(backends_place.unwrap_or(place), "a rule with a redirect can't have `backendRefs`");
        }
        if let Some(prefix) = filters.prefix_place() {
            let is_one_prefix =
                matches!(matches.as_slice(), [one] if matches!(one.path, PathPattern::Prefix(_)));
            if !is_one_prefix {
                report
                    .error(
                        prefix,
                        "`ReplacePrefixMatch` needs a rule with exactly one match, of type `PathPrefix`",
                    )
                    .hint("write a rule for each prefix, or use `ReplaceFullPath`");
            }
        }
        let timeouts = spec.timeouts.map_or_else(TimeoutsSpec::default, |timeouts| timeouts.value);
        let (request, attempt) = (
            timeouts.request.map(|at| (duration(&at, report), at.place)),
            timeouts.backend.map(|at| (duration(&at, report), at.place)),
        );
        if let (Some((Some(request), _)), Some((Some(attempt), at))) = (request, attempt)
            && attempt > request
            && !request.is_zero()
        {
            report.error(at, "`backendRequest` is longer than `request`");
        }
        let effective = |written: Option<(Option<Duration>, SourceSpan)>| {
            written.and_then(|(time, _)| time).filter(|time| !time.is_zero())
        };
        Self {
            label: spec.name.map_or_else(|| number.to_string(), |name| name.value.0.to_string()),
            matches,
            filters,
            backends,
            timeout: effective(request),
            attempt_timeout: effective(attempt),
            place,
        }
    }
}

/// Reads a duration of the Gateway API: up to four numbers of up to five digits, each with its unit (GEP-2257).
fn duration(text: &Spanned<ApiText>, report: &mut ProblemReport) -> Option<Duration> {
    let parsed = parse_duration(&text.value.0);
    if parsed.is_none() {
        let message = format!("`{}` is not a valid duration", shown(&text.value.0));
        report.error(text.place, message).hint("write it as in `10s`, `500ms` or `1h30m`");
    }
    parsed
}

fn parse_duration(text: &str) -> Option<Duration> {
    let (mut rest, mut total) = (text, Duration::ZERO);
    for _ in 0..4 {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = rest.get(..digits).filter(|_| (1..=5).contains(&digits))?.parse().ok()?;
        rest = rest.get(digits..)?;
        let (unit, millis) = [("ms", 1), ("h", 3_600_000), ("m", 60_000), ("s", 1000)]
            .into_iter()
            .find(|(unit, _)| rest.starts_with(unit))?;
        rest = rest.get(unit.len()..)?;
        total += Duration::from_millis(number * millis);
        if rest.is_empty() {
            return Some(total);
        }
    }
    None
}

impl BackendRef {
    /// Reads a backend reference; problems go to `report`.
    pub(super) fn of(
        spec: Spanned<BackendSpec>,
        kind: RouteKind,
        namespace: &Shared<str>,
        report: &mut ProblemReport,
    ) -> Option<Self> {
        let Spanned { value: spec, place } = spec;
        let name = spec.name?;
        let group = spec.group.map_or_else(|| "".into(), |group| group.value.0);
        let written = spec.kind.map_or_else(|| "Service".into(), |kind| kind.value.0);
        let is_service = group.is_empty() && &*written == "Service";
        if is_service && spec.port.is_none() {
            report.error(place, "a reference to a Service needs the key `port`");
            return None;
        }
        let filters = read_filters(spec.filters, kind, namespace, report);
        if let Some(place) = filters.other_place {
            report
                .objection(place, "a backendRef supports only filters that modify headers")
                .hint("move this filter to the rule");
        }
        Some(Self {
            other_kind: (!is_service)
                .then(|| if group.is_empty() { written.to_string() } else { format!("{written} ({group})") }),
            service: ObjectName {
                namespace: spec
                    .namespace
                    .map_or_else(|| Shared::clone(namespace), |namespace| namespace.value.0),
                name: name.value.0,
            },
            port: spec.port.map_or(0, |port| port.value.to_u16()),
            weight: spec.weight.map_or(1, |weight| weight.value.to_u32()),
            request_edits: filters.request_edits,
            response_edits: filters.response_edits,
            place,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::parse_duration;

    #[test]
    fn durations_are_parsed_as_the_api_specifies() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(parse_duration(text), expected.map(Duration::from_millis), "{text}")
        };
        check("0s", Some(0));
        check("10s", Some(10_000));
        check("500ms", Some(500));
        check("1h30m", Some(5_400_000));
        check("1h1m1s1ms", Some(3_661_001));
        check("1s2s", Some(3000));
        for text in ["", "10", "s", "-1s", "1.5s", "100000s", "1h1m1s1ms1s", "1us", "10 s"] {
            check(text, None);
        }
    }
}
