//! Independent model of Istio: the Envoy route configuration that Istio would generate from Gateways and
//! VirtualServices for its ingress gateway, following the documented behaviour step by step.
//!
//! It works on objects as JSON, and deliberately shares no code with eddy's own conversion.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// A VirtualService with short names expanded and delegates merged.
struct ResolvedVirtualService {
    namespace: String,
    hosts: Vec<String>,
    gateways: Vec<String>,
    export: Vec<String>,
    http: Vec<Value>,
}

/// Returns the routes of a port; `clusters` are the clusters that they may refer to.
pub(crate) fn routes(objects: &[Value], port: u64, clusters: &[String]) -> Value {
    let services = services(objects);
    let mut virtual_hosts: Vec<(String, Vec<Value>, bool)> = Vec::new();
    for gateway in sorted(objects, "Gateway") {
        let namespace = text(&gateway["metadata"]["namespace"]);
        let name = format!("{namespace}/{}", text(&gateway["metadata"]["name"]));
        for server in
            list(&gateway["spec"]["servers"]).iter().filter(|server| server["port"]["number"] == port)
        {
            let redirects = server["tls"]["httpsRedirect"] == true;
            for service in in_tiers(&services, &namespace).filter(|service| service.gateways.contains(&name))
            {
                let hosts = common_hosts(server, &service.hosts, &namespace, &service.namespace);
                if hosts.is_empty() {
                    continue;
                }
                let routes = routes_of(service, &name, port, clusters);
                if routes.is_empty() {
                    continue;
                }
                for host in hosts {
                    match virtual_hosts.iter_mut().find(|(known, ..)| *known == host) {
                        Some((_, known, needs_tls)) => {
                            known.extend(routes.clone());
                            *needs_tls |= redirects;
                        }
                        None => virtual_hosts.push((host, routes.clone(), redirects)),
                    }
                }
            }
            for host in list(&server["hosts"]).iter().filter(|_| redirects) {
                let host = text(host).rsplit('/').next().unwrap().to_ascii_lowercase();
                match virtual_hosts.iter_mut().find(|(known, ..)| *known == host) {
                    Some((_, _, needs_tls)) => *needs_tls = true,
                    None => virtual_hosts.push((host, Vec::new(), true)),
                }
            }
        }
    }
    let virtual_hosts: Vec<Value> = virtual_hosts
        .into_iter()
        .map(|(host, routes, needs_tls)| {
            let (last, mut first): (Vec<_>, Vec<_>) = routes.into_iter().partition(is_catch_all);
            first.extend(last);
            let tls = if needs_tls { "ALL" } else { "NONE" };
            json!({"name": host, "domains": [host], "routes": first, "require_tls": tls})
        })
        .collect();
    let cluster = json!({"header": {"key": "x-cluster", "value": "%UPSTREAM_CLUSTER%"}});
    json!({
        "name": "istio", "virtual_hosts": virtual_hosts, "ignore_port_in_host_matching": true, "validate_clusters": false,
        "response_headers_to_add": [cluster]
    })
}

/// Returns the objects of a kind, ordered by age, then name, then namespace; objects without a timestamp come first.
fn sorted<'o>(objects: &'o [Value], kind: &str) -> Vec<&'o Value> {
    let mut own: Vec<&Value> = objects.iter().filter(|object| object["kind"] == kind).collect();
    own.sort_by_key(|object| {
        let metadata = &object["metadata"];
        (text(&metadata["creationTimestamp"]), text(&metadata["name"]), text(&metadata["namespace"]))
    });
    own
}

