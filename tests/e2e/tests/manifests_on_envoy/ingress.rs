//! Random Ingresses, and equivalent Envoy routes according to the Kubernetes documentation: the most specific host that
//! has a path for the request, the longest path, for equal length `Exact` before `Prefix`, then the older Ingress.

use std::cmp::Reverse;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::random::Xorshift64Star;
use crate::{ManifestCase, prefix, route, services};

/// A path of an Ingress, with everything that determines its precedence.
struct Path {
    /// Host; empty for any.
    host: String,
    path: String,
    kind: &'static str,
    service: String,
    day: usize,
    name: String,
    /// Position in the Ingress.
    place: usize,
}

pub(crate) fn case(number: usize, random: &mut Xorshift64Star) -> ManifestCase {
    let domain = format!("c{number}.test");
    let (mut paths, mut manifests, mut default) = (Vec::new(), String::new(), None);
    for index in 0..1 + random.below(3) {
        let (name, day) = (format!("{}{index}", random.one(&["a", "b"])), 1 + random.below(3));
        let _ = write!(
            manifests,
            "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {{name: {name}, creationTimestamp: '2026-01-0{day}T00:00:00Z'}}\nspec:\n  ingressClassName: eddy\n"
        );
        if random.rarely(4) {
            let service = format!("s{index}-default");
            let _ = writeln!(manifests, "  defaultBackend: {}", backend(&service));
            let own = (day, name.clone(), service);
            default = Some(
                default.map_or_else(|| own.clone(), |other: (usize, String, String)| other.min(own.clone())),
            );
        }
        manifests.push_str("  rules:\n");
        let mut place = 0;
        for _ in 0..1 + random.below(3) {
            let host = match random.below(5) {
                0 => String::new(),
                1 => format!("*.{domain}"),
                2 => format!("*.w.{domain}"),
                3 => format!("x.w.{domain}"),
                _ => format!("x.{domain}"),
            };
            // A rule without `host` applies to every host, and so does one with an empty host.
            let _ = writeln!(manifests, "  - host: '{host}'\n    http:\n      paths:");
            place = add_paths(&mut paths, (&name, day, &host), place, &mut manifests, random);
        }
    }
    let names = paths.iter().map(|path: &Path| path.service.as_str());
    let names = names.chain(default.iter().map(|(_, _, service)| service.as_str()));
    let manifests = manifests + &services(names);
    let default = default.map(|(_, _, service)| service);
    ManifestCase {
        hosts: hosts(&domain, &paths, default.as_deref()),
        manifests,
        requests: requests(&domain, random),
    }
}

fn add_paths(
    paths: &mut Vec<Path>,
    (name, day, host): (&str, usize, &str),
    mut place: usize,
    manifests: &mut String,
    random: &mut Xorshift64Star,
) -> usize {
    for _ in 0..1 + random.below(4) {
        let (path, kind) = (random.path(), random.one(&["Exact", "Prefix", "ImplementationSpecific"]));
        let service = format!("{name}-{place}");
        let _ = writeln!(
            manifests,
            "      - {{path: '{path}', pathType: {kind}, backend: {}}}",
            backend(&service)
        );
        paths.push(Path { host: host.to_owned(), path, kind, service, day, name: name.to_owned(), place });
        place += 1;
    }
    place
}

fn backend(service: &str) -> String {
    format!("{{service: {{name: {service}, port: {{number: 80}}}}}}")
}

/// Returns a virtual host for each host: its own paths, then those of the less specific hosts that cover it, then the
/// default.
fn hosts(domain: &str, paths: &[Path], default: Option<&str>) -> Vec<Value> {
    let (wild, inner) = (format!("*.{domain}"), format!("*.w.{domain}"));
    let (exact, deep) = (format!("x.{domain}"), format!("x.w.{domain}"));
    // Each host with the hosts that cover its requests, the most specific first. A wildcard covers one label here, but
    // any number in Envoy: a host with more labels is covered by none of them.
    let all: [(&str, &[&str]); 4] =
        [(&exact, &[&exact, &wild]), (&deep, &[&deep, &inner]), (&inner, &[&inner]), (&wild, &[&wild])];
    let mut made = Vec::new();
    for (number, (host, within)) in all.iter().enumerate() {
        let mut routes = Vec::new();
        for own in within.iter().copied().chain([""]) {
            let mut list: Vec<&Path> = paths.iter().filter(|path| path.host == own).collect();
            list.sort_by_key(|path| {
                let is_exact = path.kind == "Exact";
                let text = if is_exact { path.path.as_str() } else { path.path.trim_end_matches('/') };
                (Reverse(text.len()), !is_exact, path.day, path.name.clone(), path.place)
            });
            for path in list {
                let mut matched =
                    if path.kind == "Exact" { json!({"path": path.path}) } else { prefix(&path.path) };
                if own.starts_with('*') && host.starts_with('*') {
                    let expression = format!("[^.]+{}", own[1..].replace('.', "\\."));
                    matched["headers"] = json!([{
                        "name": ":authority", "string_match": {"safe_regex": {"regex": expression}}
                    }]);
                }
                routes.push(route(matched, &path.service));
            }
        }
        routes.extend(default.map(|service| route(json!({"prefix": "/"}), service)));
        made.push(json!({"name": format!("{domain}-{number}"), "domains": [host], "routes": routes}));
    }
    made
}

fn requests(domain: &str, random: &mut Xorshift64Star) -> Vec<String> {
    let request = |_| {
        let host = random.one(&["x", "y", "x.w", "y.w", "z.y.w", "z.y"]);
        format!("GET {} HTTP/1.1\r\nHost: {host}.{domain}\r\n\r\n", random.path())
    };
    (0..60).map(request).collect()
}
