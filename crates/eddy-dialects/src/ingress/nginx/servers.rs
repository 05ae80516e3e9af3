//! Servers and locations, as ingress-nginx derives them from Ingresses.

use std::borrow::Cow;
use std::collections::BTreeMap;

use eddy_spec::problem::{ProblemReport, SourceSpan, shown};
use eddy_spec::read::Spanned;

use super::settings::IngressAnnotations;
use super::upstreams::{Upstreams, name_of_backend};
use crate::ingress::model::{HostRule, Ingress, PathKind, PathRule};

/// Servers by host.
pub(super) type Servers = BTreeMap<String, IngressServer>;

/// Host of the server for all hosts without a server of their own.
pub(super) const ANY_HOST: &str = "_";

#[derive(Clone, Debug)]
pub(super) struct IngressServer {
    pub(super) place: SourceSpan,
    pub(super) aliases: Vec<Spanned<String>>,
    /// Whether requests for the host with `www.` added or removed are redirected here.
    pub(super) redirects_www: bool,
    pub(super) locations: Vec<Location>,
}

/// Location in a server.
#[derive(Clone, Debug)]
pub(super) struct Location {
    pub(super) path: String,
    pub(super) kind: PathKind,
    /// Name of the upstream; without one, requests are answered 404.
    pub(super) upstream: Option<String>,
    /// Whether this is the location that every server has, and no Ingress has defined it yet.
    pub(super) is_default: bool,
    /// Index of the Ingress whose annotations apply.
    pub(super) ingress: Option<usize>,
    /// Whether it serves an Ingress without rules: all hosts and paths.
    pub(super) is_catch_all: bool,
    pub(super) place: SourceSpan,
}

/// Returns the servers of Ingresses, which are ordered by age.
pub(super) fn arrange(
    ingresses: &[(&Ingress, IngressAnnotations)],
    upstreams: &mut Upstreams,
    report: &mut ProblemReport,
) -> Servers {
    let mut servers = found(ingresses, upstreams);
    alias(ingresses, &mut servers);
    for (index, (ingress, settings)) in ingresses.iter().enumerate() {
        for rule in &ingress.rules {
            let host = host_of(rule);
            let host = if servers.contains_key(host) { host } else { ANY_HOST };
            let Some(server) = servers.get_mut(host) else { continue };
            for path in rule.paths.iter().flatten() {
                add_path(index, path, (ingress, settings), server, upstreams, report);
            }
        }
    }
    for (ingress, settings) in ingresses {
        if settings.canary.is_some() && ingresses.iter().any(|(_, other)| other.canary.is_none()) {
            merge_canary(ingress, &servers, upstreams, report);
        }
    }
    for server in servers.values_mut() {
        server.locations.sort_by(|a, b| b.path.cmp(&a.path));
        server.locations.sort_by_key(|location| std::cmp::Reverse(location.path.len()));
        double_prefixes(&mut server.locations, ingresses);
    }
    servers
}

/// Returns a server for each host, with a location for requests that match no path.
fn found(ingresses: &[(&Ingress, IngressAnnotations)], upstreams: &Upstreams) -> Servers {
    let root = |place, upstream, ingress| Location {
        path: "/".to_owned(),
        kind: PathKind::Prefix,
        upstream,
        is_default: true,
        ingress,
        is_catch_all: false,
        place,
    };
    let server = |place, location| IngressServer {
        place,
        aliases: Vec::new(),
        redirects_www: false,
        locations: vec![location],
    };
    let place = ingresses.first().map(|(ingress, _)| ingress.place).unwrap_or_default();
    let mut servers = Servers::from([(ANY_HOST.to_owned(), server(place, root(place, None, None)))]);
    for (index, (ingress, settings)) in ingresses.iter().enumerate() {
        if settings.canary.is_some() {
            continue;
        }
        let default = ingress.default_backend.as_ref();
        let default = default.and_then(|backend| name_of_backend(&ingress.namespace, backend));
        let default = default.filter(|name| upstreams.contains_key(name));
        if ingress.rules.is_empty() && default.is_some() {
            let location = servers.get_mut(ANY_HOST).and_then(|server| server.locations.first_mut());
            if let Some(location) = location.filter(|location| location.is_default) {
                *location = Location {
                    is_default: false,
                    is_catch_all: true,
                    ..root(ingress.place, default.clone(), Some(index))
                };
            }
        }
        for rule in &ingress.rules {
            let new = || server(rule.place, root(rule.place, default.clone(), Some(index)));
            servers.entry(host_of(rule).to_owned()).or_insert_with(new);
        }
    }
    servers
}

/// Sets the aliases of servers: those of the first Ingress of a host that has any.
fn alias(ingresses: &[(&Ingress, IngressAnnotations)], servers: &mut Servers) {
    for (ingress, settings) in ingresses.iter().filter(|(_, settings)| settings.canary.is_none()) {
        for rule in &ingress.rules {
            if let Some(server) = servers.get_mut(host_of(rule)).filter(|server| server.aliases.is_empty()) {
                server.aliases.clone_from(&settings.aliases);
            }
        }
    }
    let hosts: Vec<String> = servers.keys().cloned().collect();
    for server in servers.values_mut() {
        server.aliases.retain(|alias| !hosts.contains(&alias.value));
        server.aliases.sort_by(|a, b| a.value.cmp(&b.value));
        server.aliases.dedup_by(|a, b| a.value == b.value);
    }
}

