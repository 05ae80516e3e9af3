//! Istio objects, as written.

use eddy_spec::read::{Any, NamedMap, Spanned};
use eddy_spec::value::Number;

use super::value::{GoTime, IstioPercent};
use crate::kubernetes::{ApiText, Label};

/// Tests by header or parameter name.
pub(super) type Tests = NamedMap<Label, TextMatchSpec>;

/// Labels of an object.
pub(super) type Labels = NamedMap<Label, ApiText>;

object! {
    /// Spec of a Gateway.
    GatewaySpec as "a Gateway spec" {
        /// Servers: one for each port.
        required servers "servers": Vec<Spanned<ServerSpec>>;
        /// Labels of the proxies that it is for.
        optional selector "selector": Labels;
    }
}

object! {
    /// Port of a Gateway.
    ServerSpec as "a Gateway server" {
        required port "port": ServerPortSpec;
        /// Hosts, possibly with a namespace in front.
        required hosts "hosts": Vec<Spanned<ApiText>>;
        /// TLS settings.
        optional tls "tls": ServerTlsSpec;
    }
    passed "name" "bind" "defaultEndpoint";
}

object! {
    /// Port.
    ServerPortSpec as "a Gateway port" {
        required number "number": Number<1, 65_535>;
        required protocol "protocol": ApiText;
    }
    passed "name" "targetPort";
}

object! {
    /// TLS settings of a server.
    ServerTlsSpec as "the `tls` of a Gateway" {
        /// Whether requests without TLS are redirected.
        optional https_redirect "httpsRedirect": bool;
        /// Mode: whether TLS is terminated here, and whether clients show certificates.
        optional mode "mode": ApiText;
        /// Secret with certificate and key.
        optional secret "credentialName": ApiText;
        /// Secrets with several certificates.
        optional secrets "credentialNames": Vec<Spanned<ApiText>>;
        /// File of the certificate chain.
        optional chain "serverCertificate": ApiText;
        /// File of the private key.
        optional key "privateKey": ApiText;
        /// File of the authorities for client certificates.
        optional authorities "caCertificates": ApiText;
        /// Minimum TLS version.
        optional version_min "minProtocolVersion": ApiText;
        /// Maximum TLS version.
        optional version_max "maxProtocolVersion": ApiText;
    }
    passed "cipherSuites";
    refused "subjectAltNames" "eddy accepts every client certificate that the certificate authority has issued";
    refused "verifyCertificateSpki" "eddy verifies client certificates only by their certificate authority";
    refused "verifyCertificateHash" "eddy verifies client certificates only by their certificate authority";
    refused "caCrl" "eddy does not read this revocation list: revoked certificates would be accepted";
    refused "tlsCertificates" "name Secrets with `credentialNames`";
    refused "caCertCredentialName" "put `ca.crt` into the Secret `NAME-cacert`, or into that of the certificate";
}

object! {
    /// Spec of a VirtualService.
    VirtualServiceSpec as "a VirtualService spec" {
        /// Hosts that it serves; none for a delegate.
        optional hosts "hosts": Vec<Spanned<ApiText>>;
        /// Gateways that it is bound to.
        optional gateways "gateways": Vec<Spanned<ApiText>>;
        optional http "http": Vec<Spanned<HttpRouteSpec>>;
        /// TLS routes.
        optional tls "tls": Any;
        /// TCP routes.
        optional tcp "tcp": Any;
        /// Namespaces that see it.
        optional export_to "exportTo": Vec<Spanned<ApiText>>;
    }
}

object! {
    /// HTTP route.
    HttpRouteSpec as "a VirtualService route" {
        optional name "name": ApiText;
        /// Alternative matches, one of which a request must meet.
        optional matches "match": Vec<Spanned<MatchSpec>>;
        optional route "route": Vec<Spanned<RouteDestinationSpec>>;
        /// Redirect response.
        optional redirect "redirect": RedirectSpec;
        /// Fixed response.
        optional direct_response "directResponse": DirectResponseSpec;
        /// VirtualService that refines the route.
        optional delegate "delegate": DelegateSpec;
        /// Rewrite of path and host.
        optional rewrite "rewrite": RewriteSpec;
        /// Timeout of the exchange.
        optional timeout "timeout": GoTime;
        optional retries "retries": RetriesSpec;
        /// Fault injection.
        optional fault "fault": FaultSpec;
        optional mirror "mirror": DestinationSpec;
        optional mirrors "mirrors": Vec<Spanned<MirrorSpec>>;
        /// Percentage of requests to mirror.
        optional mirror_percentage "mirrorPercentage": PercentSpec;
        /// Percentage of requests to mirror, as a whole number.
        optional mirror_percent "mirrorPercent": Number<0, 100>;
        /// CORS settings.
        optional cors "corsPolicy": CorsSpec;
        /// Header edits.
        optional headers "headers": HeadersSpec;
    }
}