fn services(objects: &[Value]) -> Vec<ResolvedVirtualService> {
    let all = sorted(objects, "VirtualService");
    let is_delegate = |object: &&&Value| list(&object["spec"]["hosts"]).is_empty();
    let delegates: Vec<&&Value> = all.iter().filter(is_delegate).collect();
    let mut services = Vec::new();
    for object in all.iter().filter(|object| !is_delegate(object)) {
        let namespace = text(&object["metadata"]["namespace"]);
        let spec = &object["spec"];
        let mut http = Vec::new();
        for route in list(&spec["http"]) {
            let named = &route["delegate"];
            if named.is_null() {
                http.push(resolved(route, &namespace));
                continue;
            }
            let own = named.get("namespace").map_or_else(|| namespace.clone(), text);
            let is_meant = |object: &&&&Value| {
                object["metadata"]["name"] == named["name"] && object["metadata"]["namespace"] == own
            };
            let Some(delegate) = delegates.iter().find(is_meant) else { continue };
            let export = texts(&delegate["spec"]["exportTo"]);
            let is_seen = export.is_empty()
                || export.iter().any(|to| *to == "*" || *to == namespace || (*to == "." && own == namespace));
            if is_seen {
                let inner = list(&delegate["spec"]["http"]).iter().map(|inner| resolved(inner, &own));
                let outer = resolved(route, &namespace);
                http.extend(inner.filter_map(|inner| merged(&outer, inner)));
            }
        }
        let hosts = texts(&spec["hosts"]).into_iter().map(|host| full(&host, &namespace));
        let gateways = texts(&spec["gateways"]).into_iter().map(|name| gateway(&name, &namespace));
        services.push(ResolvedVirtualService {
            hosts: hosts.collect(),
            gateways: gateways.collect(),
            export: texts(&spec["exportTo"]),
            http,
            namespace,
        });
    }
    services
}

/// Returns a route with the names of Services and Gateways expanded.
fn resolved(route: &Value, namespace: &str) -> Value {
    let mut route = route.clone();
    for place in route["route"].as_array_mut().into_iter().flatten() {
        let host = full(&text(&place["destination"]["host"]), namespace);
        place["destination"]["host"] = host.into();
    }
    for test in route["match"].as_array_mut().into_iter().flatten() {
        for name in test.get_mut("gateways").and_then(Value::as_array_mut).into_iter().flatten() {
            *name = gateway(&text(name), namespace).into();
        }
    }
    route
}

/// Merges a delegate's route into the route that refers to it.
fn merged(outer: &Value, mut inner: Value) -> Option<Value> {
    let (outer_matches, own) = (list(&outer["match"]), list(&inner["match"]));
    let matches: Vec<Value> = if outer_matches.is_empty() {
        own.to_vec()
    } else if own.is_empty() {
        outer_matches.to_vec()
    } else {
        let mut all = Vec::new();
        for own in own {
            let fitting = outer_matches.iter().filter(|outer| !contradicts(outer, own));
            let before = all.len();
            all.extend(fitting.map(|outer| joined(outer, own)));
            if all.len() == before {
                return None;
            }
        }
        all
    };
    if !matches.is_empty() {
        inner["match"] = matches.into();
    }
    for key in ["rewrite", "directResponse", "timeout", "retries", "fault", "mirror", "corsPolicy", "headers"]
    {
        if inner[key].is_null() && !outer[key].is_null() {
            inner[key] = outer[key].clone();
        }
    }
    Some(inner)
}

