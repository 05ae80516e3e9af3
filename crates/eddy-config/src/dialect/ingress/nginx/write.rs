//! The configuration of NGINX that ingress-nginx would write, as directives that know where in the manifests they come from.

use super::canary::choice;
use super::servers::{ANY_HOST, Location, Server, Servers, is_rewritten, settings_of};
use super::settings::{Cors, Settings};
use super::upstreams::{Upstreams, Wanted};
use crate::dialect::ingress::model::{Ingress, PathKind};
use crate::dialect::nginx::{Directive, Targets, Word};
use crate::problem::Place;
use crate::read::At;

/// What directives are written from.
pub(super) struct Writer<'w> {
    pub(super) ingresses: &'w [(&'w Ingress, Settings)],
    pub(super) upstreams: &'w Upstreams,
    /// Where all servers listen.
    pub(super) listens: &'w [String],
    /// Asks for the endpoints of Services.
    pub(super) resolve: &'w mut dyn FnMut(&Wanted<'_>) -> Vec<String>,
    /// Names that `proxy_pass` may have beside those of upstreams.
    pub(super) targets: Targets,
    /// Maps and upstreams that locations ask for.
    pub(super) extra: Vec<Directive>,
}

impl Writer<'_> {
    /// All of it.
    pub(super) fn write(&mut self, servers: &Servers) -> Vec<Directive> {
        let place = self.ingresses.first().map(|(ingress, _)| ingress.place).unwrap_or_default();
        let mut http = frame(place);
        for (name, upstream) in self.upstreams.iter().filter(|(_, upstream)| !upstream.endpoints.is_empty()) {
            http.push(group(name, &upstream.endpoints, upstream.is_least_loaded, upstream.place));
        }
        let mut written = Vec::new();
        for (host, server) in servers {
            written.push(self.server(host, server));
        }
        for (host, server) in servers {
            written.extend(self.www(host, server, servers));
        }
        http.append(&mut self.extra);
        http.append(&mut written);
        vec![block(place, "http", Vec::new(), http)]
    }

    fn server(&mut self, host: &str, server: &Server) -> Directive {
        let place = server.place;
        let mut block_ = self.listens(host, place);
        let mut names = vec![word(place, &server_name(host))];
        names.extend(server.aliases.iter().map(|alias| word(alias.place, &server_name(&alias.value))));
        block_.push(Directive { name: word(place, "server_name"), arguments: names, block: None });
        let is_expression = server.locations.iter().any(|location| {
            let settings = settings_of(location, self.ingresses);
            settings.uses_regex || is_rewritten(location, &settings)
        });
        for location in &server.locations {
            if let Some(root) = &settings_of(location, self.ingresses).app_root {
                let address = format!("$scheme://$http_host{}", root.value);
                let inner = vec![line(root.place, "return", &["302", &address])];
                block_.push(block(root.place, "if", words(root.place, &["($uri", "=", "/)"]), inner));
            }
            let arguments = match (is_expression, location.kind) {
                (true, _) => words(location.place, &["~*", &format!("^{}", location.path)]),
                (false, PathKind::Exact) => words(location.place, &["=", &location.path]),
                (false, PathKind::Prefix | PathKind::Implementation) => {
                    words(location.place, &[&location.path])
                }
            };
            let inner = self.location(location);
            block_.push(block(location.place, "location", arguments, inner));
        }
        block(place, "server", Vec::new(), block_)
    }

    fn listens(&self, host: &str, place: Place) -> Vec<Directive> {
        let lines = self.listens.iter().map(|address| {
            let default = (host == ANY_HOST).then_some("default_server");
            let arguments: Vec<&str> = [address.as_str()].into_iter().chain(default).collect();
            line(place, "listen", &arguments)
        });
        lines.collect()
    }

    /// The server that sends `www.` in front of a host away, or brings it there.
    fn www(&self, host: &str, server: &Server, servers: &Servers) -> Option<Directive> {
        // With a wildcard ingress-nginx writes a name that NGINX does not take.
        if !server.redirects_www || host == ANY_HOST || host.starts_with('*') {
            return None;
        }
        let from = host.strip_prefix("www.").map_or_else(|| format!("www.{host}"), str::to_owned);
        if servers.contains_key(&from) {
            return None;
        }
        let place = server.place;
        let mut inner = self.listens(&from, place);
        inner.push(line(place, "server_name", &[&from]));
        inner.extend(redirect_without_slash(place, &format!("$scheme://{host}")));
        Some(block(place, "server", Vec::new(), inner))
    }

    fn location(&mut self, location: &Location) -> Vec<Directive> {
        let place = location.place;
        let settings = settings_of(location, self.ingresses);
        let port = if settings.names_port_in_redirects { "on" } else { "off" };
        let mut inner = vec![line(place, "port_in_redirect", &[port])];
        if settings.has_relative_redirects {
            inner.push(line(place, "absolute_redirect", &["off"]));
        }
        for (name, arguments) in &settings.directives {
            let at = arguments.first().map_or(place, |argument| argument.place);
            let arguments = arguments.iter().map(|argument| word(argument.place, &argument.value)).collect();
            inner.push(Directive { name: word(at, name), arguments, block: None });
        }
        let cors = settings.cors.as_ref().map(|cors| cors_lines(cors, &mut inner));
        if let Some(redirect) = &settings.redirect {
            let status = redirect.status.to_string();
            inner.push(line(redirect.address.place, "return", &[&status, &redirect.address.value]));
            return inner;
        }
        let target = settings.rewrite_target.as_ref().filter(|target| !target.value.is_empty());
        let target = target.filter(|target| target.value != location.path);
        if let Some(target) = target {
            let pattern = format!("(?i){}", location.path);
            inner.push(line(target.place, "rewrite", &[&pattern, &target.value, "break"]));
        }
        if settings.forces_https {
            inner.extend(if settings.keeps_last_slash {
                vec![line(place, "return", &["308", "https://$host$request_uri"])]
            } else {
                redirect_without_slash(place, "https://$host").to_vec()
            });
            return inner;
        }
        let Some(pass) = self.pass(location, &settings) else {
            let status = if location.upstream.is_some() { "503" } else { "404" };
            inner.push(line(place, "return", &[status]));
            return inner;
        };
        inner.extend(self.own_fields(location, &settings, target.is_some()));
        inner.push(line(place, "proxy_pass", &[&format!("http://{pass}")]));
        inner.extend(cors.into_iter().flatten());
        inner
    }

    /// What `proxy_pass` leads to; nothing where there is no endpoint.
    fn pass(&mut self, location: &Location, settings: &Settings) -> Option<String> {
        let name = location.upstream.as_ref()?;
        let upstream = self.upstreams.get(name)?;
        if !upstream.endpoints.is_empty() {
            let alternative =
                upstream.alternatives.first().and_then(|name| Some((name, self.upstreams.get(name)?)));
            return Some(match alternative.filter(|(_, alternative)| !alternative.endpoints.is_empty()) {
                Some((other, alternative)) => {
                    choice(name, other, alternative, &mut self.targets, &mut self.extra)
                }
                None => name.clone(),
            });
        }
        // The annotation's own Service answers in the place of one without endpoints.
        let service = settings.default_backend.as_ref()?;
        let namespace = &self.ingresses.get(location.ingress?)?.0.namespace;
        let wanted = Wanted { namespace, service, port: None };
        let endpoints = (self.resolve)(&wanted);
        if endpoints.is_empty() {
            return None;
        }
        let name = format!("custom-default-backend-{namespace}-{}", service.value);
        if !self.extra.iter().any(|known| known.arguments.first().is_some_and(|word| word.text == name)) {
            self.extra.push(group(&name, &endpoints, false, service.place));
        }
        Some(name)
    }

    /// The fields of the request where they are not those of all, and variables that their values name.
    fn own_fields(&self, location: &Location, settings: &Settings, is_rewritten: bool) -> Vec<Directive> {
        let prefix = settings.forwarded_prefix.as_ref().filter(|_| is_rewritten);
        if settings.host.is_none() && prefix.is_none() {
            return Vec::new();
        }
        let mut lines = Vec::new();
        let values = [settings.host.as_ref(), prefix];
        let names = |variable: &str| values.iter().flatten().any(|value| value.value.contains(variable));
        if let Some((ingress, _)) = location.ingress.and_then(|index| self.ingresses.get(index)) {
            let upstream = location.upstream.as_deref().unwrap_or_default();
            let behind = upstream.strip_prefix(&format!("{}-", ingress.namespace)).unwrap_or_default();
            let (service, port) = behind.rsplit_once('-').unwrap_or_default();
            for (variable, value) in [
                ("$namespace", ingress.namespace.as_str()),
                ("$ingress_name", ingress.name.as_str()),
                ("$service_name", service),
                ("$service_port", port),
                ("$proxy_upstream_name", upstream),
            ] {
                if names(variable) {
                    lines.push(line(location.place, "set", &[variable, value]));
                }
            }
        }
        for (name, value) in FIELDS {
            let own = settings.host.as_ref().filter(|_| *name == "Host");
            let (place, value) = own.map_or((location.place, *value), |own| (own.place, own.value.as_str()));
            lines.push(line(place, "proxy_set_header", &[name, value]));
        }
        if let Some(prefix) = prefix {
            lines.push(line(prefix.place, "proxy_set_header", &["X-Forwarded-Prefix", &prefix.value]));
        }
        lines
    }
}

