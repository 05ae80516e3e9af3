//! Catalogue of ingress-nginx's annotations and their support in eddy; both the check and the published page use it.

use crate::nginx::Use;

/// Annotation of ingress-nginx.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnnotationInfo {
    /// Name after [`PREFIX`].
    pub(super) name: &'static str,
    /// Support in eddy.
    pub(super) use_: Use,
}

/// Prefix of all annotation names.
pub(super) const PREFIX: &str = "nginx.ingress.kubernetes.io/";

/// Returns the annotation of this name, given without [`PREFIX`].
pub(super) fn find(name: &str) -> Option<&'static AnnotationInfo> {
    KNOWN.iter().find(|known| known.name == name)
}

/// Returns the names of all annotations, without [`PREFIX`].
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|known| known.name)
}

/// Whether an annotation controls access; such an annotation is never ignored.
pub(super) fn is_guard(name: &str) -> bool {
    GUARDS.contains(&name)
}

/// Annotations that control access, and those that may contain any directive.
const GUARDS: &[&str] = &[
    "allowlist-source-range",
    "auth-secret",
    "auth-signin",
    "auth-snippet",
    "auth-tls-match-cn",
    "auth-tls-secret",
    "auth-tls-verify-client",
    "auth-type",
    "auth-url",
    "configuration-snippet",
    "denylist-source-range",
    "enable-modsecurity",
    "enable-owasp-core-rules",
    "modsecurity-snippet",
    "server-snippet",
    "whitelist-source-range",
];

const fn known(name: &'static str, use_: Use) -> AnnotationInfo {
    AnnotationInfo { name, use_ }
}

const BUFFERS: &str = "eddy chooses the sizes of its buffers itself";
const CLIENT_TLS: &str = "eddy does not request client certificates for Ingresses";
const UPSTREAM_TLS: &str = "eddy sends requests to endpoints of Ingresses without TLS";
const SUITES: &str = "eddy always uses TLS 1.2 or newer with secure cipher suites";
const AUTH: &str = "requests would not be authenticated; use an authentication filter of eddy.yaml, or keep this Ingress on ingress-nginx";
const EXTERNAL: &str = "eddy does not support external authentication";
const RATE: &str = "requests would not be limited; use a `rate_limit` filter of eddy.yaml";
const SESSION: &str = "eddy does not support session affinity";
const SNIPPET: &str =
    "snippets can contain any directive; use annotations instead, or write the host in an `nginx.conf`";
const WAF: &str = "eddy does not support ModSecurity";
const CORS: &str = "";
const MIRROR: &str = "eddy does not support mirroring for Ingresses yet";
const SUBSET: &str = "eddy maps a key to one endpoint, not to a subset of endpoints";
const TELEMETRY: &str = "eddy does not support tracing yet";