fn contradicts(outer: &Value, own: &Value) -> bool {
    let is_apart = |outer: &Value, own: &Value| {
        let part = |value: &Value, key: &str| text(&value[key]);
        if outer.is_null() || own.is_null() {
            return false;
        }
        if !part(outer, "regex").is_empty() || !part(own, "regex").is_empty() {
            return true;
        }
        let (exact, prefix) = (part(outer, "exact"), part(outer, "prefix"));
        let (own_exact, own_prefix) = (part(own, "exact"), part(own, "prefix"));
        if !exact.is_empty() {
            return !own_prefix.is_empty() || own_exact != exact;
        }
        let longer = if own_prefix.is_empty() { own_exact } else { own_prefix };
        prefix.is_empty() || longer.is_empty() || !longer.starts_with(&prefix)
    };
    let parts =
        ["uri", "scheme", "method", "authority"].into_iter().any(|key| is_apart(&outer[key], &own[key]));
    let maps = ["headers", "withoutHeaders", "queryParams"].into_iter().any(|key| {
        own[key].as_object().into_iter().flatten().any(|(name, test)| is_apart(&outer[key][name], test))
    });
    let port = !outer["port"].is_null() && !own["port"].is_null() && outer["port"] != own["port"];
    let flag = |value: &Value| value["ignoreUriCase"] == true;
    let (gateways, own_gateways) = (texts(&outer["gateways"]), texts(&own["gateways"]));
    let beyond = !gateways.is_empty() && own_gateways.iter().any(|name| !gateways.contains(name));
    parts || maps || port || beyond || flag(outer) != flag(own)
}

fn joined(outer: &Value, own: &Value) -> Value {
    let mut joined = own.clone();
    for key in ["uri", "scheme", "method", "authority", "port", "gateways"] {
        if own[key].is_null() && !outer[key].is_null() {
            joined[key] = outer[key].clone();
        }
    }
    for key in ["headers", "withoutHeaders", "queryParams"] {
        let mut all: Map<String, Value> = outer[key].as_object().cloned().unwrap_or_default();
        all.extend(own[key].as_object().cloned().unwrap_or_default());
        if !all.is_empty() {
            joined[key] = all.into();
        }
    }
    joined
}

/// Returns the VirtualServices that a namespace sees: private ones, then those exported to it, then those exported to
/// all.
fn in_tiers<'s>(
    services: &'s [ResolvedVirtualService],
    namespace: &str,
) -> impl Iterator<Item = &'s ResolvedVirtualService> {
    let tier = |service: &ResolvedVirtualService| {
        let to = |name: &str| service.export.iter().any(|to| to == name);
        if service.export.is_empty() || to("*") {
            Some(2)
        } else if to(".") && service.namespace == namespace {
            Some(0)
        } else {
            to(namespace).then_some(1)
        }
    };
    let mut seen: Vec<_> = services.iter().filter_map(|service| Some((tier(service)?, service))).collect();
    seen.sort_by_key(|(tier, _)| *tier);
    seen.into_iter().map(|(_, service)| service)
}

fn common_hosts(server: &Value, own: &[String], namespace: &str, of: &str) -> BTreeSet<String> {
    let mut common = BTreeSet::new();
    for written in texts(&server["hosts"]) {
        let (wanted, host) = written.split_once('/').unwrap_or(("*", &written));
        let wanted = if wanted == "." { namespace } else { wanted };
        if wanted != "*" && wanted != of {
            continue;
        }
        for other in own {
            let (a, b) = (host.to_ascii_lowercase(), other.to_ascii_lowercase());
            let holds = |wide: &str, narrow: &str| {
                wide.strip_prefix('*').map_or(wide == narrow, |end| narrow.ends_with(end))
            };
            if holds(&b, &a) {
                common.insert(a);
            } else if holds(&a, &b) {
                common.insert(b);
            }
        }
    }
    common
}

fn routes_of(service: &ResolvedVirtualService, gateway: &str, port: u64, clusters: &[String]) -> Vec<Value> {
    let mut out = Vec::new();
    for route in &service.http {
        let matches = list(&route["match"]);
        if matches.is_empty() {
            out.push(envoy_route(route, &Value::Null, port, clusters));
            return out;
        }
        for own in matches {
            let gateways = texts(&own["gateways"]);
            let is_here = gateways.is_empty() || gateways.iter().any(|name| name == gateway);
            if !is_here || (!own["port"].is_null() && own["port"] != port) {
                continue;
            }
            let route = envoy_route(route, own, port, clusters);
            let is_last = is_catch_all(&route);
            out.push(route);
            if is_last {
                return out;
            }
        }
    }
    out
}