/// What holds for all servers.
fn frame(place: Place) -> Vec<Directive> {
    let row = |key: &str, value: &str| line(place, key, &[value]);
    let mut lines = vec![
        block(
            place,
            "map",
            words(place, &["$http_x_request_id", "$req_id"]),
            vec![row("default", "$http_x_request_id"), row("", "$request_id")],
        ),
        line(place, "proxy_connect_timeout", &["5s"]),
        line(place, "proxy_read_timeout", &["60s"]),
        line(place, "proxy_next_upstream", &["error", "timeout"]),
        line(place, "proxy_next_upstream_tries", &["3"]),
        line(place, "client_max_body_size", &["1m"]),
    ];
    lines.extend(FIELDS.iter().map(|(name, value)| line(place, "proxy_set_header", &[name, value])));
    lines
}

fn group(name: &str, endpoints: &[String], is_least_loaded: bool, place: Place) -> Directive {
    let mut inner: Vec<Directive> = Vec::new();
    if is_least_loaded {
        inner.push(line(place, "least_conn", &[]));
    }
    inner.extend(endpoints.iter().map(|endpoint| line(place, "server", &[endpoint])));
    inner.push(line(place, "keepalive", &["320"]));
    inner.push(line(place, "keepalive_requests", &["10000"]));
    block(place, "upstream", words(place, &[name]), inner)
}

