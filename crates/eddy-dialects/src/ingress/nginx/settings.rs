//! Settings in the annotations of an Ingress.

use eddy_spec::problem::{ProblemReport, SourceSpan, shown};
use eddy_spec::read::Spanned;

use super::catalogue::{PREFIX, find, is_guard, names};
use crate::ingress::model::{Annotation, Ingress};
use crate::nginx::Use;

/// Settings in the annotations of an Ingress; an invalid annotation counts as absent.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(super) struct IngressAnnotations {
    pub(super) app_root: Option<Spanned<String>>,
    pub(super) rewrite_target: Option<Spanned<String>>,
    pub(super) uses_regex: bool,
    pub(super) forces_https: bool,
    /// Whether requests without TLS are served even if there is a certificate.
    pub(super) stays_http: bool,
    pub(super) keeps_last_slash: bool,
    pub(super) redirect: Option<RedirectTo>,
    pub(super) has_relative_redirects: bool,
    pub(super) names_port_in_redirects: bool,
    pub(super) redirects_www: bool,
    pub(super) aliases: Vec<Spanned<String>>,
    pub(super) host: Option<Spanned<String>>,
    pub(super) forwarded_prefix: Option<Spanned<String>>,
    pub(super) default_backend: Option<Spanned<String>>,
    /// Response statuses for which the default backend answers instead.
    pub(super) http_errors: Vec<u16>,
    pub(super) is_least_loaded: bool,
    /// Key that selects an endpoint.
    pub(super) hash: Option<Spanned<String>>,
    pub(super) cors: Option<Cors>,
    pub(super) canary: Option<Canary>,
    /// Directives for each location: names and arguments.
    pub(super) directives: Vec<(&'static str, Vec<Spanned<String>>)>,
}

/// Redirect response.
#[derive(Clone, Debug)]
pub(super) struct RedirectTo {
    pub(super) address: Spanned<String>,
    pub(super) status: u16,
}

/// Conditions under which requests go to a canary; the first that applies decides.
#[derive(Clone, Debug, Default)]
pub(super) struct Canary {
    pub(super) header: Option<Spanned<String>>,
    pub(super) header_value: Option<Spanned<String>>,
    pub(super) header_pattern: Option<Spanned<String>>,
    pub(super) cookie: Option<Spanned<String>>,
    pub(super) weight: u32,
    pub(super) weight_total: u32,
}

/// CORS settings.
#[derive(Clone, Debug)]
pub(super) struct Cors {
    pub(super) origins: Vec<Spanned<String>>,
    pub(super) methods: String,
    pub(super) headers: String,
    pub(super) exposed: String,
    pub(super) allows_credentials: bool,
    pub(super) max_age: u64,
    pub(super) place: SourceSpan,
}

impl IngressAnnotations {
    /// Returns the settings that remain for requests that match no host and path: no rewrites and no redirects.
    pub(super) fn for_catch_all(&self) -> Self {
        Self {
            app_root: None,
            rewrite_target: None,
            uses_regex: false,
            forces_https: false,
            redirect: None,
            has_relative_redirects: false,
            redirects_www: false,
            http_errors: Vec::new(),
            ..self.clone()
        }
    }

    /// Reads the annotations of an Ingress; those of other programs are ignored.
    pub(super) fn read(ingress: &Ingress, report: &mut ProblemReport) -> Self {
        let mut reader = AnnotationReader { report, known: Vec::new() };
        for annotation in &ingress.annotations {
            reader.keep_annotation(annotation);
        }
        reader.settings()
    }
}

/// Reader of annotations; keeps those that eddy supports.
struct AnnotationReader<'r, 'i> {
    report: &'r mut ProblemReport,
    known: Vec<(&'static str, &'i Annotation)>,
}