object! {
    /// Match of a request.
    MatchSpec as "a VirtualService match" {
        optional name "name": ApiText;
        /// Path.
        optional uri "uri": TextMatchSpec;
        /// Scheme: `http` or `https`.
        optional scheme "scheme": TextMatchSpec;
        optional method "method": TextMatchSpec;
        /// Host.
        optional authority "authority": TextMatchSpec;
        optional headers "headers": Tests;
        /// Headers that must not match.
        optional without_headers "withoutHeaders": Tests;
        /// Query parameters.
        optional query "queryParams": Tests;
        /// Whether the path is compared case-insensitively.
        optional ignores_case "ignoreUriCase": bool;
        /// Port where the request arrived.
        optional port "port": Number<1, 65_535>;
        /// Labels of the workload that sends the request.
        optional source_labels "sourceLabels": Labels;
        /// Namespace of the workload that sends the request.
        optional source_namespace "sourceNamespace": ApiText;
        /// Gateways that the match applies to.
        optional gateways "gateways": Vec<Spanned<ApiText>>;
    }
    passed "statPrefix";
}

object! {
    /// Destination and its weight.
    RouteDestinationSpec as "a route destination" {
        required destination "destination": DestinationSpec;
        optional weight "weight": Number<0, 4_294_967_295>;
        /// Header edits.
        optional headers "headers": HeadersSpec;
    }
}

object! {
    /// VirtualService that refines a route.
    DelegateSpec as "a delegate" {
        optional name "name": ApiText;
        optional namespace "namespace": ApiText;
    }
}

object! {
    /// Destination of requests.
    DestinationSpec as "a destination" {
        /// Host name.
        required host "host": ApiText;
        /// Name of a subset of the endpoints.
        optional subset "subset": ApiText;
        optional port "port": PortSpec;
    }
}

object! {
    /// Port by number.
    PortSpec as "a destination port" {
        required number "number": Number<1, 65_535>;
    }
}

object! {
    /// Test of a string.
    TextMatchSpec as "a string match (`exact`, `prefix` or `regex`)" {
        /// Whole string.
        optional exact "exact": ApiText;
        optional prefix "prefix": ApiText;
        /// Regular expression for the whole string.
        optional regex "regex": ApiText;
    }
}

object! {
    /// Redirect response.
    RedirectSpec as "a redirect" {
        /// Path.
        optional uri "uri": ApiText;
        /// Host.
        optional authority "authority": ApiText;
        optional port "port": Number<1, 65_535>;
        /// Way to derive the port.
        optional derive_port "derivePort": ApiText;
        optional scheme "scheme": ApiText;
        /// Status code.
        optional code "redirectCode": Number<0, 999>;
    }
}

object! {
    /// Fixed response.
    DirectResponseSpec as "a direct response" {
        /// Status code.
        required status "status": Number<200, 599>;
        optional body "body": BodySpec;
    }
}

object! {
    /// Response body.
    BodySpec as "the body of a direct response" {
        optional text "string": ApiText;
        optional bytes "bytes": ApiText;
    }
}

object! {
    /// Rewrite of path and host.
    RewriteSpec as "a rewrite" {
        /// New path, or replacement of the prefix.
        optional uri "uri": ApiText;
        /// Host.
        optional authority "authority": ApiText;
        /// Replacement of what a regular expression matches in the path.
        optional regex "uriRegexRewrite": RegexRewriteSpec;
    }
}

object! {
    /// Regular expression and replacement.
    RegexRewriteSpec as "a regex rewrite" {
        /// Regular expression.
        required found "match": ApiText;
        /// Replacement.
        required by "rewrite": ApiText;
    }
}

