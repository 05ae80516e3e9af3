//! Error pages from a separate Service: `custom-http-errors`.

use eddy_spec::problem::SourceSpan;

use super::directive::{block, line, words};
use super::settings::{IngressAnnotations, default_backend_name};
use crate::nginx::Directive;

/// Returns the directives of a location that replace responses with these statuses by those of the `default-backend`
/// Service.
pub(super) fn intercept(place: SourceSpan, settings: &IngressAnnotations, namespace: &str) -> Vec<Directive> {
    let Some(service) = settings.default_backend.as_ref().filter(|_| !settings.http_errors.is_empty()) else {
        return Vec::new();
    };
    let mut lines = vec![line(place, "proxy_intercept_errors", &["on"])];
    for status in &settings.http_errors {
        let page = page_name(&default_backend_name(namespace, &service.value), *status);
        lines.push(line(place, "error_page", &[&status.to_string(), "=", &page]));
    }
    lines
}

/// Returns the named location that fetches an error page: it requests `/` and describes the error in headers.
pub(super) fn page(place: SourceSpan, upstream: &str, status: u16) -> Directive {
    let status_text = status.to_string();
    let mut inner = vec![line(place, "proxy_intercept_errors", &["off"])];
    let fields = [
        ("X-Code", status_text.as_str()),
        ("X-Format", "$http_accept"),
        ("X-Original-URI", "$request_uri"),
        ("X-Namespace", "$namespace"),
        ("X-Ingress-Name", "$ingress_name"),
        ("X-Service-Name", "$service_name"),
        ("X-Service-Port", "$service_port"),
        ("X-Request-ID", "$req_id"),
        ("X-Forwarded-For", "$remote_addr"),
        ("Host", "$http_host"),
    ];
    inner.extend(fields.iter().map(|(name, value)| line(place, "proxy_set_header", &[name, value])));
    inner.push(line(place, "rewrite", &["(.*)", "/", "break"]));
    inner.push(line(place, "proxy_pass", &[&format!("http://{upstream}")]));
    block(place, "location", words(place, &[&page_name(upstream, status)]), inner)
}

fn page_name(upstream: &str, status: u16) -> String {
    format!("@custom_{upstream}_{status}")
}
