//! Random Gateways and VirtualServices, with few hosts and paths so that they overlap, and requests derived from their
//! texts.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::draw::IstioCaseRng;

/// Objects, and requests to them.
pub(crate) struct IstioCase {
    pub(crate) objects: Vec<Value>,
    pub(crate) requests: Vec<String>,
}

impl IstioCase {
    /// Returns the objects as manifests.
    pub(crate) fn manifests(&self) -> String {
        let objects: Vec<String> = self.objects.iter().map(Value::to_string).collect();
        objects.join("\n---\n")
    }

    /// Returns the names of the clusters, in Istio's form.
    pub(crate) fn clusters(&self) -> Vec<String> {
        let services = self.objects.iter().filter(|object| object["kind"] == "Service");
        let ports = services.flat_map(|service| {
            let (metadata, ports) = (&service["metadata"], service["spec"]["ports"].as_array().unwrap());
            let host =
                format!("{}.{}.svc.cluster.local", word(&metadata["name"]), word(&metadata["namespace"]));
            ports.iter().map(move |port| format!("outbound|{}||{host}", port["port"]))
        });
        ports.collect()
    }
}

pub(crate) struct IstioCaseGenerator {
    draw: IstioCaseRng,
    /// Number of occurrences of each kind of construct.
    pub(crate) counts: BTreeMap<&'static str, usize>,
}

const NAMESPACES: [&str; 3] = ["edge", "team-a", "team-b"];
const PATHS: [&str; 12] =
    ["/", "/a", "/b", "/a/", "/a/b", "/ab", "/a/b/c", "/A", "//a", "/a;b", "/aa", "/b/a"];
const EXPRESSIONS: [&str; 10] =
    [".*", "/a.*", "/[ab]+", "/a(/.*)?", "/(a|b)/[^/]+", "(?i)/A+", r"/\w+", "/a/b", "/aa?b*", "/.*"];
const VALUES: [&str; 7] = ["1", "2", "12", "ab", "A", "a", "1,2"];
const VALUE_EXPRESSIONS: [&str; 6] = ["1.*", "[12]+", ".*2", "a|b", r"\d+", "*"];
const ODD: [&str; 12] = ["/", "//", "/./", "/../a", "%2F", "%61", "a", "b", ";p", "%41", "/c", "-"];

impl IstioCaseGenerator {
    pub(crate) fn new(seed: u64) -> Self {
        Self { draw: IstioCaseRng(seed), counts: BTreeMap::new() }
    }

