//! Random route configurations, and requests derived from them.

use std::collections::BTreeMap;

use eddy_e2e::peer::{EnvoyQueries, bootstrap};
use serde_json::{Value, json};

use crate::actions::{CLUSTERS, act, fields};
use crate::draw::SeededRng;
use crate::matches::{GeneratedRouteMatch, PATHS, VALUES, route_match};
use crate::tree;

/// Configurations, and how often each kind of route occurs in them.
pub(crate) struct Generated {
    pub(crate) questions: Vec<EnvoyQueries>,
    pub(crate) counts: BTreeMap<String, usize>,
}

/// Returns one configuration for each request normalisation mode, with this many virtual hosts.
pub(crate) fn generate(seed: u64, hosts: usize) -> Generated {
    let mut draw = SeededRng::new(seed);
    let mut counts = BTreeMap::new();
    let readings = [
        (json!({}), json!({})),
        (json!({}), json!({})),
        (
            json!({
                "normalize_path": true, "merge_slashes": true,
                "path_with_escaped_slashes_action": "UNESCAPE_AND_FORWARD"
            }),
            json!({}),
        ),
        (
            json!({}),
            json!({"ignore_path_parameters_in_path_matching": true, "ignore_port_in_host_matching": true}),
        ),
        (
            json!({"normalize_path": true, "path_with_escaped_slashes_action": "REJECT_REQUEST", "strip_any_host_port": true}),
            json!({}),
        ),
    ];
    let questions = readings.iter().map(|(settings, routes)| {
        let mut maker = RouteConfigGenerator { draw: &mut draw, counts: &mut counts, number: 0 };
        maker.configuration(settings, routes, hosts)
    });
    Generated { questions: questions.collect(), counts }
}

/// Generator of one configuration.
pub(crate) struct RouteConfigGenerator<'m> {
    pub(crate) draw: &'m mut SeededRng,
    counts: &'m mut BTreeMap<String, usize>,
    number: usize,
}