fn is_catch_all(route: &Value) -> bool {
    let wanted = &route["match"];
    let is_any = wanted["prefix"] == "/" || wanted["safe_regex"]["regex"] == ".*";
    is_any && list(&wanted["headers"]).is_empty() && list(&wanted["query_parameters"]).is_empty()
}

fn envoy_route(route: &Value, own: &Value, port: u64, clusters: &[String]) -> Value {
    let mut out = json!({"match": envoy_match(own)});
    let mut host = with_edits(&route["headers"], &mut out);
    if !route["redirect"].is_null() {
        out["redirect"] = redirect(&route["redirect"], port);
        return out;
    }
    if !route["directResponse"].is_null() {
        let spec = &route["directResponse"];
        out["direct_response"] = json!({"status": spec["status"]});
        if !spec["body"].is_null() {
            out["direct_response"]["body"] = json!({"inline_string": spec["body"]["string"]});
        }
        return out;
    }
    let mut action = json!({"timeout": "0s"});
    let rewrite = &route["rewrite"];
    if !rewrite["uriRegexRewrite"].is_null() {
        let regex = &rewrite["uriRegexRewrite"];
        action["regex_rewrite"] =
            json!({"pattern": {"regex": regex["match"]}, "substitution": regex["rewrite"]});
    } else if !text(&rewrite["uri"]).is_empty() {
        action["prefix_rewrite"] = rewrite["uri"].clone();
    }
    if !text(&rewrite["authority"]).is_empty() {
        host = Some(text(&rewrite["authority"]));
    }
    let places = list(&route["route"]);
    let cluster = |place: &Value| {
        let spec = &place["destination"];
        // In these tests every Service has one port, or the route names the port.
        let port = spec["port"]["number"].as_u64().unwrap_or(80);
        let name = format!("outbound|{port}||{}", text(&spec["host"]));
        if clusters.contains(&name) { name } else { "BlackHoleCluster".to_owned() }
    };
    if let [only] = places {
        action["cluster"] = cluster(only).into();
        let mut changes = json!({});
        let own = with_edits(&only["headers"], &mut changes);
        host = host.or(own);
        for (key, more) in changes.as_object().unwrap() {
            let mut all = out[key].as_array().cloned().unwrap_or_default();
            all.extend(list(more).to_vec());
            out[key] = all.into();
        }
    } else {
        let weighted: Vec<Value> = places
            .iter()
            .filter(|place| place["weight"].as_u64().unwrap_or(0) > 0)
            .map(|place| {
                let mut share = json!({"name": cluster(place), "weight": place["weight"]});
                if let Some(host) = with_edits(&place["headers"], &mut share) {
                    share["host_rewrite_literal"] = host.into();
                }
                share
            })
            .collect();
        action["weighted_clusters"] = json!({"clusters": weighted});
    }
    if let Some(host) = host {
        action["host_rewrite_literal"] = host.into();
    }
    out["route"] = action;
    out
}

/// Writes header changes to `out`; returns the host that they set.
fn with_edits(headers: &Value, out: &mut Value) -> Option<String> {
    let mut host = None;
    for (side, added, removed) in [
        ("request", "request_headers_to_add", "request_headers_to_remove"),
        ("response", "response_headers_to_add", "response_headers_to_remove"),
    ] {
        let mut all = Vec::new();
        for (key, action) in [("set", "OVERWRITE_IF_EXISTS_OR_ADD"), ("add", "APPEND_IF_EXISTS_OR_ADD")] {
            // This map type keeps its keys sorted.
            for (name, value) in headers[side][key].as_object().into_iter().flatten() {
                if name.eq_ignore_ascii_case("host") || name == ":authority" {
                    if side == "request" && (key == "set" || host.is_none()) {
                        host = Some(text(value));
                    }
                    continue;
                }
                all.push(json!({"header": {"key": name, "value": value}, "append_action": action}));
            }
        }
        if !all.is_empty() {
            out[added] = all.into();
        }
        let gone: Vec<String> = texts(&headers[side]["remove"]);
        if !gone.is_empty() {
            out[removed] = json!(gone);
        }
    }
    host
}