    /// Generates a case with `groups` groups of hosts that do not overlap.
    pub(crate) fn case(&mut self, groups: usize) -> IstioCase {
        let mut case = IstioCase { objects: Vec::new(), requests: Vec::new() };
        for namespace in NAMESPACES {
            for number in 0..4 {
                let ports = if number == 3 {
                    json!([{"name": "one", "port": 80}, {"name": "two", "port": 81}])
                } else {
                    json!([{"port": 80}])
                };
                case.objects.push(json!({
                    "apiVersion": "v1", "kind": "Service", "metadata": {"name": format!("s{number}"), "namespace": namespace},
                    "spec": {"ports": ports}
                }));
            }
        }
        for group in 0..groups {
            self.group(group, &mut case);
        }
        case
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    fn group(&mut self, group: usize, case: &mut IstioCase) {
        let hosts = [
            format!("t{group}.test"),
            format!("*.t{group}.test"),
            format!("www.t{group}.test"),
            format!("b.a.t{group}.test"),
        ];
        let mut gateways = Vec::new();
        for number in 0..1 + self.draw.below(2) {
            let namespace = self.draw.of(&NAMESPACES);
            let name = format!("g{group}-{number}");
            let mut own = vec![format!("*.t{group}.test"), format!("t{group}.test")];
            if self.draw.is(40) {
                own = hosts.iter().filter(|_| self.draw.is(60)).cloned().collect();
                if own.is_empty() {
                    own.push(hosts[0].clone());
                }
            }
            for host in &mut own {
                if self.draw.is(15) {
                    let front = self.draw.of(&[".", "*", "team-a", "team-b"]);
                    *host = format!("{front}/{host}");
                    self.count("host with a namespace");
                }
            }
            let mut server =
                json!({"port": {"number": 80, "name": "http", "protocol": "HTTP"}, "hosts": own});
            if self.draw.is(5) {
                server["tls"] = json!({"httpsRedirect": true});
                self.count("redirect to https");
            }
            let mut servers = vec![server];
            if self.draw.is(15) {
                servers.push(json!({"port": {"number": 80, "name": "more", "protocol": "HTTP"}, "hosts": [hosts[0], hosts[2]]}));
            }
            case.objects.push(self.object("Gateway", &name, namespace, json!({"servers": servers})));
            gateways.push(format!("{namespace}/{name}"));
        }
        let first = case.objects.len();
        let mut delegates = Vec::new();
        for number in 0..self.draw.below(3) {
            let (name, namespace) = (format!("d{group}-{number}"), self.draw.of(&NAMESPACES));
            let http = self.routes(&gateways, &[]);
            let spec = json!({"http": http});
            delegates.push((namespace, name.clone()));
            let delegate = self.exported(spec);
            let delegate = self.object("VirtualService", &name, namespace, delegate);
            case.objects.push(delegate);
        }
        for _ in 0..1 + self.draw.below(4) {
            let name = format!("{}{group}", self.draw.of(&["x", "y", "z"]));
            let namespace = self.draw.of(&NAMESPACES);
            let is_there = |object: &Value| {
                object["metadata"]["name"] == *name && object["metadata"]["namespace"] == namespace
            };
            if case.objects.iter().any(is_there) {
                continue;
            }
            let mut own: Vec<&String> = hosts.iter().filter(|_| self.draw.is(40)).collect();
            if own.is_empty() {
                own.push(&hosts[0]);
            }
            let mut bound: Vec<&String> = gateways.iter().filter(|_| self.draw.is(80)).collect();
            if bound.is_empty() {
                bound.push(&gateways[0]);
            }
            let http = self.routes(&gateways, &delegates);
            let spec = self.exported(json!({"hosts": own, "gateways": bound, "http": http}));
            let service = self.object("VirtualService", &name, namespace, spec);
            case.objects.push(service);
        }
        self.requests(&hosts, first, case);
    }

    fn object(&mut self, kind: &str, name: &str, namespace: &str, spec: Value) -> Value {
        let mut metadata = json!({"name": name, "namespace": namespace});
        if self.draw.is(60) {
            metadata["creationTimestamp"] = format!("2026-01-0{}T00:00:00Z", 1 + self.draw.below(3)).into();
        }
        json!({"apiVersion": "networking.istio.io/v1", "kind": kind, "metadata": metadata, "spec": spec})
    }

    fn exported(&mut self, mut spec: Value) -> Value {
        let to = match self.draw.below(8) {
            0 => json!(["."]),
            1 => json!([self.draw.of(&NAMESPACES)]),
            2 => json!([".", self.draw.of(&NAMESPACES)]),
            3 => json!(["*"]),
            _ => return spec,
        };
        self.count("exportTo");
        spec["exportTo"] = to;
        spec
    }

    fn routes(&mut self, gateways: &[String], delegates: &[(&str, String)]) -> Value {
        let mut routes = Vec::new();
        for _ in 0..1 + self.draw.below(4) {
            let mut route = Map::new();
            let matches: Vec<Value> = (0..self.draw.below(4)).map(|_| self.test(gateways)).collect();
            if !matches.is_empty() {
                route.insert("match".to_owned(), matches.into());
            }
            if self.draw.is(25) {
                let headers = self.headers();
                route.insert("headers".to_owned(), headers);
            }
            if !delegates.is_empty() && self.draw.is(35) {
                self.count("delegate");
                let (namespace, name) = &delegates[self.draw.below(delegates.len())];
                route.insert("delegate".to_owned(), json!({"name": name, "namespace": namespace}));
            } else {
                self.does(&mut route);
            }
            routes.push(Value::Object(route));
        }
        routes.into()
    }

    fn test(&mut self, gateways: &[String]) -> Value {
        let mut test = Map::new();
        if self.draw.is(85) {
            let (kind, uri) = match self.draw.below(5) {
                0 => ("regex", self.draw.of(&EXPRESSIONS)),
                1 | 2 => ("exact", self.draw.of(&PATHS)),
                _ => ("prefix", self.draw.of(&PATHS)),
            };
            self.count(kind);
            test.insert("uri".to_owned(), json!({kind: uri}));
            if self.draw.is(15) {
                self.count("ignoreUriCase");
                test.insert("ignoreUriCase".to_owned(), true.into());
            }
        }
        for (key, percent) in [("headers", 25), ("withoutHeaders", 15), ("queryParams", 15)] {
            if self.draw.is(percent) {
                self.count(key);
                let names = if key == "queryParams" { ["q", "r"] } else { ["x", "y"] };
                let mut own = Map::new();
                for name in names.iter().take(1 + self.draw.below(2)) {
                    own.insert((*name).to_owned(), self.value_test());
                }
                test.insert(key.to_owned(), own.into());
            }
        }
        if self.draw.is(10) {
            self.count("method");
            let own = json!({"exact": self.draw.of(&["GET", "POST"])});
            test.insert("method".to_owned(), own);
        }
        if self.draw.is(7) {
            self.count("authority");
            let own = match self.draw.below(3) {
                0 => json!({"prefix": "www."}),
                1 => json!({"regex": ".*:8080"}),
                _ => json!({"prefix": self.draw.of(&["t", "b"])}),
            };
            test.insert("authority".to_owned(), own);
        }
        if self.draw.is(4) {
            self.count("scheme");
            let own = json!({"exact": self.draw.of(&["http", "https"])});
            test.insert("scheme".to_owned(), own);
        }
        if self.draw.is(6) {
            self.count("port");
            test.insert("port".to_owned(), [80, 81][self.draw.below(2)].into());
        }
        if self.draw.is(8) {
            self.count("gateways");
            let own = gateways[self.draw.below(gateways.len())].clone();
            test.insert("gateways".to_owned(), if self.draw.is(20) { json!(["mesh"]) } else { json!([own]) });
        }
        test.into()
    }

    fn value_test(&mut self) -> Value {
        match self.draw.below(6) {
            0 => json!({}),
            1 => json!({"prefix": self.draw.of(&["1", "a"])}),
            2 => json!({"regex": self.draw.of(&VALUE_EXPRESSIONS)}),
            _ => json!({"exact": self.draw.of(&VALUES)}),
        }
    }

    fn headers(&mut self) -> Value {
        self.count("header edits");
        let mut headers = json!({});
        for side in ["request", "response"] {
            if self.draw.is(60) {
                let mut own = json!({});
                let names: &[&str] = if side == "request" {
                    &["x-t-a", "x-t-b", "X-T-C"]
                } else {
                    &["x-t-own", "x-t-both", "x-t-new"]
                };
                for key in ["set", "add"] {
                    if self.draw.is(50) {
                        own[key] = json!({self.draw.of(names): self.draw.of(&["1", "2", "100%%"])});
                    }
                }
                if self.draw.is(40) {
                    own["remove"] = json!([self.draw.of(names)]);
                }
                if side == "request" && self.draw.is(15) {
                    own["set"]["Host"] = "set.test".into();
                    self.count("host by a field");
                }
                headers[side] = own;
            }
        }
        headers
    }

    fn does(&mut self, route: &mut Map<String, Value>) {
        match self.draw.below(10) {
            0 => {
                self.count("redirect");
                let mut own = json!({"uri": self.draw.of(&["/new", "/new?x=1", ""])});
                if self.draw.is(50) {
                    own["authority"] = self.draw.of(&["other.test", "other.test:8080"]).into();
                }
                if self.draw.is(40) {
                    own["scheme"] = self.draw.of(&["http", "https"]).into();
                }
                if self.draw.is(30) {
                    own["port"] = [80, 443, 8443][self.draw.below(3)].into();
                } else if self.draw.is(30) {
                    own["derivePort"] = self.draw.of(&["FROM_REQUEST_PORT", "FROM_PROTOCOL_DEFAULT"]).into();
                }
                if self.draw.is(50) {
                    own["redirectCode"] = [301, 302, 303, 307, 308][self.draw.below(5)].into();
                }
                route.insert("redirect".to_owned(), own);
            }
            1 => {
                self.count("direct response");
                let body = format!("text {}", self.draw.below(1000));
                let status = [200, 404, 418, 503][self.draw.below(4)];
                route
                    .insert("directResponse".to_owned(), json!({"status": status, "body": {"string": body}}));
            }
            _ => {
                let count = if self.draw.is(20) { 2 + self.draw.below(2) } else { 1 };
                let chosen = self.draw.below(count);
                let mut places = Vec::new();
                for number in 0..count {
                    let mut place = json!({"destination": self.destination()});
                    if count > 1 {
                        // Only one destination has a share, so that the result is deterministic.
                        place["weight"] = if number == chosen { 5 } else { 0 }.into();
                    }
                    if self.draw.is(20) {
                        self.count("changes of a destination");
                        place["headers"] = self.headers();
                    }
                    places.push(place);
                }
                self.count(if count > 1 { "shares" } else { "one destination" });
                route.insert("route".to_owned(), places.into());
                if self.draw.is(35) {
                    let rewrite = self.rewrite();
                    route.insert("rewrite".to_owned(), rewrite);
                }
            }
        }
    }

    fn destination(&mut self) -> Value {
        // Service number 4 does not exist.
        let number = if self.draw.is(5) { 4 } else { self.draw.below(4) };
        let host = match self.draw.below(3) {
            0 => format!("s{number}.{}.svc.cluster.local", self.draw.of(&NAMESPACES)),
            _ => format!("s{number}"),
        };
        let mut own = json!({"host": host});
        if number == 3 && self.draw.is(50) {
            own["port"] = json!({"number": 81});
        } else if self.draw.is(20) {
            own["port"] = json!({"number": 80});
        }
        own
    }

    fn rewrite(&mut self) -> Value {
        let mut own = match self.draw.below(4) {
            0 => {
                self.count("regex rewrite");
                let (found, by) =
                    [("/a", "/z"), ("^/([^/]*)/(.*)$", r"/\2/\1"), ("[ab]", "x"), ("^(/.*)$", r"/v1\1")]
                        [self.draw.below(4)];
                json!({"uriRegexRewrite": {"match": found, "rewrite": by}})
            }
            1 => json!({}),
            _ => {
                self.count("rewrite");
                json!({"uri": self.draw.of(&["/", "/new", "/new/", "/a/b"])})
            }
        };
        if self.draw.is(30) || own.as_object().unwrap().is_empty() {
            self.count("rewrite of the host");
            own["authority"] = "rewritten.test".into();
        }
        own
    }

    /// Generates requests for the group whose VirtualServices begin at index `first`.
    fn requests(&mut self, hosts: &[String], first: usize, case: &mut IstioCase) {
        let mut tests = Vec::new();
        for object in &case.objects[first..] {
            for route in object["spec"]["http"].as_array().unwrap() {
                tests.extend(route["match"].as_array().into_iter().flatten().cloned());
                tests.push(json!({}));
            }
        }
        for test in tests {
            for _ in 0..3 {
                let request = self.request(hosts, &test);
                case.requests.push(request);
            }
        }
    }

    fn request(&mut self, hosts: &[String], test: &Value) -> String {
        let group = &hosts[0];
        let mut host = match self.draw.below(6) {
            0 => format!("www.{group}"),
            1 => format!("b.a.{group}"),
            2 => format!("c.{group}"),
            3 => group.to_ascii_uppercase(),
            _ => group.clone(),
        };
        if self.draw.is(10) {
            host.push_str(self.draw.of(&[":80", ":8080"]));
        }
        let uri = &test["uri"];
        let mut target = match (uri.get("exact").or_else(|| uri.get("prefix")), uri.get("regex")) {
            (Some(text), _) => word(text).to_owned(),
            (None, Some(_)) => self.draw.of(&["/a/b", "/abc", "/ab", "/A", "/b/a", "/aabb"]).to_owned(),
            (None, None) => self.draw.of(&PATHS).to_owned(),
        };
        if self.draw.is(30) {
            target.push_str(self.draw.of(&ODD));
        }
        if self.draw.is(10) {
            target.make_ascii_uppercase();
        }
        let mut query = Vec::new();
        for (name, value) in test["queryParams"].as_object().into_iter().flatten() {
            if self.draw.is(80) {
                query.push(format!("{name}={}", self.value(value)));
            }
        }
        if self.draw.is(15) {
            query.push(self.draw.of(&["q=1", "r", "q=2&q=1", "q=%31", "z=?"]).to_owned());
        }
        if !query.is_empty() {
            target = format!("{target}?{}", query.join("&"));
        }
        let mut fields = String::new();
        for key in ["headers", "withoutHeaders"] {
            for (name, value) in test[key].as_object().into_iter().flatten() {
                if self.draw.is(if key == "headers" { 85 } else { 30 }) {
                    fields.push_str(&format!("{name}: {}\r\n", self.value(value)));
                }
            }
        }
        for _ in 0..self.draw.below(3) {
            let name = self.draw.of(&["x", "Y", "x-t-a", "X-T-B", "x-t-c"]);
            fields.push_str(&format!("{name}: {}\r\n", self.draw.of(&VALUES)));
        }
        let method = match test["method"].get("exact") {
            Some(method) if self.draw.is(80) => word(method).to_owned(),
            _ => self.draw.of(&["GET", "GET", "GET", "POST"]).to_owned(),
        };
        let length = if method == "POST" { "Content-Length: 0\r\n" } else { "" };
        format!("{method} {target} HTTP/1.1\r\nHost: {host}\r\n{fields}{length}\r\n")
    }

    /// Returns a value that a condition may match.
    fn value(&mut self, test: &Value) -> String {
        let text = test.get("exact").or_else(|| test.get("prefix")).map(|text| word(text).to_owned());
        text.unwrap_or_else(|| self.draw.of(&VALUES).to_owned())
    }
}

pub(crate) fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
