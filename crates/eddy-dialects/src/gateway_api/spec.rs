//! Specs of the Gateway API objects, as written.

use eddy_spec::read::{NamedMap, Spanned};
use eddy_spec::value::Number;

use crate::kubernetes::{ApiText, Label};

pub(super) type Port = Number<1, 65_535>;
/// Numerator of a fraction.
pub(super) type FractionPart = Number<0, 2_147_483_647>;

object! {
    /// Class of Gateways.
    GatewayClassSpec as "a GatewayClass spec" {
        /// Controller that serves Gateways of this class.
        required controller "controllerName": ApiText;
        /// Parameters for the controller.
        optional parameters "parametersRef": ParametersRefSpec;
    }
    passed "description";
}

object! {
    /// Reference to an object with parameters for a controller.
    ParametersRefSpec as "a parametersRef" {
        required kind "kind": ApiText;
        required name "name": ApiText;
    }
    passed "group" "namespace";
}

object! {
    /// Infrastructure of a Gateway.
    InfrastructureSpec as "infrastructure" {
        /// Parameters for the controller.
        optional parameters "parametersRef": ParametersRefSpec;
    }
    passed "annotations" "labels";
}

object! {
    /// Gateway.
    GatewaySpec as "a Gateway spec" {
        /// Name of its GatewayClass.
        required class "gatewayClassName": ApiText;
        required listeners "listeners": Vec<Spanned<ListenerSpec>>;
        /// Addresses to listen on.
        optional addresses "addresses": Vec<Spanned<AddressSpec>>;
        optional infrastructure "infrastructure": InfrastructureSpec;
    }
    refused "allowedListeners" "eddy does not read ListenerSets";
    refused "backendTLS" "eddy sends no client certificate to backends here";
    refused "tls" "eddy does not request client certificates here";
}

object! {
    /// Address of a Gateway.
    AddressSpec as "a Gateway address" {
        /// `IPAddress`, `Hostname` or another.
        optional kind "type": ApiText;
        /// Address; any when absent.
        optional value "value": ApiText;
    }
}

object! {
    /// Listener of a Gateway.
    ListenerSpec as "a listener" {
        required name "name": ApiText;
        /// Hosts that it serves; any when absent.
        optional hostname "hostname": ApiText;
        required port "port": Port;
        required protocol "protocol": ApiText;
        /// Routes that may attach.
        optional allowed "allowedRoutes": AllowedRoutesSpec;
        /// TLS settings, with the certificates.
        optional tls "tls": ListenerTlsSpec;
    }
}

object! {
    /// TLS settings of a listener.
    ListenerTlsSpec as "the tls of a listener" {
        /// `Terminate` or `Passthrough`.
        optional mode "mode": ApiText;
        /// Secrets with the certificates.
        optional certificates "certificateRefs": Vec<Spanned<SecretRefSpec>>;
        /// Implementation-specific options.
        optional options "options": NamedMap<Label, ApiText>;
    }
    refused "frontendValidation" "eddy does not request client certificates here";
}

object! {
    /// Reference to a Secret.
    SecretRefSpec as "a certificateRef" {
        optional group "group": ApiText;
        optional kind "kind": ApiText;
        optional namespace "namespace": ApiText;
        required name "name": ApiText;
    }
}

object! {
    /// TLS to the endpoints of Services.
    BackendTlsPolicySpec as "a BackendTLSPolicy spec" {
        /// Services that the policy targets.
        required targets "targetRefs": Vec<Spanned<PolicyTargetSpec>>;
        /// Requirements for the certificates of endpoints.
        required validation "validation": BackendValidationSpec;
    }
    refused "options" "eddy always uses TLS 1.2 or newer with secure cipher suites";
}

object! {
    /// Target of a policy.
    PolicyTargetSpec as "a targetRef" {
        optional group "group": ApiText;
        required kind "kind": ApiText;
        required name "name": ApiText;
        /// Name of a port.
        optional section "sectionName": ApiText;
    }
}

object! {
    /// Requirements for the certificates of endpoints.
    BackendValidationSpec as "the validation of a BackendTLSPolicy" {
        /// ConfigMaps with the authorities.
        optional authorities "caCertificateRefs": Vec<Spanned<AuthoritiesRefSpec>>;
        /// `System` for the authorities of the system.
        optional well_known "wellKnownCACertificates": ApiText;
        /// Server name sent to endpoints, which their certificates must be for.
        required hostname "hostname": ApiText;
        /// Names that certificates must be for instead.
        optional names "subjectAltNames": Vec<Spanned<AltNameSpec>>;
    }
}

object! {
    /// Reference to a ConfigMap.
    AuthoritiesRefSpec as "a caCertificateRef" {
        required kind "kind": ApiText;
        required name "name": ApiText;
        optional group "group": ApiText;
    }
}

