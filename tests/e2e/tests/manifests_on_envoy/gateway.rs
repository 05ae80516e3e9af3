//! Random Gateways and HTTPRoutes, and equivalent Envoy routes according to the API's reference: the listener with the
//! most specific hostname, of its routes those with the most specific hostname, then the order of matches.

use std::cmp::Reverse;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::random::Xorshift64Star;
use crate::{ManifestCase, prefix, route, services};

/// A match of a rule, with everything that determines its precedence.
struct Match {
    kind: &'static str,
    path: String,
    method: Option<&'static str>,
    headers: Vec<(&'static str, &'static str, &'static str)>,
    query: Vec<(&'static str, &'static str, &'static str)>,
    service: String,
    /// Creation day and name of its route, and the position in it.
    age: (usize, String, usize),
}

struct RandomHttpRoute {
    hostnames: Vec<String>,
    /// Listener that the route is attached to; `None` for all.
    section: Option<usize>,
    matches: Vec<Match>,
}

pub(crate) fn case(number: usize, random: &mut Xorshift64Star) -> ManifestCase {
    let domain = format!("g{number}.test");
    let mut listeners: Vec<String> = Vec::new();
    for _ in 0..1 + random.below(3) {
        let hostname = hostname(&domain, random);
        if !listeners.contains(&hostname) {
            listeners.push(hostname);
        }
    }
    let mut manifests =
        "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: web}\nspec:\n  gatewayClassName: eddy\n  listeners:\n"
            .to_owned();
    for (index, hostname) in listeners.iter().enumerate() {
        let shown = if hostname.is_empty() { String::new() } else { format!(", hostname: '{hostname}'") };
        let _ = writeln!(manifests, "  - {{name: l{index}, port: 8080, protocol: HTTP{shown}}}");
    }
    let mut routes = Vec::new();
    for index in 0..1 + random.below(4) {
        routes.push(add_route(index, &domain, listeners.len(), &mut manifests, random));
    }
    let names: Vec<&str> = routes
        .iter()
        .flat_map(|route: &RandomHttpRoute| &route.matches)
        .map(|one| one.service.as_str())
        .collect();
    let mut names = names.clone();
    names.dedup();
    manifests += &services(names);
    let requests = (0..60).map(|_| request(&domain, random)).collect();
    ManifestCase { hosts: hosts(&domain, &listeners, &routes), manifests, requests }
}

fn add_route(
    index: usize,
    domain: &str,
    listeners: usize,
    manifests: &mut String,
    random: &mut Xorshift64Star,
) -> RandomHttpRoute {
    let (name, day) = (format!("{}{index}", random.one(&["a", "b"])), 1 + random.below(3));
    let section = random.rarely(2).then(|| random.below(listeners));
    let mut hostnames: Vec<String> = Vec::new();
    for _ in 0..random.below(3) {
        let hostname = hostname(domain, random);
        if !hostname.is_empty() && !hostnames.contains(&hostname) {
            hostnames.push(hostname);
        }
    }
    let parent = section.map_or_else(String::new, |section| format!(", sectionName: l{section}"));
    let _ = write!(
        manifests,
        "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {{name: {name}, creationTimestamp: '2026-01-0{day}T00:00:00Z'}}\nspec:\n  parentRefs: [{{name: web{parent}}}]\n"
    );
    if !hostnames.is_empty() {
        let list: Vec<String> = hostnames.iter().map(|hostname| format!("'{hostname}'")).collect();
        let _ = writeln!(manifests, "  hostnames: [{}]", list.join(", "));
    }
    manifests.push_str("  rules:\n");
    let mut matches = Vec::new();
    for rule in 0..1 + random.below(3) {
        let service = format!("{name}-{rule}");
        manifests.push_str("  - matches:\n");
        for _ in 0..1 + random.below(2) {
            let one = one_match(&service, (day, name.clone(), matches.len()), random);
            let _ = writeln!(manifests, "    - {}", one.manifest());
            matches.push(one);
        }
        let _ = writeln!(manifests, "    backendRefs: [{{name: {service}, port: 80}}]");
    }
    RandomHttpRoute { hostnames, section, matches }
}

fn one_match(service: &str, age: (usize, String, usize), random: &mut Xorshift64Star) -> Match {
    let kind = random.one(&["Exact", "PathPrefix", "PathPrefix", "RegularExpression"]);
    let path = if kind == "RegularExpression" {
        random.one(&["/a/.*", "/(a|b)", "/a.*", "/.*b", "/[ab]+/?"]).to_owned()
    } else {
        random.path()
    };
    let value = |random: &mut Xorshift64Star, names: [&'static str; 2]| {
        let kind = random.one(&["Exact", "RegularExpression"]);
        (random.one(&[names[0], names[1]]), kind, random.one(&["1", "2"]))
    };
    Match {
        kind,
        path,
        method: random.rarely(4).then(|| random.one(&["GET", "POST"])),
        headers: if random.rarely(3) { vec![value(random, ["x-a", "x-b"])] } else { Vec::new() },
        query: if random.rarely(4) { vec![value(random, ["q", "r"])] } else { Vec::new() },
        service: service.to_owned(),
        age,
    }
}

impl Match {
    fn manifest(&self) -> String {
        let mut text = format!("{{path: {{type: {}, value: '{}'}}", self.kind, self.path);
        if let Some(method) = self.method {
            let _ = write!(text, ", method: {method}");
        }
        for (key, values) in [("headers", &self.headers), ("queryParams", &self.query)] {
            if !values.is_empty() {
                let list: Vec<String> = values
                    .iter()
                    .map(|(name, kind, value)| format!("{{name: {name}, type: {kind}, value: '{value}'}}"))
                    .collect();
                let _ = write!(text, ", {key}: [{}]", list.join(", "));
            }
        }
        text + "}"
    }

    /// Returns the equivalent Envoy route.
    fn route(&self) -> Value {
        let mut matched = match self.kind {
            "Exact" => json!({"path": self.path}),
            "PathPrefix" => prefix(&self.path),
            _ => json!({"safe_regex": {"regex": self.path}}),
        };
        let test = |(name, kind, value): &(&str, &str, &str)| {
            let test = if *kind == "Exact" {
                json!({"exact": value})
            } else {
                json!({"safe_regex": {"regex": value}})
            };
            json!({"name": name, "string_match": test})
        };
        let mut headers: Vec<Value> = self.headers.iter().map(test).collect();
        headers.extend(self.method.map(|method| test(&(":method", "Exact", method))));
        matched["headers"] = json!(headers);
        matched["query_parameters"] = json!(self.query.iter().map(test).collect::<Vec<_>>());
        route(matched, &self.service)
    }

    /// Returns the precedence among matches.
    fn rank(&self) -> impl Ord + '_ {
        let class = match self.kind {
            "Exact" => 0,
            // The API leaves the precedence of regular expressions open; eddy has them before prefixes, the longer text
            // first.
            "RegularExpression" => 1,
            _ => 2,
        };
        let length = if class == 0 { 0 } else { self.path.len() };
        (
            class,
            Reverse(length),
            self.method.is_none(),
            Reverse(self.headers.len()),
            Reverse(self.query.len()),
            &self.age,
        )
    }
}

/// Returns an empty hostname, a wildcard or a name below the domain of the case.
fn hostname(domain: &str, random: &mut Xorshift64Star) -> String {
    match random.below(5) {
        0 => String::new(),
        1 => format!("*.{domain}"),
        2 => format!("*.w.{domain}"),
        3 => format!("x.w.{domain}"),
        _ => format!("x.{domain}"),
    }
}

/// Whether `outer` covers all hosts of `inner`.
fn covers(outer: &str, inner: &str) -> bool {
    outer.is_empty()
        || outer == inner
        || outer.strip_prefix('*').is_some_and(|end| inner.trim_start_matches('*').ends_with(end))
}

/// Returns the specificity of a hostname: an exact name is highest, then the longer wildcard.
fn specific(hostname: &str) -> (bool, usize) {
    (!hostname.is_empty() && !hostname.starts_with('*'), hostname.len())
}

/// Returns the intersection of two hostnames.
fn common<'h>(a: &'h str, b: &'h str) -> Option<&'h str> {
    if covers(a, b) { Some(b) } else { covers(b, a).then_some(a) }
}

/// Returns a virtual host for each hostname that may decide. Those of a case are below its domain, which no other case
/// uses, so that an empty hostname is equivalent to a wildcard of the domain.
fn hosts(domain: &str, listeners: &[String], routes: &[RandomHttpRoute]) -> Vec<Value> {
    let mut all: Vec<&str> = listeners.iter().map(String::as_str).collect();
    all.extend(routes.iter().flat_map(|route| &route.hostnames).map(String::as_str));
    all.push("");
    all.sort_unstable();
    all.dedup();
    // `*.domain` and an empty hostname match the same requests of a case, but are different hostnames: the wildcard
    // takes precedence.
    let every = format!("*.{domain}");
    if all.contains(&every.as_str()) {
        all.retain(|hostname| !hostname.is_empty());
    }
    let mut made = Vec::new();
    for (number, host) in all.iter().enumerate() {
        let listener = (0..listeners.len())
            .filter(|index| covers(&listeners[*index], host))
            .max_by_key(|index| specific(&listeners[*index]));
        let mut matches: Vec<(&str, &Match)> = Vec::new();
        for route in
            routes.iter().filter(|route| route.section.is_none_or(|section| Some(section) == listener))
        {
            let Some(listener) = listener else { continue };
            let own = &listeners[listener];
            let effective: Vec<&str> = if route.hostnames.is_empty() {
                vec![own]
            } else {
                route.hostnames.iter().filter_map(|hostname| common(hostname, own)).collect()
            };
            let covering = effective.into_iter().filter(|hostname| covers(hostname, host));
            if let Some(best) = covering.max_by_key(|hostname| specific(hostname)) {
                matches.extend(route.matches.iter().map(|one| (best, one)));
            }
        }
        // A route with a less specific hostname is ignored when one with a more specific hostname exists.
        let best = matches.iter().map(|(hostname, _)| specific(hostname)).max();
        matches.retain(|(hostname, _)| Some(specific(hostname)) == best);
        matches.sort_by(|(_, a), (_, b)| a.rank().cmp(&b.rank()));
        let domains = if host.is_empty() { &every } else { *host };
        let routes: Vec<Value> = matches.iter().map(|(_, one)| one.route()).collect();
        made.push(json!({"name": format!("{domain}-{number}"), "domains": [domains], "routes": routes}));
    }
    made
}

fn request(domain: &str, random: &mut Xorshift64Star) -> String {
    let host = random.one(&["x", "y", "x.w", "y.w", "z.y.w", "z.x"]);
    let method = random.one(&["GET", "GET", "POST"]);
    let query = random.one(&["", "", "?q=1", "?r=2", "?q=2&r=1"]);
    let fields = random.one(&["", "", "x-a: 1\r\n", "x-b: 2\r\n", "x-a: 2\r\nx-b: 1\r\n"]);
    let length = if method == "POST" { "Content-Length: 0\r\n" } else { "" };
    format!("{method} {}{query} HTTP/1.1\r\nHost: {host}.{domain}\r\n{fields}{length}\r\n", random.path())
}