object! {
    /// Retries of a request.
    RetriesSpec as "the `retries` of a route" {
        /// Maximum number of retries.
        optional attempts "attempts": Number<0, 1_000>;
        /// Timeout of each attempt.
        optional per_try_timeout "perTryTimeout": GoTime;
        /// Retry conditions.
        optional on "retryOn": ApiText;
    }
    passed "retryRemoteLocalities" "retryIgnorePreviousHosts" "backoff";
}

object! {
    /// Fault injection.
    FaultSpec as "a fault" {
        /// Delay of requests.
        optional delay "delay": DelaySpec;
        /// Abort of requests.
        optional abort "abort": AbortSpec;
    }
}

object! {
    /// Injected delay.
    DelaySpec as "a delay" {
        /// Length of the delay.
        optional fixed "fixedDelay": GoTime;
        /// Percentage of requests.
        optional percentage "percentage": PercentSpec;
        /// Percentage of requests, as a whole number.
        optional percent "percent": Number<0, 100>;
    }
    passed "exponentialDelay";
}

object! {
    /// Injected abort.
    AbortSpec as "an abort" {
        /// HTTP status of the response.
        optional status "httpStatus": Number<200, 599>;
        /// gRPC status of the response.
        optional grpc "grpcStatus": ApiText;
        /// Percentage of requests.
        optional percentage "percentage": PercentSpec;
    }
    passed "http2Error";
}

object! {
    /// Percentage.
    PercentSpec as "a percentage" {
        /// Value from 0 to 100.
        optional value "value": IstioPercent;
    }
}

object! {
    /// Mirror of requests.
    MirrorSpec as "a mirror" {
        /// Destination of the copies.
        required destination "destination": DestinationSpec;
        /// Percentage of requests to copy.
        optional percentage "percentage": PercentSpec;
    }
}

object! {
    /// CORS settings.
    CorsSpec as "the `corsPolicy` of a route" {
        /// Allowed origins.
        optional origins "allowOrigins": Vec<Spanned<TextMatchSpec>>;
        /// Allowed origins, as exact strings.
        optional origin "allowOrigin": Vec<Spanned<ApiText>>;
        /// Allowed methods.
        optional methods "allowMethods": Vec<Spanned<ApiText>>;
        /// Allowed request headers.
        optional headers "allowHeaders": Vec<Spanned<ApiText>>;
        /// Response headers that scripts may read.
        optional exposed "exposeHeaders": Vec<Spanned<ApiText>>;
        /// Time that browsers may cache the answer to a preflight request.
        optional max_age "maxAge": GoTime;
        /// Whether cookies may be sent.
        optional credentials "allowCredentials": bool;
        /// Treatment of preflight requests from other origins.
        optional unmatched "unmatchedPreflights": ApiText;
    }
}

object! {
    /// Header edits.
    HeadersSpec as "the `headers` of a route" {
        optional request "request": EditsSpec;
        optional response "response": EditsSpec;
    }
}

object! {
    /// Header edits of a message.
    EditsSpec as "header edits" {
        /// Headers to set, replacing other values.
        optional set "set": Labels;
        optional add "add": Labels;
        optional remove "remove": Vec<Spanned<ApiText>>;
    }
}

object! {
    /// Spec of a ServiceEntry.
    EntrySpec as "a ServiceEntry spec" {
        /// Host names.
        required hosts "hosts": Vec<Spanned<ApiText>>;
        optional ports "ports": Vec<Spanned<EntryPortSpec>>;
        /// Discovery of the endpoints.
        optional resolution "resolution": ApiText;
        optional endpoints "endpoints": Vec<Spanned<EntryEndpointSpec>>;
    }
    passed "addresses" "location" "exportTo" "subjectAltNames" "workloadSelector";
}

object! {
    /// Port of a ServiceEntry.
    EntryPortSpec as "a ServiceEntry port" {
        required number "number": Number<1, 65_535>;
        /// Port of the endpoints.
        optional target "targetPort": Number<1, 65_535>;
        optional name "name": ApiText;
        optional protocol "protocol": ApiText;
    }
}

object! {
    /// Endpoint of a ServiceEntry.
    EntryEndpointSpec as "a ServiceEntry endpoint" {
        /// IP address or DNS name.
        required address "address": ApiText;
        /// Ports of the endpoint, by the names of the entry's ports.
        optional ports "ports": NamedMap<Label, Number<1, 65_535>>;
        optional weight "weight": Number<0, 1_000>;
        /// Labels that subsets select by.
        optional labels "labels": Labels;
    }
    passed "locality" "network" "serviceAccount";
}

