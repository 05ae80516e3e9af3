//! Independent model of ingress-nginx: its arrangement of servers and locations for given Ingresses, following its
//! source step by step, written as an `nginx.conf` in which each Service responds with its name.
//!
//! It deliberately shares no code with eddy's own conversion.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::objects::Ingress;

#[derive(Clone)]
struct Location<'i> {
    path: String,
    exact: bool,
    service: Option<String>,
    is_default: bool,
    ingress: Option<&'i Ingress>,
}

#[derive(Default)]
struct ControllerServer<'i> {
    aliases: Vec<String>,
    www: bool,
    locations: Vec<Location<'i>>,
}

/// Returns the configuration.
pub(crate) fn nginx_conf(ingresses: &[Ingress]) -> String {
    // Oldest first; with equal age, the later name first.
    let mut sorted: Vec<&Ingress> = ingresses.iter().collect();
    sorted.sort_by(|a, b| (a.day, &b.name).cmp(&(b.day, &a.name)));

    // A Service is a canary if the first Ingress that names it is one.
    let mut canary_of: BTreeMap<String, Option<&Ingress>> = BTreeMap::new();
    for ingress in &sorted {
        let canary = ingress.is_on("canary").then_some(*ingress);
        if let Some(service) = &ingress.default {
            canary_of.insert(service.clone(), canary);
        }
        for path in ingress.rules.iter().flat_map(|rule| &rule.paths) {
            canary_of.entry(path.service.clone()).or_insert(canary);
        }
    }

    let mut servers: BTreeMap<String, ControllerServer<'_>> = BTreeMap::new();
    let root =
        |service, ingress| Location { path: "/".into(), exact: false, service, is_default: true, ingress };
    servers.entry("_".into()).or_default().locations.push(root(None, None));
    for ingress in sorted.iter().filter(|ingress| !ingress.is_on("canary")) {
        if let (Some(service), true) = (&ingress.default, ingress.rules.is_empty()) {
            let first = &mut servers.get_mut("_").unwrap().locations[0];
            if first.is_default {
                // Its redirects and rewrites have no effect here; the generator creates none.
                *first = Location { is_default: false, ..root(Some(service.clone()), None) };
            }
        }
        for rule in &ingress.rules {
            let host = host_of(&rule.host);
            if !servers.contains_key(host) {
                let location = root(ingress.default.clone(), Some(*ingress));
                servers.insert(
                    host.into(),
                    ControllerServer { locations: vec![location], ..ControllerServer::default() },
                );
            }
        }
    }
    for ingress in sorted.iter().filter(|ingress| !ingress.is_on("canary")) {
        let Some(aliases) = ingress.annotation("server-alias") else { continue };
        for rule in &ingress.rules {
            let taken: Vec<String> = servers.keys().cloned().collect();
            let server = servers.get_mut(host_of(&rule.host)).unwrap();
            if server.aliases.is_empty() {
                let aliases = aliases.split(',').map(str::to_owned);
                server.aliases = aliases.filter(|alias| !taken.contains(alias)).collect();
            }
        }
    }
    for ingress in &sorted {
        for rule in &ingress.rules {
            let host = host_of(&rule.host);
            let host = if servers.contains_key(host) { host } else { "_" };
            let server = servers.get_mut(host).unwrap();
            for path in &rule.paths {
                if canary_of[&path.service].is_some() {
                    continue;
                }
                let text = if path.path.is_empty() { "/" } else { &path.path };
                let new = Location {
                    path: text.into(),
                    exact: path.kind == "Exact",
                    service: Some(path.service.clone()),
                    is_default: false,
                    ingress: Some(*ingress),
                };
                let known =
                    server.locations.iter_mut().find(|known| known.path == text && known.exact == new.exact);
                match known {
                    Some(known) if !known.is_default => continue,
                    Some(known) => *known = new,
                    None => server.locations.push(new),
                }
                server.www |= ingress.is_on("from-to-www-redirect");
            }
        }
    }

    // The first canary of a Service counts, regardless of the host of a request.
    let mut alternatives: BTreeMap<String, String> = BTreeMap::new();
    let has_others = sorted.iter().any(|ingress| !ingress.is_on("canary"));
    for ingress in sorted.iter().filter(|ingress| ingress.is_on("canary") && has_others) {
        let mut merge = |service: &str, locations: &mut dyn Iterator<Item = &Location<'_>>| {
            for primary in locations.filter_map(|location| location.service.as_deref()) {
                if primary != service && canary_of[primary].is_none() {
                    alternatives.entry(primary.into()).or_insert_with(|| service.into());
                }
            }
        };
        if let Some(service) = &ingress.default {
            merge(service, &mut servers["_"].locations.iter());
        }
        for rule in &ingress.rules {
            let Some(server) = servers.get(host_of(&rule.host)) else { continue };
            for path in &rule.paths {
                let is_same = |location: &&Location<'_>| {
                    location.path == path.path && location.exact == (path.kind == "Exact")
                };
                merge(&path.service, &mut server.locations.iter().filter(is_same));
            }
        }
    }

    let mut out =
        String::from("events {}\nhttp {\nserver { listen unix:/eddy/back.sock; merge_slashes off; ");
    out.push_str("location / { return 200 \"$http_x_backend $request_uri $http_host\"; } }\n");
    let mut maps = String::new();
    let mut written = String::new();
    for (host, server) in &mut servers {
        server.locations.sort_by(|a, b| b.path.cmp(&a.path));
        server.locations.sort_by_key(|location| std::cmp::Reverse(location.path.len()));
        let locations = doubled(&server.locations);
        let is_expression = locations.iter().any(is_expression);
        let listen = if host == "_" { "site.sock default_server" } else { "site.sock" };
        let _ =
            writeln!(written, "server {{ listen unix:/eddy/{listen}; server_name {}", quoted(&name(host)));
        for alias in &server.aliases {
            let _ = write!(written, " {}", quoted(&name(alias)));
        }
        written.push_str(";\n");
        for location in &locations {
            write_location(location, is_expression, &canary_of, &alternatives, &mut written, &mut maps);
        }
        written.push_str("}\n");
    }
    for (host, server) in
        servers.iter().filter(|(host, server)| server.www && *host != "_" && !host.starts_with('*'))
    {
        let from = host.strip_prefix("www.").map_or_else(|| format!("www.{host}"), str::to_owned);
        if !servers.contains_key(&from) && !server.locations.is_empty() {
            let _ = writeln!(
                written,
                "server {{ listen unix:/eddy/site.sock; server_name {from}; \
                 if ($request_uri ~ \"^(?<cut>.*)/$\") {{ return 308 $scheme://{host}$cut; }} \
                 return 308 $scheme://{host}$request_uri; }}"
            );
        }
    }
    out.push_str(&maps);
    out.push_str(&written);
    out.push_str("}\n");
    out
}

