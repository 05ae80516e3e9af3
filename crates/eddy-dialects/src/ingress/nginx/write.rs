//! NGINX directives as ingress-nginx would write them, with source positions in the manifests.

use eddy_config::CertificateFiles;
use eddy_spec::problem::SourceSpan;

use super::canary::choice;
use super::cors::cors_lines;
use super::directive::{block, line, word, words};
use super::errors::{intercept, page};
use super::secure::{has_certificate, redirect_cleartext_to_https, redirect_without_slash, to_https};
use super::servers::{ANY_HOST, IngressServer, Location, Servers, is_rewritten, settings_of};
use super::settings::{IngressAnnotations, default_backend_name};
use super::upstreams::{Resolve, ServicePortQuery, Upstreams};
use crate::ingress::model::{Ingress, PathKind};
use crate::nginx::{Directive, Targets};

/// Writer of the directives.
pub(super) struct IngressConfWriter<'w> {
    pub(super) ingresses: &'w [(&'w Ingress, IngressAnnotations)],
    pub(super) upstreams: &'w Upstreams,
    /// Addresses that all servers listen on.
    pub(super) listens: &'w [String],
    /// TLS certificates; empty without TLS.
    pub(super) certificates: &'w [CertificateFiles],
    /// Resolves a Service port to endpoints.
    pub(super) resolve: Resolve<'w>,
    /// Names that `proxy_pass` may use besides those of upstreams.
    pub(super) targets: Targets,
    /// Maps and upstreams that locations need.
    pub(super) extra: Vec<Directive>,
}