object! {
    /// Name that a certificate must be for.
    AltNameSpec as "a subjectAltName" {
        /// `Hostname` or `URI`.
        required kind "type": ApiText;
        /// DNS name.
        optional hostname "hostname": ApiText;
    }
    passed "uri";
}

object! {
    /// Routes that may attach to a listener.
    AllowedRoutesSpec as "allowedRoutes" {
        optional namespaces "namespaces": NamespacesSpec;
        optional kinds "kinds": Vec<Spanned<KindSpec>>;
    }
}

object! {
    /// Namespaces from which routes may attach.
    NamespacesSpec as "namespaces" {
        /// `Same`, `All` or `Selector`.
        optional from "from": ApiText;
        /// Selector of namespaces by their labels.
        optional selector "selector": SelectorSpec;
    }
}

object! {
    /// Labels that a namespace must have.
    SelectorSpec as "a selector" {
        /// Labels and their values.
        optional labels "matchLabels": NamedMap<Label, ApiText>;
        /// Further conditions on labels.
        optional expressions "matchExpressions": Vec<Spanned<ExpressionSpec>>;
    }
}

object! {
    /// Condition on a label.
    ExpressionSpec as "a selector expression" {
        /// Label.
        required key "key": ApiText;
        /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
        required operator "operator": ApiText;
        /// Values of the label.
        optional values "values": Vec<Spanned<ApiText>>;
    }
}

object! {
    /// Kind of routes.
    KindSpec as "a route kind" {
        optional group "group": ApiText;
        required kind "kind": ApiText;
    }
}

object! {
    /// HTTPRoute or GRPCRoute; the rules are read according to the kind.
    RouteSpec as "a route spec" {
        /// Parents that it attaches to.
        optional parents "parentRefs": Vec<Spanned<ParentSpec>>;
        /// Hosts that it serves; any when absent.
        optional hostnames "hostnames": Vec<Spanned<ApiText>>;
        optional rules "rules": Vec<Spanned<RuleSpec>>;
    }
    passed "useDefaultGateways";
}

object! {
    /// Parent that a route attaches to.
    ParentSpec as "a parentRef" {
        optional group "group": ApiText;
        optional kind "kind": ApiText;
        optional namespace "namespace": ApiText;
        required name "name": ApiText;
        /// Name of one of its listeners.
        optional section "sectionName": ApiText;
        /// Port; only listeners with this port are meant.
        optional port "port": Port;
    }
}

object! {
    /// Rule of a route.
    RuleSpec as "a rule" {
        optional name "name": ApiText;
        /// Alternative matches, one of which a request must meet.
        optional matches "matches": Vec<Spanned<MatchSpec>>;
        /// Filters of requests and responses.
        optional filters "filters": Vec<Spanned<FilterSpec>>;
        /// Backends that requests are sent to.
        optional backends "backendRefs": Vec<Spanned<BackendSpec>>;
        optional timeouts "timeouts": TimeoutsSpec;
    }
    refused "retry" "eddy does not support the experimental channel";
    refused "sessionPersistence" "eddy does not support the experimental channel";
}

object! {
    /// Match of a request. `method` is a string for HTTP and a mapping for gRPC.
    MatchSpec as "a match" {
        optional path "path": PathSpec;
        optional headers "headers": Vec<Spanned<ValueSpec>>;
        /// Query parameters.
        optional query "queryParams": Vec<Spanned<ValueSpec>>;
        optional method "method": MethodSpec;
    }
}

object! {
    /// Match of a path.
    PathSpec as "a path" {
        /// `Exact`, `PathPrefix` or `RegularExpression`.
        optional kind "type": ApiText;
        /// Path or regular expression.
        optional value "value": ApiText;
    }
}

object! {
    /// Match of a header or query parameter.
    ValueSpec as "a value match" {
        /// `Exact` or `RegularExpression`.
        optional kind "type": ApiText;
        required name "name": ApiText;
        /// Value or regular expression.
        required value "value": ApiText;
    }
}

/// HTTP method or gRPC method.
#[derive(Clone, Debug)]
pub(super) enum MethodSpec {
    /// HTTP method.
    Http(ApiText),
    /// gRPC service and method.
    Grpc(Box<GrpcMethodSpec>),
}

object! {
    /// gRPC service and method.
    GrpcMethodSpec as "a gRPC method" {
        /// `Exact` or `RegularExpression`.
        optional kind "type": ApiText;
        optional service "service": ApiText;
        optional method "method": ApiText;
    }
}