impl RouteConfigGenerator<'_> {
    fn configuration(&mut self, settings: &Value, routes: &Value, hosts: usize) -> EnvoyQueries {
        let (mut virtual_hosts, mut requests) = (Vec::new(), Vec::new());
        for host in 0..hosts {
            let name = format!("t{host}.test");
            virtual_hosts.push(self.virtual_host(&name, &mut requests));
        }
        for (number, domains) in WILDCARDS.iter().enumerate() {
            let body = json!({"inline_string": format!("h{number}")});
            let route = json!({"match": {"prefix": "/"}, "direct_response": {"status": 200, "body": body}});
            virtual_hosts.push(json!({"name": format!("h{number}"), "domains": domains, "routes": [route]}));
        }
        for _ in 0..hosts {
            let host = *self.draw.of(&HOSTS);
            requests.push(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes());
        }
        let mut own = json!({"name": "site", "virtual_hosts": virtual_hosts});
        if let (Some(own), Some(more)) = (own.as_object_mut(), routes.as_object()) {
            own.extend(more.clone());
        }
        fields(self.draw, &mut own, "whole-", 0);
        if self.draw.percent(50) {
            own["most_specific_header_mutations_wins"] = true.into();
        }
        EnvoyQueries { config: bootstrap(&own, settings, &CLUSTERS), requests }
    }

    fn virtual_host(&mut self, name: &str, requests: &mut Vec<Vec<u8>>) -> Value {
        let mut all = Vec::new();
        let mut own = json!({"name": name, "domains": [name]});
        if self.draw.percent(15) {
            self.count("matcher");
            own["matcher"] = tree::matcher(self, 0, &mut all);
        } else {
            own["routes"] = (0..=self.draw.below(7)).map(|_| self.route(&mut all)).collect();
        }
        for wanted in &all {
            for _ in 0..REQUESTS_A_ROUTE {
                let request = self.request(name, wanted);
                requests.push(request.into_bytes());
            }
        }
        if self.draw.percent(25) {
            fields(self.draw, &mut own, "host-", 0);
        }
        own
    }

    /// Returns a route, and adds its match, with what a matching request needs, to `all`.
    pub(crate) fn route(&mut self, all: &mut Vec<GeneratedRouteMatch>) -> Value {
        self.number += 1;
        let wanted = route_match(self.draw);
        let mut route = json!({"match": wanted.json});
        let kind = act(self.draw, &mut route, self.number, wanted.rewrites);
        self.count(kind);
        self.count_match(&wanted.json);
        all.push(wanted);
        route
    }

    pub(crate) fn count(&mut self, what: &str) {
        *self.counts.entry(what.to_owned()).or_default() += 1;
    }

    fn count_match(&mut self, wanted: &Value) {
        for (key, value) in wanted.as_object().into_iter().flatten() {
            self.count(key);
            for test in value.as_array().into_iter().flatten() {
                for (key, value) in test.as_object().into_iter().flatten().filter(|(key, _)| *key != "name") {
                    self.count(key);
                    value.as_object().into_iter().flatten().for_each(|(key, _)| self.count(key));
                }
            }
        }
    }

    /// Returns a request that matches a route, or nearly does.
    fn request(&mut self, host: &str, wanted: &GeneratedRouteMatch) -> String {
        let draw = &mut *self.draw;
        let mut target = wanted.path.clone();
        for _ in 0..*draw.of(&[0, 0, 1, 1, 2]) {
            match draw.below(5) {
                0 => drop(target.pop()),
                1 => target.push_str(draw.of::<&str>(&PATHS)),
                2 => target.push_str(draw.of::<&str>(&ODD)),
                3 => target = target.to_ascii_uppercase(),
                _ => {
                    let at = draw.below(target.len() + 1);
                    if target.is_char_boundary(at) {
                        target.insert_str(at, draw.of::<&str>(&ODD));
                    }
                }
            }
        }
        if !target.starts_with('/') {
            target.insert(0, '/');
        }
        let mut query: Vec<String> = Vec::new();
        for (name, value) in &wanted.query {
            if draw.percent(75) {
                query.push(format!("{name}={value}"));
            }
        }
        if draw.percent(25) {
            query.insert(draw.below(query.len() + 1), (*draw.of(&QUERIES)).to_owned());
        }
        if !query.is_empty() {
            target = format!("{target}?{}", query.join("&"));
        }
        let mut fields = String::new();
        for (name, value) in &wanted.fields {
            if draw.percent(75) {
                fields.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        for _ in 0..*draw.of(&[0, 0, 0, 1, 2]) {
            let (name, value) = (*draw.of(&["x", "X", "y", "x-y", "x-t-a", "x-t-b"]), *draw.of(&VALUES));
            fields.push_str(&format!("{name}: {value}\r\n"));
        }
        let usual = *draw.of(&["GET", "GET", "GET", "POST"]);
        let method = wanted.method.filter(|_| draw.percent(75)).unwrap_or(usual);
        let length = if method == "POST" { "Content-Length: 0\r\n" } else { "" };
        let host = match draw.below(25) {
            0 => host.to_ascii_uppercase(),
            1 => format!("{host}:{}", draw.of(&["80", "8080"])),
            _ => host.to_owned(),
        };
        format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n{fields}{length}\r\n")
    }
}

const REQUESTS_A_ROUTE: usize = 6;

const WILDCARDS: [&[&str]; 7] = [
    &["*.foo.com"],
    &["*-bar.foo.com"],
    &["foo.*", "foo-*"],
    &["www.foo.com"],
    &["a.*"],
    &["*.com", "*m:80"],
    &["*"],
];

const HOSTS: [&str; 18] = [
    "www.foo.com",
    "a.foo.com",
    "x-bar.foo.com",
    "-bar.foo.com",
    "foo.x",
    "foo-",
    "foo-y",
    "foo.",
    "a.com",
    "www.foo.com:80",
    "WWW.FOO.COM",
    "www.foo.com.",
    "a.b",
    "z",
    "foo.foo.com",
    "a.foo.com:8080",
    "com",
    "127.0.0.1:80",
];

const ODD: [&str; 17] = [
    "/", "//", "/./", "/../", "%2F", "%61", "%2e%2e/", "%0A", ";p", ";p/", "%41", "a", "%25", "/..", "%5C",
    "x", "%3F",
];

const QUERIES: [&str; 12] =
    ["q=1", "q=12", "r=2", "q", "q=", "q=2&q=1", "q=%31", "qq=1", "r=ab&q=A", "&q=1", "q=1=2", "r=a?b"];