fn add_path(
    index: usize,
    path: &PathRule,
    (ingress, settings): (&Ingress, &IngressAnnotations),
    server: &mut IngressServer,
    upstreams: &Upstreams,
    report: &mut ProblemReport,
) {
    let Some(name) = name_of_backend(&ingress.namespace, &path.backend) else { return };
    // No location points to a canary.
    if upstreams.get(&name).is_none_or(|upstream| upstream.canary.is_some()) {
        if settings.canary.is_none() {
            let message =
                "this Service port belongs to a canary: eddy ignores the path, as ingress-nginx does";
            report.warning(path.path.place, message).hint("give the canary its own Service or port");
        }
        return;
    }
    let text = path.text();
    let kind = kind_of(path);
    let new = Location {
        path: text.to_owned(),
        kind,
        upstream: Some(name),
        is_default: false,
        ingress: Some(index),
        is_catch_all: false,
        place: path.path.place,
    };
    let known = server.locations.iter_mut().find(|location| location.path == text && location.kind == kind);
    match known {
        Some(location) if location.is_default => *location = new,
        Some(_) => {
            let message =
                format!("the path `{}` of this host is already defined by an older Ingress", shown(text));
            report.warning(path.path.place, message).hint("remove one of the two; the older one counts");
            return;
        }
        None => server.locations.push(new),
    }
    server.redirects_www |= settings.redirects_www;
}

/// Makes the Services of a canary alternatives of the upstreams for the same paths.
fn merge_canary(ingress: &Ingress, servers: &Servers, upstreams: &mut Upstreams, report: &mut ProblemReport) {
    if let (Some(backend), Some(server)) = (&ingress.default_backend, servers.get(ANY_HOST))
        && let Some(name) = name_of_backend(&ingress.namespace, backend)
    {
        merge(&name, server.locations.iter(), upstreams);
    }
    for rule in &ingress.rules {
        let server = servers.get(host_of(rule));
        for path in rule.paths.iter().flatten() {
            let Some(name) = name_of_backend(&ingress.namespace, &path.backend) else { continue };
            let twins = server.into_iter().flat_map(|server| &server.locations);
            let is_twin =
                |location: &&Location| location.path == path.text() && location.kind == kind_of(path);
            let twins = twins.filter(is_twin);
            if !merge(&name, twins, upstreams) {
                let message =
                    "this canary has no effect: no Ingress without `canary` has this host, path and type";
                report
                    .warning(path.path.place, message)
                    .hint("write host, path and `pathType` as in the other Ingress");
            }
        }
    }
}

/// Makes an upstream an alternative of those that the locations point to; returns whether there is any.
fn merge<'l>(name: &str, locations: impl Iterator<Item = &'l Location>, upstreams: &mut Upstreams) -> bool {
    let mut is_merged = false;
    for location in locations {
        let Some(primary) = location.upstream.as_ref().filter(|primary| *primary != name) else { continue };
        let Some(primary) = upstreams.get_mut(primary).filter(|primary| primary.canary.is_none()) else {
            continue;
        };
        if !primary.alternatives.iter().any(|known| known == name) {
            primary.alternatives.push(name.to_owned());
        }
        is_merged = true;
    }
    is_merged
}

/// Splits each prefix into two locations: the path itself, and everything below it.
fn double_prefixes(locations: &mut Vec<Location>, ingresses: &[(&Ingress, IngressAnnotations)]) {
    let exact: Vec<String> = locations
        .iter()
        .filter(|location| location.kind == PathKind::Exact)
        .map(|location| location.path.clone())
        .collect();
    let mut doubled = Vec::with_capacity(locations.len() * 2);
    for mut location in locations.drain(..) {
        let settings = settings_of(&location, ingresses);
        let is_expression = settings.uses_regex || is_rewritten(&location, &settings);
        if location.path == "/" || location.kind != PathKind::Prefix || is_expression {
            doubled.push(location);
            continue;
        }
        let alone = Location { kind: PathKind::Exact, ..location.clone() };
        let has_alone = exact.contains(&location.path);
        if !location.path.ends_with('/') {
            location.path.push('/');
        }
        doubled.push(location);
        if !has_alone {
            doubled.push(alone);
        }
    }
    *locations = doubled;
}

/// Returns the settings that apply to a location.
pub(super) fn settings_of<'s>(
    location: &Location,
    ingresses: &'s [(&Ingress, IngressAnnotations)],
) -> Cow<'s, IngressAnnotations> {
    match location.ingress.and_then(|index| ingresses.get(index)) {
        Some((_, settings)) if location.is_catch_all => Cow::Owned(settings.for_catch_all()),
        Some((_, settings)) => Cow::Borrowed(settings),
        None => Cow::Owned(IngressAnnotations::default()),
    }
}

/// Whether a location proxies requests with a rewritten path.
pub(super) fn is_rewritten(location: &Location, settings: &IngressAnnotations) -> bool {
    let target = settings.rewrite_target.as_ref().filter(|target| !target.value.is_empty());
    target.is_some_and(|target| target.value != location.path)
}

/// Returns the kind of a path; the controller treats an implementation-specific one as a prefix.
fn kind_of(path: &PathRule) -> PathKind {
    match path.kind {
        PathKind::Exact => PathKind::Exact,
        PathKind::Prefix | PathKind::Implementation => PathKind::Prefix,
    }
}

fn host_of(rule: &HostRule) -> &str {
    rule.host.as_ref().map_or(ANY_HOST, |host| &host.value)
}