/// Splits prefixes: each gets a location for everything below the path, and one for the path alone unless there already
/// is one.
fn doubled<'i>(locations: &[Location<'i>]) -> Vec<Location<'i>> {
    let mut out = Vec::new();
    for location in locations {
        let stays = location.path == "/" || location.exact || is_expression(location);
        if stays {
            out.push(location.clone());
            continue;
        }
        let below = format!("{}/", location.path.trim_end_matches('/'));
        out.push(Location { path: below, ..location.clone() });
        if !locations.iter().any(|other| other.exact && other.path == location.path) {
            out.push(Location { exact: true, ..location.clone() });
        }
    }
    out
}

fn is_expression(location: &Location<'_>) -> bool {
    let Some(ingress) = location.ingress else { return false };
    ingress.is_on("use-regex")
        || ingress.annotation("rewrite-target").is_some_and(|target| target != location.path)
}

fn write_location(
    location: &Location<'_>,
    is_expression: bool,
    canary_of: &BTreeMap<String, Option<&Ingress>>,
    alternatives: &BTreeMap<String, String>,
    out: &mut String,
    maps: &mut String,
) {
    let none = Ingress::default();
    let ingress = location.ingress.unwrap_or(&none);
    if let Some(root) = ingress.annotation("app-root") {
        let _ = writeln!(out, "if ($uri = /) {{ return 302 $scheme://$http_host{root}; }}");
    }
    let _ = match (is_expression, location.exact) {
        (true, _) => write!(out, "location ~* {} {{ ", quoted(&format!("^{}", location.path))),
        (false, true) => write!(out, "location = {} {{ ", location.path),
        (false, false) => write!(out, "location {} {{ ", location.path),
    };
    out.push_str("port_in_redirect off; ");
    if let Some(target) = ingress.annotation("temporal-redirect") {
        let _ = writeln!(out, "return 302 {}; }}", quoted(target));
        return;
    }
    if let Some(target) = ingress.annotation("permanent-redirect") {
        let code = ingress.annotation("permanent-redirect-code").unwrap_or("301");
        let _ = writeln!(out, "return {code} {}; }}", quoted(target));
        return;
    }
    if ingress.is_on("force-ssl-redirect") {
        if !ingress.is_on("preserve-trailing-slash") {
            out.push_str("if ($request_uri ~ \"^(?<cut>.*)/$\") { return 308 https://$host$cut; } ");
        }
        out.push_str("return 308 https://$host$request_uri; }\n");
        return;
    }
    if let Some(target) = ingress.annotation("rewrite-target").filter(|target| *target != location.path) {
        let _ =
            write!(out, "rewrite {} {} break; ", quoted(&format!("(?i){}", location.path)), quoted(target));
    }
    let Some(service) = &location.service else {
        out.push_str("return 404; }\n");
        return;
    };
    let mut backend = format!("default-{service}-80");
    if let Some(other) = alternatives.get(service)
        && let Some(Some(canary)) = canary_of.get(other)
    {
        backend = choice(&backend, &format!("default-{other}-80"), canary, maps);
    }
    let host = ingress.annotation("upstream-vhost").unwrap_or("$http_host");
    let _ = writeln!(
        out,
        "proxy_set_header X-Backend {}; proxy_set_header Host {}; proxy_pass http://unix:/eddy/back.sock; }}",
        quoted(&backend),
        quoted(host)
    );
}