impl<'i> AnnotationReader<'_, 'i> {
    /// Keeps an annotation that eddy reads; for others, reports why not.
    fn keep_annotation(&mut self, annotation: &'i Annotation) {
        let Some(name) = annotation.name.strip_prefix(PREFIX) else { return };
        let place = annotation.place;
        let Some(known) = find(name) else {
            let meant_name = self.report.closest(name, names());
            let meant = meant_name.map(|name| format!("did you mean `{PREFIX}{name}`?"));
            let hint = meant.unwrap_or_else(|| "remove it, or ignore it with `--lenient`".to_owned());
            let message = format!("ingress-nginx has no annotation `{}`", shown(name));
            if meant_name.is_some_and(is_guard) {
                self.report.error(place, message).hint(hint);
            } else {
                self.report.objection(place, message).hint(hint);
            }
            return;
        };
        // A switch that is off has no effect, whether eddy supports it or not.
        let is_off = parse_flag(&annotation.value) == Some(false);
        match known.use_ {
            Use::Read(_) => self.known.push((known.name, annotation)),
            Use::Idle(_) => {}
            Use::Warned(_) | Use::Refused(_) if is_off && known.name != "enable-access-log" => {}
            Use::Warned(reason) => {
                self.report.warning(place, format!("`{name}` has no effect in eddy: {reason}"));
            }
            Use::Refused(reason) if is_guard(known.name) => {
                self.report
                    .error(place, format!("eddy does not support `{name}`: {reason}"))
                    .hint("remove it to allow every request; `--lenient` does not ignore it");
            }
            Use::Refused(reason) => {
                self.report
                    .objection(place, format!("eddy does not support `{name}`: {reason}"))
                    .hint("remove it, or ignore it with `--lenient`");
            }
        }
    }

    fn settings(mut self) -> IngressAnnotations {
        let mut settings = IngressAnnotations {
            app_root: self.app_root(),
            rewrite_target: self.text("rewrite-target"),
            uses_regex: self.flag("use-regex"),
            forces_https: self.flag("force-ssl-redirect"),
            stays_http: self.annotation("ssl-redirect").is_some() && !self.flag("ssl-redirect"),
            keeps_last_slash: self.flag("preserve-trailing-slash"),
            redirect: self.redirect(),
            has_relative_redirects: self.flag("relative-redirects"),
            names_port_in_redirects: self.flag("use-port-in-redirects"),
            redirects_www: self.flag("from-to-www-redirect"),
            aliases: self.list("server-alias"),
            host: self.text("upstream-vhost"),
            forwarded_prefix: self.text("x-forwarded-prefix"),
            default_backend: self.text("default-backend"),
            http_errors: self.http_errors(),
            is_least_loaded: false,
            hash: self.text("upstream-hash-by").filter(|key| !key.value.is_empty()),
            cors: self.cors(),
            canary: self.canary(),
            directives: Vec::new(),
        };
        if let Some(balance) = self.text("load-balance") {
            settings.is_least_loaded = balance.value == "ewma";
            if !matches!(balance.value.as_str(), "ewma" | "round_robin") {
                self.misfit(&balance, "`round_robin` or `ewma`");
            }
        }
        self.check_protocol();
        self.directives(&mut settings.directives);
        settings
    }

    /// Reads annotations that are directives under another name.
    fn directives(&mut self, directives: &mut Vec<(&'static str, Vec<Spanned<String>>)>) {
        for (name, directive, unit) in [
            ("proxy-body-size", "client_max_body_size", ""),
            ("proxy-connect-timeout", "proxy_connect_timeout", "s"),
            ("proxy-read-timeout", "proxy_read_timeout", "s"),
            ("proxy-next-upstream-tries", "proxy_next_upstream_tries", ""),
        ] {
            let Some(value) = self.text(name) else { continue };
            let is_plain = value.value.parse::<u32>().is_ok() || unit.is_empty();
            if !is_plain {
                self.misfit(&value, "a number of seconds");
                continue;
            }
            let value = Spanned { value: format!("{}{unit}", value.value), place: value.place };
            directives.push((directive, vec![value]));
        }
        if let Some(conditions) = self.text("proxy-next-upstream") {
            let words = conditions.value.split_whitespace();
            let words =
                words.map(|word| Spanned { value: word.to_owned(), place: conditions.place }).collect();
            directives.push(("proxy_next_upstream", words));
        }
        let from = self.text("proxy-redirect-from").filter(|from| !from.value.is_empty());
        let to = self.text("proxy-redirect-to").filter(|to| !matches!(to.value.as_str(), "" | "off"));
        match (from, to) {
            (Some(from), _) if matches!(from.value.as_str(), "off" | "default") => {
                directives.push(("proxy_redirect", vec![from]));
            }
            (Some(from), Some(to)) => directives.push(("proxy_redirect", vec![from, to])),
            // As in ingress-nginx, one without the other has no effect.
            (Some(_) | None, _) => {}
        }
        if let Some(version) = self.text("proxy-http-version") {
            directives.push(("proxy_http_version", vec![version]));
        }
    }

    fn app_root(&mut self) -> Option<Spanned<String>> {
        let root = self.text("app-root")?;
        if root.value.starts_with('/') {
            return Some(root);
        }
        self.misfit(&root, "a path that begins with `/`");
        None
    }

    fn redirect(&mut self) -> Option<RedirectTo> {
        for (name, code, usual) in [
            ("temporal-redirect", "temporal-redirect-code", 302),
            ("permanent-redirect", "permanent-redirect-code", 301),
        ] {
            // A status that is not a redirect is ignored, as in ingress-nginx.
            let status = self.number(code).and_then(|status| u16::try_from(status).ok());
            let status = status.filter(|status| (300..=308).contains(status)).unwrap_or(usual);
            let Some(address) = self.text(name).filter(|address| !address.value.is_empty()) else { continue };
            let is_address =
                ["http://", "https://", "/"].iter().any(|start| address.value.starts_with(start));
            if !is_address {
                self.misfit(&address, "a URL that begins with `http://` or `https://`");
                return None;
            }
            return Some(RedirectTo { address, status });
        }
        None
    }

    fn canary(&mut self) -> Option<Canary> {
        let is_on = self.flag("canary");
        let canary = Canary {
            header: self.text("canary-by-header").filter(|header| !header.value.is_empty()),
            header_value: self.text("canary-by-header-value").filter(|value| !value.value.is_empty()),
            header_pattern: self.text("canary-by-header-pattern").filter(|value| !value.value.is_empty()),
            cookie: self.text("canary-by-cookie").filter(|cookie| !cookie.value.is_empty()),
            weight: self.number("canary-weight").unwrap_or(0),
            weight_total: self.number("canary-weight-total").unwrap_or(100).max(100),
        };
        if !is_on
            && let Some((name, annotation)) = self.known.iter().find(|(name, _)| name.starts_with("canary-"))
        {
            let message = format!("`{name}` has no effect without `canary: \"true\"`");
            self.report.warning(annotation.place, message);
        }
        for name in [&canary.header, &canary.cookie].into_iter().flatten() {
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
            if !name.value.bytes().all(is_name) {
                let message =
                    format!("`{}` is not a valid name: use letters, digits, `-` and `_`", shown(&name.value));
                self.report.error(name.place, message);
                return None;
            }
        }
        is_on.then_some(canary)
    }

    fn cors(&mut self) -> Option<Cors> {
        let place = self.annotation("enable-cors")?.place;
        if !self.flag("enable-cors") {
            return None;
        }
        let text = |this: &mut Self, name, usual: &str| {
            this.text(name).map_or_else(|| usual.to_owned(), |text| text.value)
        };
        let mut origins = self.list("cors-allow-origin");
        origins.retain(|origin| !origin.value.is_empty());
        Some(Cors {
            origins,
            methods: text(self, "cors-allow-methods", "GET, PUT, POST, DELETE, PATCH, OPTIONS"),
            headers: text(
                self,
                "cors-allow-headers",
                "DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization",
            ),
            exposed: text(self, "cors-expose-headers", ""),
            allows_credentials: self.annotation("cors-allow-credentials").is_none()
                || self.flag("cors-allow-credentials"),
            max_age: self.number("cors-max-age").map_or(1_728_000, u64::from),
            place,
        })
    }

    fn check_protocol(&mut self) {
        let Some(protocol) = self.text("backend-protocol") else { return };
        match protocol.value.to_ascii_uppercase().as_str() {
            "HTTP" | "AUTO_HTTP" | "" => {}
            "HTTPS" | "GRPC" | "GRPCS" | "FCGI" => {
                let message = format!("eddy does not support `{}` to upstreams yet", shown(&protocol.value));
                self.report
                    .objection(protocol.place, message)
                    .hint("write `HTTP`, which is HTTP/1.1 without TLS");
            }
            _ => self.misfit(&protocol, "`HTTP`, `HTTPS`, `GRPC`, `GRPCS`, `AUTO_HTTP` or `FCGI`"),
        }
    }

    /// Returns the statuses of `custom-http-errors`, which needs a Service that answers instead.
    fn http_errors(&mut self) -> Vec<u16> {
        let mut statuses = Vec::new();
        for word in self.list("custom-http-errors") {
            match word.value.parse() {
                Ok(status @ 300..=599) if !statuses.contains(&status) => statuses.push(status),
                Ok(300..=599) => {}
                Ok(_) | Err(_) => self.misfit(&word, "a status from 300 to 599"),
            }
        }
        let annotation = self.annotation("custom-http-errors").filter(|_| !statuses.is_empty());
        if let (Some(annotation), None) = (annotation, self.annotation("default-backend")) {
            let message = "`custom-http-errors` needs `default-backend`: eddy has no error pages of its own";
            self.report.objection(annotation.place, message).hint(
                "name a Service with `default-backend`, or give `--lenient` to forward responses unchanged",
            );
            statuses.clear();
        }
        if self.flag("disable-proxy-intercept-errors") { Vec::new() } else { statuses }
    }

    fn annotation(&self, name: &str) -> Option<&'i Annotation> {
        self.known.iter().find(|(known, _)| *known == name).map(|(_, annotation)| *annotation)
    }

    fn text(&mut self, name: &str) -> Option<Spanned<String>> {
        let annotation = self.annotation(name)?;
        Some(Spanned { value: annotation.value.trim().to_owned(), place: annotation.place })
    }

    /// Returns the words of a comma-separated list.
    fn list(&mut self, name: &str) -> Vec<Spanned<String>> {
        let Some(text) = self.text(name) else { return Vec::new() };
        let words = text.value.split(',').map(str::trim).filter(|word| !word.is_empty());
        words.map(|word| Spanned { value: word.to_owned(), place: text.place }).collect()
    }

    fn flag(&mut self, name: &str) -> bool {
        let Some(text) = self.text(name) else { return false };
        parse_flag(&text.value).unwrap_or_else(|| {
            self.misfit(&text, "`\"true\"` or `\"false\"`");
            false
        })
    }

    fn number(&mut self, name: &str) -> Option<u32> {
        let text = self.text(name)?;
        let number = text.value.parse().ok().filter(|number| *number <= 1_000_000_000);
        if number.is_none() {
            self.misfit(&text, "a number from 0 to 1000000000");
        }
        number
    }

    fn misfit(&mut self, text: &Spanned<String>, wanted: &str) {
        self.report.error(text.place, format!("`{}` is not {wanted}", shown(&text.value)));
    }
}

/// Returns the upstream name of a Service that `default-backend` names.
pub(super) fn default_backend_name(namespace: &str, service: &str) -> String {
    format!("custom-default-backend-{namespace}-{service}")
}

/// Parses a boolean as Go does.
fn parse_flag(text: &str) -> Option<bool> {
    match text.trim() {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}
