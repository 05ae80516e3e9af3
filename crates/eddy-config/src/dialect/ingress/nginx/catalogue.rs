//! Catalogue of ingress-nginx's annotations and their support in eddy; both the check and the published page use it.

use crate::dialect::nginx::Use;

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

const BUFFERS: &str = "eddy's buffers are bounded by itself";
const CLIENT_TLS: &str = "clients of Ingresses are asked for no certificate";
const UPSTREAM_TLS: &str = "endpoints of Ingresses are asked without TLS";
const SUITES: &str = "TLS is 1.2 or newer, with the suites that are safe";
const AUTH: &str = "nobody would ask who comes: put a filter for authentication before eddy's rules, or keep this Ingress where it is";
const EXTERNAL: &str = "eddy asks no other service whether a request may pass";
const RATE: &str = "eddy's `rate_limit` filter is not written as annotations; requests would not be limited";
const SESSION: &str = "eddy has no sessions";
const SNIPPET: &str = "pieces of configuration can say anything; write what it does as an annotation, or the host in an `nginx.conf`";
const WAF: &str = "eddy has no ModSecurity";
const CORS: &str = "";
const MIRROR: &str = "eddy does not mirror requests of this dialect yet";
const SUBSET: &str = "a key goes to one endpoint, not to one of several";
const TELEMETRY: &str = "eddy sends no traces yet";

/// Every annotation of ingress-nginx 1.15, by name.
pub(super) const KNOWN: &[AnnotationInfo] = &[
    known("affinity", Use::Refused(SESSION)),
    known("affinity-canary-behavior", Use::Idle(SESSION)),
    known("affinity-mode", Use::Idle(SESSION)),
    known(
        "allowlist-source-range",
        Use::Refused("clients of any address would be let in; use an `ip_access` filter of eddy.yaml"),
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
            "one canary for each port of a Service; as with ingress-nginx it holds for every path that leads to that port",
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
    known("custom-headers", Use::Refused("it names a ConfigMap; eddy reads none")),
    known(
        "custom-http-errors",
        Use::Read(
            "with `default-backend`, whose Service answers instead; refused without, as eddy has no pages of its own",
        ),
    ),
    known("default-backend", Use::Read("it answers where the Service of a path has no endpoints")),
    known(
        "denylist-source-range",
        Use::Refused("clients of these addresses would be let in; use an `ip_access` filter of eddy.yaml"),
    ),
    known("disable-proxy-intercept-errors", Use::Read("it turns `custom-http-errors` off")),
    known("enable-access-log", Use::Warned("the access log is a listener's in eddy")),
    known(
        "enable-cors",
        Use::Read("as an answer of eddy to preflight requests, and fields of the answers to others"),
    ),
    known("enable-global-auth", Use::Idle("eddy has no authentication for all")),
    known("enable-modsecurity", Use::Refused(WAF)),
    known("enable-opentelemetry", Use::Warned(TELEMETRY)),
    known("enable-owasp-core-rules", Use::Refused(WAF)),
    known("enable-rewrite-log", Use::Idle("`eddy explain` shows each rewrite")),
    known("fastcgi-index", Use::Refused("eddy does not speak FastCGI")),
    known("fastcgi-params-configmap", Use::Refused("eddy does not speak FastCGI")),
    known(
        "force-ssl-redirect",
        Use::Read(
            "every request without TLS is redirected to `https`, whether the host has a certificate or not",
        ),
    ),
    known("from-to-www-redirect", Use::Read("")),
    known("http2-push-preload", Use::Idle("browsers have given up on pushes")),
    known("limit-allowlist", Use::Idle(RATE)),
    known("limit-burst-multiplier", Use::Idle(RATE)),
    known("limit-connections", Use::Refused(RATE)),
    known("limit-rate", Use::Warned("answers are sent as fast as the client takes them")),
    known("limit-rate-after", Use::Idle("answers are sent as fast as the client takes them")),
    known("limit-rpm", Use::Refused(RATE)),
    known("limit-rps", Use::Refused(RATE)),
    known("load-balance", Use::Read("`round_robin`; `ewma` is the less loaded of two that are drawn")),
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
    known("proxy-buffering", Use::Idle("answers are streamed")),
    known("proxy-buffers-number", Use::Idle(BUFFERS)),
    known("proxy-busy-buffers-size", Use::Idle(BUFFERS)),
    known("proxy-connect-timeout", Use::Read("")),
    known("proxy-cookie-domain", Use::Refused("cookies of upstreams are passed on as they are")),
    known("proxy-cookie-path", Use::Refused("cookies of upstreams are passed on as they are")),
    known("proxy-http-version", Use::Read("`1.1` is what eddy speaks")),
    known("proxy-max-temp-file-size", Use::Idle("bodies are streamed and never put into files")),
    known("proxy-next-upstream", Use::Read("as the directive `proxy_next_upstream`")),
    known("proxy-next-upstream-timeout", Use::Idle("retries are bounded by a budget of the cluster")),
    known("proxy-next-upstream-tries", Use::Read("")),
    known("proxy-read-timeout", Use::Read("")),
    known("proxy-redirect-from", Use::Read("as the directive `proxy_redirect`, with `proxy-redirect-to`")),
    known(
        "proxy-redirect-to",
        Use::Read("without `proxy-redirect-from` it means nothing, as with ingress-nginx"),
    ),
    known("proxy-request-buffering", Use::Idle("requests are streamed")),
    known("proxy-send-timeout", Use::Idle("`proxy-read-timeout` bounds the silence of an upstream")),
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
        Use::Read("with `$1` and named groups; all paths of the host become expressions"),
    ),
    known("satisfy", Use::Idle("there is no access control that it could join")),
    known("server-alias", Use::Read("")),
    known("server-snippet", Use::Refused(SNIPPET)),
    known(
        "service-upstream",
        Use::Idle(
            "endpoints are asked themselves; outside of a cluster nobody is at the address of a Service",
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
        Use::Refused(
            "TLS of Ingresses ends in eddy; a listener of eddy.yaml with `forward` passes connections on",
        ),
    ),
    known("ssl-prefer-server-ciphers", Use::Idle(SUITES)),
    known(
        "ssl-redirect",
        Use::Read("hosts in the `tls` of an Ingress are redirected to `https`, unless it is `false`"),
    ),
    known("stream-snippet", Use::Refused(SNIPPET)),
    known("temporal-redirect", Use::Read("")),
    known("temporal-redirect-code", Use::Read("")),
    known(
        "upstream-hash-by",
        Use::Read(
            "as `hash ... consistent`: a key keeps its endpoint, though it may be another than with ingress-nginx",
        ),
    ),
    known("upstream-hash-by-subset", Use::Refused(SUBSET)),
    known("upstream-hash-by-subset-size", Use::Idle(SUBSET)),
    known("upstream-vhost", Use::Read("")),
    known("use-port-in-redirects", Use::Read("")),
    known("use-regex", Use::Read("all paths of the host become expressions, as with ingress-nginx")),
    known(
        "whitelist-source-range",
        Use::Refused("clients of any address would be let in; use an `ip_access` filter of eddy.yaml"),
    ),
    known("x-forwarded-prefix", Use::Read("with `rewrite-target` alone, as with ingress-nginx")),
];

#[cfg(test)]
mod tests {
    use super::KNOWN;

    #[test]
    fn annotations_stand_in_order() {
        assert!(KNOWN.is_sorted_by(|a, b| a.name < b.name));
    }
}