/// Returns the name of the Service that responds: by header, then cookie, then weight.
fn choice(primary: &str, other: &str, canary: &Ingress, maps: &mut String) -> String {
    let weight = if canary.annotation("canary-weight") == Some("100") { other } else { primary };
    let mut end = weight.to_owned();
    let mut ask = |source: String, rows: String, end: &mut String| {
        let name = format!("$canary_{}", maps.lines().count());
        let _ = writeln!(maps, "map {source} {name} {{ {rows} default {}; }}", quoted(end));
        *end = name;
    };
    let always = format!("\"~^always$\" {other}; \"~^never$\" {primary};");
    if let Some(cookie) = canary.annotation("canary-by-cookie") {
        ask(format!("$cookie_{cookie}"), always.clone(), &mut end);
    }
    if let Some(header) = canary.annotation("canary-by-header") {
        let rows = match canary.annotation("canary-by-header-value") {
            Some(value) => format!("\"~^{value}$\" {other};"),
            None => match canary.annotation("canary-by-header-pattern") {
                Some(pattern) => format!("{} {other};", quoted(&format!("~{pattern}"))),
                None => always,
            },
        };
        ask(format!("$http_{}", header.replace('-', "_")), rows, &mut end);
    }
    end
}

/// A wildcard matches exactly one label.
fn name(host: &str) -> String {
    match host.strip_prefix("*.") {
        Some(rest) => format!("~^(?<subdomain>[\\w-]+)\\.{}$", rest.replace('.', "\\.")),
        None => host.to_owned(),
    }
}

fn host_of(host: &str) -> &str {
    if host.is_empty() { "_" } else { host }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