/// Every annotation of ingress-nginx 1.15, by name.
pub(super) const KNOWN: &[AnnotationInfo] = &[
    known("affinity", Use::Refused(SESSION)),
    known("affinity-canary-behavior", Use::Idle(SESSION)),
    known("affinity-mode", Use::Idle(SESSION)),
    known(
        "allowlist-source-range",
        Use::Refused("clients of every address would be admitted; use an `ip_access` filter of eddy.yaml"),
    ),
    known("app-root", Use::Read("")),
    known("auth-always-set-cookie", Use::Idle(EXTERNAL)),
    known("auth-cache-duration", Use::Idle(EXTERNAL)),
    known("auth-cache-key", Use::Idle(EXTERNAL)),
    known("auth-keepalive", Use::Idle(EXTERNAL)),
    known("auth-keepalive-requests", Use::Idle(EXTERNAL)),
    known("auth-keepalive-share-vars", Use::Idle(EXTERNAL)),
    known("auth-keepalive-timeout", Use::Idle(EXTERNAL)),
    known("auth-method", Use::Idle(EXTERNAL)),
    known("auth-proxy-set-headers", Use::Idle(EXTERNAL)),
    known("auth-realm", Use::Idle(AUTH)),
    known("auth-request-redirect", Use::Idle(EXTERNAL)),
    known("auth-response-headers", Use::Idle(EXTERNAL)),
    known("auth-secret", Use::Refused(AUTH)),
    known("auth-secret-type", Use::Idle(AUTH)),
    known("auth-signin", Use::Refused(EXTERNAL)),
    known("auth-signin-redirect-param", Use::Idle(EXTERNAL)),
    known("auth-snippet", Use::Refused(SNIPPET)),
    known("auth-tls-error-page", Use::Idle(CLIENT_TLS)),
    known("auth-tls-match-cn", Use::Refused(CLIENT_TLS)),
    known("auth-tls-pass-certificate-to-upstream", Use::Idle(CLIENT_TLS)),
    known("auth-tls-secret", Use::Refused(CLIENT_TLS)),
    known("auth-tls-verify-client", Use::Refused(CLIENT_TLS)),
    known("auth-tls-verify-depth", Use::Idle(CLIENT_TLS)),
    known("auth-type", Use::Refused(AUTH)),
    known("auth-url", Use::Refused(EXTERNAL)),
    known(
        "backend-protocol",
        Use::Read("`HTTP` and `AUTO_HTTP`; `HTTPS`, `GRPC`, `GRPCS` and `FCGI` are refused"),
    ),
    known(
        "canary",
        Use::Read(
            "one canary for each port of a Service; as with ingress-nginx, it applies to every path that leads to that port",
        ),
    ),
    known("canary-by-cookie", Use::Read("")),
    known("canary-by-header", Use::Read("")),
    known("canary-by-header-pattern", Use::Read("")),
    known("canary-by-header-value", Use::Read("")),
    known("canary-weight", Use::Read("")),
    known("canary-weight-total", Use::Read("")),
    known("client-body-buffer-size", Use::Idle(BUFFERS)),
    known("configuration-snippet", Use::Refused(SNIPPET)),
    known("connection-proxy-header", Use::Idle("eddy writes `Connection` itself")),
    known("cors-allow-credentials", Use::Read(CORS)),
    known("cors-allow-headers", Use::Read(CORS)),
    known("cors-allow-methods", Use::Read(CORS)),
    known("cors-allow-origin", Use::Read(CORS)),
    known("cors-expose-headers", Use::Read(CORS)),
    known("cors-max-age", Use::Read(CORS)),
    known("custom-headers", Use::Refused("eddy does not read the ConfigMap that it names")),
    known(
        "custom-http-errors",
        Use::Read(
            "with `default-backend`, whose Service responds instead; refused without it, as eddy has no error pages of its own",
        ),
    ),
    known("default-backend", Use::Read("receives the requests if the Service of a path has no endpoints")),
    known(
        "denylist-source-range",
        Use::Refused("clients of these addresses would be admitted; use an `ip_access` filter of eddy.yaml"),
    ),
    known("disable-proxy-intercept-errors", Use::Read("disables `custom-http-errors`")),
    known("enable-access-log", Use::Warned("in eddy, the access log is configured for a listener")),
    known(
        "enable-cors",
        Use::Read("eddy answers preflight requests itself and adds the CORS headers to other responses"),
    ),
    known("enable-global-auth", Use::Idle("eddy does not support global authentication")),
    known("enable-modsecurity", Use::Refused(WAF)),
    known("enable-opentelemetry", Use::Warned(TELEMETRY)),
    known("enable-owasp-core-rules", Use::Refused(WAF)),
    known("enable-rewrite-log", Use::Idle("`eddy explain` shows each rewrite")),
    known("fastcgi-index", Use::Refused("eddy does not support FastCGI")),
    known("fastcgi-params-configmap", Use::Refused("eddy does not support FastCGI")),
    known(
        "force-ssl-redirect",
        Use::Read("redirects every request without TLS to `https`, even if the host has no certificate"),
    ),
    known("from-to-www-redirect", Use::Read("")),
    known("http2-push-preload", Use::Idle("browsers no longer support server push")),
    known("limit-allowlist", Use::Idle(RATE)),
    known("limit-burst-multiplier", Use::Idle(RATE)),
    known("limit-connections", Use::Refused(RATE)),
    known("limit-rate", Use::Warned("eddy does not limit the rate of responses")),
    known("limit-rate-after", Use::Idle("eddy does not limit the rate of responses")),
    known("limit-rpm", Use::Refused(RATE)),
    known("limit-rps", Use::Refused(RATE)),
    known("load-balance", Use::Read("`round_robin`; `ewma` selects the less loaded of two random endpoints")),
    known("mirror-host", Use::Idle(MIRROR)),
    known("mirror-request-body", Use::Idle(MIRROR)),
    known("mirror-target", Use::Refused(MIRROR)),
    known("modsecurity-snippet", Use::Refused(WAF)),
    known("modsecurity-transaction-id", Use::Idle(WAF)),
    known("opentelemetry-operation-name", Use::Idle(TELEMETRY)),
    known("opentelemetry-trust-incoming-span", Use::Idle(TELEMETRY)),
    known("permanent-redirect", Use::Read("")),
    known("permanent-redirect-code", Use::Read("")),
    known("preserve-trailing-slash", Use::Read("")),
    known("proxy-body-size", Use::Read("")),
    known("proxy-buffer-size", Use::Idle(BUFFERS)),
    known("proxy-buffering", Use::Idle("eddy streams responses")),
    known("proxy-buffers-number", Use::Idle(BUFFERS)),
    known("proxy-busy-buffers-size", Use::Idle(BUFFERS)),
    known("proxy-connect-timeout", Use::Read("")),
    known("proxy-cookie-domain", Use::Refused("eddy forwards the cookies of upstreams unchanged")),
    known("proxy-cookie-path", Use::Refused("eddy forwards the cookies of upstreams unchanged")),
    known("proxy-http-version", Use::Read("eddy uses HTTP/1.1; other versions are ignored with a warning")),
    known("proxy-max-temp-file-size", Use::Idle("eddy streams bodies and never writes them to files")),
    known("proxy-next-upstream", Use::Read("like the directive `proxy_next_upstream`")),
    known("proxy-next-upstream-timeout", Use::Idle("a retry budget of the cluster limits retries")),
    known("proxy-next-upstream-tries", Use::Read("")),
    known("proxy-read-timeout", Use::Read("")),
    known("proxy-redirect-from", Use::Read("like the directive `proxy_redirect`, with `proxy-redirect-to`")),
    known(
        "proxy-redirect-to",
        Use::Read("has no effect without `proxy-redirect-from`, as with ingress-nginx"),
    ),
    known("proxy-request-buffering", Use::Idle("eddy streams requests")),
    known("proxy-send-timeout", Use::Idle("`proxy-read-timeout` limits the time that an upstream is idle")),
    known("proxy-ssl-ciphers", Use::Idle(UPSTREAM_TLS)),
    known("proxy-ssl-name", Use::Idle(UPSTREAM_TLS)),
    known("proxy-ssl-protocols", Use::Idle(UPSTREAM_TLS)),
    known("proxy-ssl-secret", Use::Refused(UPSTREAM_TLS)),
    known("proxy-ssl-server-name", Use::Idle(UPSTREAM_TLS)),
    known("proxy-ssl-verify", Use::Idle(UPSTREAM_TLS)),
    known("proxy-ssl-verify-depth", Use::Idle(UPSTREAM_TLS)),
    known("relative-redirects", Use::Read("")),
    known(
        "rewrite-target",
        Use::Read("with `$1` and named groups; all paths of the host become regular expressions"),
    ),
    known("satisfy", Use::Idle("eddy has no access control for Ingresses to combine")),
    known("server-alias", Use::Read("")),
    known("server-snippet", Use::Refused(SNIPPET)),
    known(
        "service-upstream",
        Use::Idle(
            "eddy sends requests to the endpoints directly; outside of a cluster, the address of a Service is not reachable",
        ),
    ),
    known("session-cookie-change-on-failure", Use::Idle(SESSION)),
    known("session-cookie-conditional-samesite-none", Use::Idle(SESSION)),
    known("session-cookie-domain", Use::Idle(SESSION)),
    known("session-cookie-expires", Use::Idle(SESSION)),
    known("session-cookie-max-age", Use::Idle(SESSION)),
    known("session-cookie-name", Use::Idle(SESSION)),
    known("session-cookie-partitioned", Use::Idle(SESSION)),
    known("session-cookie-path", Use::Idle(SESSION)),
    known("session-cookie-samesite", Use::Idle(SESSION)),
    known("session-cookie-secure", Use::Idle(SESSION)),
    known("ssl-ciphers", Use::Idle(SUITES)),
    known(
        "ssl-passthrough",
        Use::Refused("eddy terminates the TLS of Ingresses; use a listener with `forward` in eddy.yaml"),
    ),
    known("ssl-prefer-server-ciphers", Use::Idle(SUITES)),
    known(
        "ssl-redirect",
        Use::Read("redirects hosts in the `tls` of an Ingress to `https`, unless it is `false`"),
    ),
    known("stream-snippet", Use::Refused(SNIPPET)),
    known("temporal-redirect", Use::Read("")),
    known("temporal-redirect-code", Use::Read("")),
    known(
        "upstream-hash-by",
        Use::Read(
            "like `hash ... consistent`: a key keeps its endpoint, but may have another one than with ingress-nginx",
        ),
    ),
    known("upstream-hash-by-subset", Use::Refused(SUBSET)),
    known("upstream-hash-by-subset-size", Use::Idle(SUBSET)),
    known("upstream-vhost", Use::Read("")),
    known("use-port-in-redirects", Use::Read("")),
    known("use-regex", Use::Read("all paths of the host become regular expressions, as with ingress-nginx")),
    known(
        "whitelist-source-range",
        Use::Refused("clients of every address would be admitted; use an `ip_access` filter of eddy.yaml"),
    ),
    known("x-forwarded-prefix", Use::Read("only with `rewrite-target`, as with ingress-nginx")),
];

#[cfg(test)]
mod tests {
    use super::KNOWN;

    #[test]
    fn annotations_are_sorted() {
        assert!(KNOWN.is_sorted_by(|a, b| a.name < b.name));
    }
}