object! {
    /// Filter of requests or responses.
    FilterSpec as "a filter" {
        /// Type of the filter, which says which of the other keys is used.
        required kind "type": ApiText;
        /// Edits of request headers.
        optional request_headers "requestHeaderModifier": HeadersSpec;
        /// Edits of response headers.
        optional response_headers "responseHeaderModifier": HeadersSpec;
        optional mirror "requestMirror": MirrorSpec;
        /// Redirect response.
        optional redirect "requestRedirect": RedirectSpec;
        /// Rewrite of path and host.
        optional rewrite "urlRewrite": RewriteSpec;
        /// CORS settings.
        optional cors "cors": CorsSpec;
    }
    passed "extensionRef" "externalAuth";
}

object! {
    /// Header edits.
    HeadersSpec as "header edits" {
        /// Headers to set, replacing others of the same name.
        optional set "set": Vec<Spanned<FieldSpec>>;
        optional add "add": Vec<Spanned<FieldSpec>>;
        /// Names of headers to remove.
        optional remove "remove": Vec<Spanned<ApiText>>;
    }
}

object! {
    /// Header.
    FieldSpec as "a header" {
        required name "name": ApiText;
        required value "value": ApiText;
    }
}

object! {
    /// Mirror of requests.
    MirrorSpec as "requestMirror" {
        /// Backend that receives the copies.
        required backend "backendRef": BackendSpec;
        /// Percentage of requests to copy.
        optional percent "percent": Number<0, 100>;
        /// Fraction of requests to copy.
        optional fraction "fraction": FractionSpec;
    }
}

object! {
    /// Fraction.
    FractionSpec as "a fraction" {
        required numerator "numerator": FractionPart;
        optional denominator "denominator": Number<1, 2_147_483_647>;
    }
}

object! {
    /// Redirect response.
    RedirectSpec as "requestRedirect" {
        /// `http` or `https`.
        optional scheme "scheme": ApiText;
        /// Host.
        optional hostname "hostname": ApiText;
        optional path "path": NewPathSpec;
        optional port "port": Port;
        optional status "statusCode": Number<301, 308>;
    }
}

object! {
    /// Rewrite of path and host.
    RewriteSpec as "urlRewrite" {
        /// Host.
        optional hostname "hostname": ApiText;
        optional path "path": NewPathSpec;
    }
}

object! {
    /// New path.
    NewPathSpec as "a path" {
        /// `ReplaceFullPath` or `ReplacePrefixMatch`.
        required kind "type": ApiText;
        optional full "replaceFullPath": ApiText;
        /// Replacement of the matched prefix.
        optional prefix "replacePrefixMatch": ApiText;
    }
}

object! {
    /// CORS settings.
    CorsSpec as "cors" {
        /// Allowed origins.
        optional origins "allowOrigins": Vec<Spanned<ApiText>>;
        /// Whether credentials are allowed.
        optional credentials "allowCredentials": bool;
        /// Allowed methods.
        optional methods "allowMethods": Vec<Spanned<ApiText>>;
        /// Allowed request headers.
        optional headers "allowHeaders": Vec<Spanned<ApiText>>;
        /// Response headers that scripts may read.
        optional exposed "exposeHeaders": Vec<Spanned<ApiText>>;
        /// Time that browsers may cache the answer to a preflight request, in seconds.
        optional max_age "maxAge": Number<1, 2_147_483_647>;
    }
}

object! {
    /// Backend that requests are sent to.
    BackendSpec as "a backendRef" {
        optional group "group": ApiText;
        optional kind "kind": ApiText;
        optional namespace "namespace": ApiText;
        required name "name": ApiText;
        optional port "port": Port;
        optional weight "weight": Number<0, 1_000_000>;
        /// Filters of requests to this backend.
        optional filters "filters": Vec<Spanned<FilterSpec>>;
    }
}

object! {
    /// Timeouts of an exchange.
    TimeoutsSpec as "timeouts" {
        /// Timeout of the whole exchange.
        optional request "request": ApiText;
        /// Timeout of one attempt at a backend.
        optional backend "backendRequest": ApiText;
    }
}

object! {
    /// Permission for objects of other namespaces to refer to objects of this one.
    ReferenceGrantSpec as "a ReferenceGrant spec" {
        /// Objects that may refer.
        required from "from": Vec<Spanned<GrantFromSpec>>;
        /// Objects that may be referred to.
        required to "to": Vec<Spanned<GrantToSpec>>;
    }
}

object! {
    /// Objects that may refer.
    GrantFromSpec as "an entry of `from`" {
        required group "group": ApiText;
        required kind "kind": ApiText;
        required namespace "namespace": ApiText;
    }
}

object! {
    /// Objects that may be referred to.
    GrantToSpec as "an entry of `to`" {
        required group "group": ApiText;
        required kind "kind": ApiText;
        /// Name of the only object; all when absent.
        optional name "name": ApiText;
    }
}