impl IngressConfWriter<'_> {
    /// Writes all directives.
    pub(super) fn write(&mut self, servers: &Servers) -> Vec<Directive> {
        let place = self.ingresses.first().map(|(ingress, _)| ingress.place).unwrap_or_default();
        let mut http = frame(place);
        for (name, upstream) in self.upstreams.iter().filter(|(_, upstream)| !upstream.endpoints.is_empty()) {
            let balance = match &upstream.hash {
                Some(key) => Some(line(key.place, "hash", &[&key.value, "consistent"])),
                None => upstream.is_least_loaded.then(|| line(upstream.place, "least_conn", &[])),
            };
            http.push(group(name, &upstream.endpoints, balance, upstream.place));
        }
        let mut written = Vec::new();
        for (host, server) in servers {
            written.push(self.server(host, server));
        }
        for (host, server) in servers {
            written.extend(self.www_redirect_server(host, server, servers));
        }
        http.append(&mut self.extra);
        http.append(&mut written);
        vec![block(place, "http", Vec::new(), http)]
    }

    fn server(&mut self, host: &str, server: &IngressServer) -> Directive {
        let place = server.place;
        let mut block_ = self.listens(host, place);
        let mut names = vec![word(place, &server_name(host))];
        names.extend(server.aliases.iter().map(|alias| word(alias.place, &server_name(&alias.value))));
        block_.push(Directive { name: word(place, "server_name"), arguments: names, block: None });
        let is_expression = server.locations.iter().any(|location| {
            let settings = settings_of(location, self.ingresses);
            settings.uses_regex || is_rewritten(location, &settings)
        });
        let has_certificate = has_certificate(host, self.certificates);
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
            let inner = self.location(location, has_certificate);
            block_.push(block(location.place, "location", arguments, inner));
        }
        block_.extend(self.error_pages(server));
        block(place, "server", Vec::new(), block_)
    }

    fn listens(&self, host: &str, place: SourceSpan) -> Vec<Directive> {
        let lines = self.listens.iter().map(|address| {
            let default = (host == ANY_HOST).then_some("default_server");
            let arguments: Vec<&str> = [address.as_str()].into_iter().chain(default).collect();
            line(place, "listen", &arguments)
        });
        lines.collect()
    }

    /// Returns the server that redirects a host with `www.` to the one without, or the reverse.
    fn www_redirect_server(
        &self,
        host: &str,
        server: &IngressServer,
        servers: &Servers,
    ) -> Option<Directive> {
        // For a wildcard host, ingress-nginx writes a name that NGINX rejects.
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

    fn location(&mut self, location: &Location, has_certificate: bool) -> Vec<Directive> {
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
        let keeps_slash = settings.keeps_last_slash;
        // Without a certificate, no request comes over TLS.
        if self.certificates.is_empty() && settings.forces_https {
            inner.extend(to_https(place, keeps_slash));
            return inner;
        }
        if settings.forces_https || has_certificate && !settings.stays_http {
            inner.extend(redirect_cleartext_to_https(place, keeps_slash));
        }
        let Some(pass) = self.pass(location, &settings) else {
            let status = if location.upstream.is_some() { "503" } else { "404" };
            inner.push(line(place, "return", &[status]));
            return inner;
        };
        inner.extend(self.own_fields(location, &settings, target.is_some()));
        if self.default_backend(location, &settings).is_some() {
            let namespace = location.ingress.and_then(|index| self.ingresses.get(index));
            let namespace = namespace.map(|(ingress, _)| ingress.namespace.as_str()).unwrap_or_default();
            inner.extend(intercept(place, &settings, namespace));
        }
        inner.push(line(place, "proxy_pass", &[&format!("http://{pass}")]));
        inner.extend(cors.into_iter().flatten());
        inner
    }

    /// Returns the target of `proxy_pass`, or `None` when there is no endpoint.
    fn pass(&mut self, location: &Location, settings: &IngressAnnotations) -> Option<String> {
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
        // The Service in the `default-backend` annotation replaces one without endpoints.
        self.default_backend(location, settings)
    }

    /// Returns the upstream of the `default-backend` Service, or `None` when it has no endpoint.
    fn default_backend(&mut self, location: &Location, settings: &IngressAnnotations) -> Option<String> {
        let service = settings.default_backend.as_ref()?;
        let namespace = &self.ingresses.get(location.ingress?)?.0.namespace;
        let wanted = ServicePortQuery { namespace, service, port: None };
        let endpoints = (self.resolve)(&wanted);
        if endpoints.is_empty() {
            return None;
        }
        let name = default_backend_name(namespace, &service.value);
        if !self.extra.iter().any(|known| known.arguments.first().is_some_and(|word| word.text == name)) {
            self.extra.push(group(&name, &endpoints, None, service.place));
        }
        Some(name)
    }

    /// Returns the named locations of a server that fetch error pages.
    fn error_pages(&mut self, server: &IngressServer) -> Vec<Directive> {
        let mut known: Vec<(String, u16)> = Vec::new();
        let mut pages = Vec::new();
        for location in &server.locations {
            let settings = settings_of(location, self.ingresses).into_owned();
            if settings.http_errors.is_empty() {
                continue;
            }
            let Some(upstream) = self.default_backend(location, &settings) else { continue };
            for status in &settings.http_errors {
                let key = (upstream.clone(), *status);
                if !known.contains(&key) {
                    pages.push(page(location.place, &upstream, *status));
                    known.push(key);
                }
            }
        }
        pages
    }

    /// Returns the request headers of a location when they differ from the common ones, with the variables that they
    /// use.
    fn own_fields(
        &self,
        location: &Location,
        settings: &IngressAnnotations,
        is_rewritten: bool,
    ) -> Vec<Directive> {
        let prefix = settings.forwarded_prefix.as_ref().filter(|_| is_rewritten);
        let has_pages = !settings.http_errors.is_empty();
        if settings.host.is_none() && prefix.is_none() && !has_pages {
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
                // Error page requests pass them on to the Service that answers instead.
                if has_pages || names(variable) {
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

/// Returns the directives that apply to all servers.
fn frame(place: SourceSpan) -> Vec<Directive> {
    let row = |key: &str, value: &str| line(place, key, &[value]);
    let mut lines = vec![
        block(
            place,
            "map",
            words(place, &["$http_x_request_id", "$req_id"]),
            vec![row("default", "$http_x_request_id"), row("", "$request_id")],
        ),
        line(place, "http2", &["on"]),
        line(place, "proxy_connect_timeout", &["5s"]),
        line(place, "proxy_read_timeout", &["60s"]),
        line(place, "proxy_next_upstream", &["error", "timeout"]),
        line(place, "proxy_next_upstream_tries", &["3"]),
        line(place, "client_max_body_size", &["1m"]),
    ];
    lines.extend(FIELDS.iter().map(|(name, value)| line(place, "proxy_set_header", &[name, value])));
    lines
}

fn group(name: &str, endpoints: &[String], balance: Option<Directive>, place: SourceSpan) -> Directive {
    let mut inner: Vec<Directive> = balance.into_iter().collect();
    inner.extend(endpoints.iter().map(|endpoint| line(place, "server", &[endpoint])));
    inner.push(line(place, "keepalive", &["320"]));
    inner.push(line(place, "keepalive_requests", &["10000"]));
    block(place, "upstream", words(place, &[name]), inner)
}

/// Returns `server_name` for a host; a wildcard stands for one label.
fn server_name(host: &str) -> String {
    match host.strip_prefix("*.") {
        Some(rest) => format!(r"~^(?<subdomain>[\w-]+)\.{}$", rest.replace('.', r"\.")),
        None => host.to_owned(),
    }
}

/// Request headers that ingress-nginx sets.
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
    ("Upgrade", "$http_upgrade"),
    ("Connection", "upgrade"),
];