object! {
    /// Spec of a DestinationRule.
    DestinationRuleSpec as "a DestinationRule spec" {
        /// Host that it applies to.
        required host "host": ApiText;
        /// Traffic policy of all endpoints.
        optional policy "trafficPolicy": PolicySpec;
        /// Subsets of the endpoints.
        optional subsets "subsets": Vec<Spanned<SubsetSpec>>;
    }
    passed "exportTo" "workloadSelector";
}

object! {
    /// Subset of the endpoints.
    SubsetSpec as "a subset" {
        required name "name": ApiText;
        /// Labels that its endpoints have.
        optional labels "labels": Labels;
        optional policy "trafficPolicy": PolicySpec;
    }
}

object! {
    /// Traffic policy.
    PolicySpec as "a traffic policy" {
        /// Load balancing.
        optional balancer "loadBalancer": BalancerSpec;
        /// TLS to the endpoints.
        optional tls "tls": ClientTlsSpec;
        /// Connection limits.
        optional pool "connectionPool": Any;
        /// Ejection of endpoints.
        optional ejection "outlierDetection": Any;
    }
    refused "portLevelSettings" "eddy applies one policy to all ports of a destination";
    refused "tunnel" "eddy does not support tunnels in manifests";
    refused "proxyProtocol" "eddy does not send a PROXY protocol header here";
    refused "retryBudget" "eddy has its own retry budget, a share of the active requests";
}

object! {
    /// Load balancing.
    BalancerSpec as "a load balancer" {
        /// Name of one of Istio's algorithms.
        optional simple "simple": ApiText;
        /// Hash key of the request, instead.
        optional hash "consistentHash": HashSpec;
    }
    passed "warmup" "warmupDurationSecs" "localityLbSetting";
}

object! {
    /// Hash key: the part of a request that selects an endpoint.
    HashSpec as "a consistent hash" {
        /// First value of a header.
        optional header "httpHeaderName": ApiText;
        optional cookie "httpCookie": HashCookieSpec;
        /// Client address.
        optional address "useSourceIp": bool;
        /// Maglev table instead of a ring.
        optional maglev "maglev": MaglevSpec;
    }
    passed "ringHash" "minimumRingSize";
    refused "httpQueryParameterName" "eddy balances by a header, a cookie or the client address";
}

object! {
    /// Maglev table, over which keys are distributed.
    MaglevSpec as "a Maglev table" {
        /// Number of places in the table.
        optional places "tableSize": Number<1, 5_000_011>;
    }
}

object! {
    /// Cookie that selects an endpoint.
    HashCookieSpec as "a cookie" {
        required name "name": ApiText;
        /// Lifetime of a cookie that the proxy sets.
        optional ttl "ttl": ApiText;
    }
    passed "path" "attributes";
}

object! {
    /// TLS to the endpoints.
    ClientTlsSpec as "the `tls` of a traffic policy" {
        required mode "mode": ApiText;
        /// File of eddy's own certificate chain.
        optional chain "clientCertificate": ApiText;
        /// File of its private key.
        optional key "privateKey": ApiText;
        /// File of the authorities; `system` for those of the system.
        optional authorities "caCertificates": ApiText;
        /// Secret that holds all three.
        optional secret "credentialName": ApiText;
        /// Names that certificates must be for.
        optional names "subjectAltNames": Vec<Spanned<ApiText>>;
        /// Server name sent to endpoints.
        optional server_name "sni": ApiText;
        /// Whether certificates are accepted without verification.
        optional takes_all "insecureSkipVerify": bool;
    }
    refused "caCrl" "eddy does not read this revocation list: revoked certificates would be accepted";
}

object! {
    /// Spec of an AuthorizationPolicy or a RequestAuthentication: what it applies to.
    AccessPolicySpec as "an access policy spec" {
        /// Workloads of its namespace; all of them where it is absent.
        optional selector "selector": WorkloadSelectorSpec;
        /// Object that it applies to.
        optional target "targetRef": Any;
        /// Objects that it applies to.
        optional targets "targetRefs": Any;
    }
    passed "rules" "action" "provider" "jwtRules";
}

object! {
    /// Selector of workloads.
    WorkloadSelectorSpec as "a workload selector" {
        optional labels "matchLabels": Labels;
    }
}