fn redirect(spec: &Value, port: u64) -> Value {
    let mut out = json!({
        "host_redirect": text(&spec["authority"]), "path_redirect": text(&spec["uri"]),
        "response_code": match spec["redirectCode"].as_u64().unwrap_or(301) {
            302 => "FOUND",
            303 => "SEE_OTHER",
            307 => "TEMPORARY_REDIRECT",
            308 => "PERMANENT_REDIRECT",
            _ => "MOVED_PERMANENTLY",
        }
    });
    let scheme = text(&spec["scheme"]);
    if !scheme.is_empty() {
        out["scheme_redirect"] = scheme.clone().into();
    }
    let number = if spec["derivePort"] == "FROM_REQUEST_PORT" { Some(port) } else { spec["port"].as_u64() };
    let is_own = |port: &u64| matches!((scheme.as_str(), port), ("http" | "", 80) | ("https", 443));
    if let Some(port) = number.filter(|port| !is_own(port)) {
        out["port_redirect"] = port.into();
    }
    out
}

fn envoy_match(own: &Value) -> Value {
    let uri = &own["uri"];
    let mut out = if let Some(exact) = uri.get("exact") {
        json!({"path": exact})
    } else if let Some(prefix) = uri.get("prefix") {
        json!({"prefix": prefix})
    } else if let Some(regex) = uri.get("regex") {
        json!({"safe_regex": {"regex": regex}})
    } else {
        json!({"prefix": "/"})
    };
    if own.is_null() {
        return out;
    }
    out["case_sensitive"] = (own["ignoreUriCase"] != true).into();
    let mut headers = Vec::new();
    for (name, test) in own["headers"].as_object().into_iter().flatten() {
        headers.push(value_match(name, test));
    }
    for (name, test) in own["withoutHeaders"].as_object().into_iter().flatten() {
        let mut inverted = value_match(name, test);
        inverted["invert_match"] = true.into();
        if inverted.get("present_match").is_none() {
            inverted["treat_missing_header_as_empty"] = true.into();
        }
        headers.push(inverted);
    }
    for (key, name) in [("method", ":method"), ("authority", ":authority"), ("scheme", ":scheme")] {
        if !own[key].is_null() {
            headers.push(value_match(name, &own[key]));
        }
    }
    let query: Vec<Value> = own["queryParams"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, test)| value_match(name, test))
        .collect();
    if !headers.is_empty() {
        out["headers"] = headers.into();
    }
    if !query.is_empty() {
        out["query_parameters"] = query.into();
    }
    out
}

fn value_match(name: &str, test: &Value) -> Value {
    if let Some(exact) = test.get("exact") {
        json!({"name": name, "string_match": {"exact": exact}})
    } else if let Some(prefix) = test.get("prefix") {
        json!({"name": name, "string_match": {"prefix": prefix}})
    } else {
        match test.get("regex") {
            Some(regex) if regex != "*" => {
                json!({"name": name, "string_match": {"safe_regex": {"regex": regex}}})
            }
            _ => json!({"name": name, "present_match": true}),
        }
    }
}

fn full(host: &str, namespace: &str) -> String {
    if host.contains('.') || host == "*" {
        host.to_owned()
    } else {
        format!("{host}.{namespace}.svc.cluster.local")
    }
}

fn gateway(name: &str, namespace: &str) -> String {
    match name.split_once('/') {
        Some((".", name)) => format!("{namespace}/{name}"),
        None if name != "mesh" => format!("{namespace}/{name}"),
        _ => name.to_owned(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn texts(value: &Value) -> Vec<String> {
    list(value).iter().map(text).collect()
}