/// `server_name` for a host: a wildcard stands for one label.
fn server_name(host: &str) -> String {
    match host.strip_prefix("*.") {
        Some(rest) => format!(r"~^(?<subdomain>[\w-]+)\.{}$", rest.replace('.', r"\.")),
        None => host.to_owned(),
    }
}

/// Redirects to an address with the request's target, but for a `/` at its end.
fn redirect_without_slash(place: Place, address: &str) -> [Directive; 2] {
    let inner = line(place, "return", &["308", &format!("{address}$redirected")]);
    let condition = words(place, &["($request_uri", "~", "^(?<redirected>.*)/$)"]);
    [
        block(place, "if", condition, vec![inner]),
        line(place, "return", &["308", &format!("{address}$request_uri")]),
    ]
}

/// What answers preflight requests, put before all else; the result goes behind it.
fn cors_lines(cors: &Cors, inner: &mut Vec<Directive>) -> Vec<Directive> {
    let place = cors.place;
    let is_any = cors.origins.is_empty() || cors.origins.iter().any(|origin| origin.value == "*");
    let origin = if is_any { "*" } else { "$http_origin" };
    let age = cors.max_age.to_string();
    let mut fields = vec![("Access-Control-Allow-Origin", origin)];
    if cors.allows_credentials {
        fields.push(("Access-Control-Allow-Credentials", "true"));
    }
    fields.push(("Access-Control-Allow-Methods", &cors.methods));
    fields.push(("Access-Control-Allow-Headers", &cors.headers));
    if !cors.exposed.is_empty() {
        fields.push(("Access-Control-Expose-Headers", &cors.exposed));
    }
    fields.push(("Access-Control-Max-Age", &age));
    let lines: Vec<Directive> =
        fields.iter().map(|(name, value)| line(place, "add_header", &[name, value, "always"])).collect();
    let mut preflight = lines.clone();
    preflight.push(line(place, "return", &["204"]));
    if is_any {
        inner.push(block(place, "if", words(place, &["($request_method", "=", "OPTIONS)"]), preflight));
        return lines;
    }
    inner.push(line(place, "set", &["$cors", ""]));
    let condition = words(place, &["($http_origin", "~*", &format!("{})", origin_pattern(&cors.origins))]);
    inner.push(block(place, "if", condition, vec![line(place, "set", &["$cors", "true"])]));
    let options = words(place, &["($request_method", "=", "OPTIONS)"]);
    inner.push(block(place, "if", options, vec![line(place, "set", &["$cors", "${cors}options"])]));
    inner.push(block(place, "if", words(place, &["($cors", "=", "true)"]), lines));
    inner.push(block(place, "if", words(place, &["($cors", "=", "trueoptions)"]), preflight));
    Vec::new()
}

/// An expression for some origins, in which `*.` stands for one label.
fn origin_pattern(origins: &[At<String>]) -> String {
    let one = |origin: &str| origin.replace('.', r"\.").replace(r"*\.", r"[A-Za-z0-9-]+\.");
    let all: Vec<String> = origins.iter().map(|origin| one(&origin.value)).collect();
    format!("^({})$", all.join("|"))
}

/// The fields that ingress-nginx sets.
const FIELDS: &[(&str, &str)] = &[
    ("Host", "$http_host"),
    ("X-Request-ID", "$req_id"),
    ("X-Real-IP", "$remote_addr"),
    ("X-Forwarded-For", "$remote_addr"),
    ("X-Forwarded-Host", "$http_host"),
    ("X-Forwarded-Port", "$server_port"),
    ("X-Forwarded-Proto", "$scheme"),
    ("X-Forwarded-Scheme", "$scheme"),
    ("X-Scheme", "$scheme"),
    ("X-Original-Forwarded-For", "$http_x_forwarded_for"),
];

/// A word that stands at a place.
pub(super) fn word(place: Place, text: &str) -> Word {
    Word { text: text.to_owned(), place }
}

/// Words that stand at a place.
pub(super) fn words(place: Place, texts: &[&str]) -> Vec<Word> {
    texts.iter().map(|text| word(place, text)).collect()
}

/// A directive without a block.
pub(super) fn line(place: Place, name: &str, arguments: &[&str]) -> Directive {
    Directive { name: word(place, name), arguments: words(place, arguments), block: None }
}

/// A directive with a block.
pub(super) fn block(place: Place, name: &str, arguments: Vec<Word>, inner: Vec<Directive>) -> Directive {
    Directive { name: word(place, name), arguments, block: Some(inner) }
}
