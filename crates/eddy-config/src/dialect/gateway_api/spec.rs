//! The specs of the objects of the Gateway API, as written.

use crate::dialect::kubernetes::{ApiText, Label};
use crate::read::{NamedMap, Spanned};
use crate::value::Number;

/// A port.
pub(super) type Port = Number<1, 65_535>;
/// A part of a whole.
pub(super) type FractionPart = Number<0, 2_147_483_647>;

object! {
    /// A class of Gateways.
    GatewayClassSpec as "the spec of a GatewayClass" {
        /// Who serves Gateways of this class.
        required controller "controllerName": ApiText;
        /// What the controller is to know besides.
        optional parameters "parametersRef": ParametersRefSpec;
        passed "description";
    }
}

object! {
    /// An object with parameters for a controller.
    ParametersRefSpec as "a parametersRef" {
        /// Its kind.
        required kind "kind": ApiText;
        /// Its name.
        required name "name": ApiText;
        passed "group" "namespace";
    }
}

object! {
    /// What else a Gateway is made of.
    InfrastructureSpec as "infrastructure" {
        /// What the controller is to know besides.
        optional parameters "parametersRef": ParametersRefSpec;
        passed "annotations" "labels";
    }
}

object! {
    /// A Gateway.
    GatewaySpec as "the spec of a Gateway" {
        /// Its class.
        required class "gatewayClassName": ApiText;
        /// What it listens on.
        required listeners "listeners": Vec<Spanned<ListenerSpec>>;
        /// The addresses it listens on.
        optional addresses "addresses": Vec<Spanned<AddressSpec>>;
        /// What else it is made of.
        optional infrastructure "infrastructure": InfrastructureSpec;
        refused "allowedListeners" "ListenerSets are not read";
        refused "backendTLS" "backends are reached without TLS so far";
        refused "tls" "clients are asked for no certificates so far";
    }
}

object! {
    /// An address of a Gateway.
    AddressSpec as "an address of a Gateway" {
        /// `IPAddress`, `Hostname` or another.
        optional kind "type": ApiText;
        /// The address; any where there is none.
        optional value "value": ApiText;
    }
}

object! {
    /// A listener of a Gateway.
    ListenerSpec as "a listener" {
        /// Its name.
        required name "name": ApiText;
        /// The hosts it is for; any where there is none.
        optional hostname "hostname": ApiText;
        /// Its port.
        required port "port": Port;
        /// What is spoken there.
        required protocol "protocol": ApiText;
        /// Which routes may attach.
        optional allowed "allowedRoutes": AllowedRoutesSpec;
        /// Its certificates.
        optional tls "tls": ListenerTlsSpec;
    }
}

object! {
    /// The TLS of a listener.
    ListenerTlsSpec as "tls of a listener" {
        /// `Terminate` or `Passthrough`.
        optional mode "mode": ApiText;
        /// The Secrets with its certificates.
        optional certificates "certificateRefs": Vec<Spanned<SecretRefSpec>>;
        /// What implementations add.
        optional options "options": NamedMap<Label, ApiText>;
        refused "frontendValidation" "clients are asked for no certificates so far";
    }
}

object! {
    /// A Secret.
    SecretRefSpec as "a certificateRef" {
        /// Its group.
        optional group "group": ApiText;
        /// Its kind.
        optional kind "kind": ApiText;
        /// Its namespace.
        optional namespace "namespace": ApiText;
        /// Its name.
        required name "name": ApiText;
    }
}

object! {
    /// How a Service is spoken to over TLS.
    BackendTlsPolicySpec as "the spec of a BackendTLSPolicy" {
        /// The Services.
        required targets "targetRefs": Vec<Spanned<PolicyTargetSpec>>;
        /// What endpoints have to show.
        required validation "validation": BackendValidationSpec;
        refused "options" "TLS is 1.2 or newer, with the suites that are safe";
    }
}

object! {
    /// What a policy is for.
    PolicyTargetSpec as "a targetRef" {
        /// Its group.
        optional group "group": ApiText;
        /// Its kind.
        required kind "kind": ApiText;
        /// Its name.
        required name "name": ApiText;
        /// The name of a port.
        optional section "sectionName": ApiText;
    }
}

object! {
    /// What endpoints have to show.
    BackendValidationSpec as "validation of a BackendTLSPolicy" {
        /// The ConfigMaps with the authorities.
        optional authorities "caCertificateRefs": Vec<Spanned<AuthoritiesRefSpec>>;
        /// `System` for those of the machine.
        optional well_known "wellKnownCACertificates": ApiText;
        /// What endpoints are asked for, and have to show.
        required hostname "hostname": ApiText;
        /// What certificates have to be for instead.
        optional names "subjectAltNames": Vec<Spanned<AltNameSpec>>;
    }
}

object! {
    /// A ConfigMap.
    AuthoritiesRefSpec as "a caCertificateRef" {
        /// Its kind.
        required kind "kind": ApiText;
        /// Its name.
        required name "name": ApiText;
        /// Its group.
        optional group "group": ApiText;
    }
}

object! {
    /// What a certificate has to be for.
    AltNameSpec as "a subjectAltName" {
        /// `Hostname` or `URI`.
        required kind "type": ApiText;
        /// A host.
        optional hostname "hostname": ApiText;
        passed "uri";
    }
}

object! {
    /// Which routes may attach to a listener.
    AllowedRoutesSpec as "allowedRoutes" {
        /// From which namespaces.
        optional namespaces "namespaces": NamespacesSpec;
        /// Of which kinds.
        optional kinds "kinds": Vec<Spanned<KindSpec>>;
    }
}

object! {
    /// From which namespaces routes may attach.
    NamespacesSpec as "namespaces" {
        /// `Same`, `All` or `Selector`.
        optional from "from": ApiText;
        /// By their labels.
        optional selector "selector": SelectorSpec;
    }
}

object! {
    /// Labels that a namespace must have.
    SelectorSpec as "a selector" {
        /// Labels and their values.
        optional labels "matchLabels": NamedMap<Label, ApiText>;
        /// What else must hold of labels.
        optional expressions "matchExpressions": Vec<Spanned<ExpressionSpec>>;
    }
}

object! {
    /// What must hold of a label.
    ExpressionSpec as "an expression of a selector" {
        /// The label.
        required key "key": ApiText;
        /// `In`, `NotIn`, `Exists` or `DoesNotExist`.
        required operator "operator": ApiText;
        /// Values of it.
        optional values "values": Vec<Spanned<ApiText>>;
    }
}

object! {
    /// A kind of routes.
    KindSpec as "a kind of routes" {
        /// Its group.
        optional group "group": ApiText;
        /// The kind.
        required kind "kind": ApiText;
    }
}

object! {
    /// An HTTPRoute or GRPCRoute; the rules are read as the kind has them.
    RouteSpec as "the spec of a route" {
        /// What it attaches to.
        optional parents "parentRefs": Vec<Spanned<ParentSpec>>;
        /// The hosts it is for; any where there is none.
        optional hostnames "hostnames": Vec<Spanned<ApiText>>;
        /// Its rules.
        optional rules "rules": Vec<Spanned<RuleSpec>>;
        passed "useDefaultGateways";
    }
}

object! {
    /// What a route attaches to.
    ParentSpec as "a parentRef" {
        /// Its group.
        optional group "group": ApiText;
        /// Its kind.
        optional kind "kind": ApiText;
        /// Its namespace.
        optional namespace "namespace": ApiText;
        /// Its name.
        required name "name": ApiText;
        /// One of its listeners, by name.
        optional section "sectionName": ApiText;
        /// Listeners of this port alone.
        optional port "port": Port;
    }
}

object! {
    /// A rule of a route.
    RuleSpec as "a rule" {
        /// Its name.
        optional name "name": ApiText;
        /// What a request must be like, in one of these ways.
        optional matches "matches": Vec<Spanned<MatchSpec>>;
        /// What is done to requests and responses.
        optional filters "filters": Vec<Spanned<FilterSpec>>;
        /// Where requests go.
        optional backends "backendRefs": Vec<Spanned<BackendSpec>>;
        /// How long that may take.
        optional timeouts "timeouts": TimeoutsSpec;
        refused "retry" "it is in the experimental channel alone";
        refused "sessionPersistence" "it is in the experimental channel alone";
    }
}

object! {
    /// What a request must be like. `method` is a word for HTTP and a mapping for gRPC.
    MatchSpec as "a match" {
        /// Its path.
        optional path "path": PathSpec;
        /// Its fields.
        optional headers "headers": Vec<Spanned<ValueSpec>>;
        /// Its parameters.
        optional query "queryParams": Vec<Spanned<ValueSpec>>;
        /// Its method.
        optional method "method": MethodSpec;
    }
}

object! {
    /// What a path must be like.
    PathSpec as "a path" {
        /// `Exact`, `PathPrefix` or `RegularExpression`.
        optional kind "type": ApiText;
        /// The path or expression.
        optional value "value": ApiText;
    }
}

object! {
    /// What a field or parameter must be like.
    ValueSpec as "a match of a value" {
        /// `Exact` or `RegularExpression`.
        optional kind "type": ApiText;
        /// Its name.
        required name "name": ApiText;
        /// The value or expression.
        required value "value": ApiText;
    }
}

/// A method of HTTP, or one of gRPC.
#[derive(Clone, Debug)]
pub(super) enum MethodSpec {
    /// A method of HTTP.
    Http(ApiText),
    /// A service and method of gRPC.
    Grpc(Box<GrpcMethodSpec>),
}

object! {
    /// A service and method of gRPC.
    GrpcMethodSpec as "a method of gRPC" {
        /// `Exact` or `RegularExpression`.
        optional kind "type": ApiText;
        /// The service.
        optional service "service": ApiText;
        /// The method.
        optional method "method": ApiText;
    }
}

object! {
    /// What is done to a request or response.
    FilterSpec as "a filter" {
        /// Which of the others it is.
        required kind "type": ApiText;
        /// Changes of the request's fields.
        optional request_headers "requestHeaderModifier": HeadersSpec;
        /// Changes of the response's fields.
        optional response_headers "responseHeaderModifier": HeadersSpec;
        /// A copy that goes elsewhere.
        optional mirror "requestMirror": MirrorSpec;
        /// An answer that sends the client elsewhere.
        optional redirect "requestRedirect": RedirectSpec;
        /// Another path and host.
        optional rewrite "urlRewrite": RewriteSpec;
        /// What other origins may do.
        optional cors "cors": CorsSpec;
        passed "extensionRef" "externalAuth";
    }
}

object! {
    /// Changes of fields.
    HeadersSpec as "changes of fields" {
        /// Fields that are set, replacing others of their names.
        optional set "set": Vec<Spanned<FieldSpec>>;
        /// Fields that are added.
        optional add "add": Vec<Spanned<FieldSpec>>;
        /// Names of fields that are removed.
        optional remove "remove": Vec<Spanned<ApiText>>;
    }
}

object! {
    /// A field.
    FieldSpec as "a field" {
        /// Its name.
        required name "name": ApiText;
        /// Its value.
        required value "value": ApiText;
    }
}

object! {
    /// A copy of requests that goes elsewhere.
    MirrorSpec as "requestMirror" {
        /// Where it goes.
        required backend "backendRef": BackendSpec;
        /// Of how many requests in a hundred.
        optional percent "percent": Number<0, 100>;
        /// Of how many requests in so many.
        optional fraction "fraction": FractionSpec;
    }
}

object! {
    /// A share.
    FractionSpec as "a fraction" {
        /// So many.
        required numerator "numerator": FractionPart;
        /// Of so many.
        optional denominator "denominator": Number<1, 2_147_483_647>;
    }
}

object! {
    /// An answer that sends the client elsewhere.
    RedirectSpec as "requestRedirect" {
        /// `http` or `https`.
        optional scheme "scheme": ApiText;
        /// The host.
        optional hostname "hostname": ApiText;
        /// The path.
        optional path "path": NewPathSpec;
        /// The port.
        optional port "port": Port;
        /// The status.
        optional status "statusCode": Number<301, 308>;
    }
}

object! {
    /// Another path and host.
    RewriteSpec as "urlRewrite" {
        /// The host.
        optional hostname "hostname": ApiText;
        /// The path.
        optional path "path": NewPathSpec;
    }
}

object! {
    /// Another path.
    NewPathSpec as "a path" {
        /// `ReplaceFullPath` or `ReplacePrefixMatch`.
        required kind "type": ApiText;
        /// The new path.
        optional full "replaceFullPath": ApiText;
        /// What stands in the place of the prefix.
        optional prefix "replacePrefixMatch": ApiText;
    }
}

object! {
    /// What other origins may do.
    CorsSpec as "cors" {
        /// The origins.
        optional origins "allowOrigins": Vec<Spanned<ApiText>>;
        /// Whether credentials may be sent.
        optional credentials "allowCredentials": bool;
        /// The methods.
        optional methods "allowMethods": Vec<Spanned<ApiText>>;
        /// The fields that may be sent.
        optional headers "allowHeaders": Vec<Spanned<ApiText>>;
        /// The fields that may be read.
        optional exposed "exposeHeaders": Vec<Spanned<ApiText>>;
        /// How long that may be remembered, seconds.
        optional max_age "maxAge": Number<1, 2_147_483_647>;
    }
}

object! {
    /// Where requests go.
    BackendSpec as "a backendRef" {
        /// Its group.
        optional group "group": ApiText;
        /// Its kind.
        optional kind "kind": ApiText;
        /// Its namespace.
        optional namespace "namespace": ApiText;
        /// Its name.
        required name "name": ApiText;
        /// Its port.
        optional port "port": Port;
        /// Its share of the requests.
        optional weight "weight": Number<0, 1_000_000>;
        /// What is done to requests that go there.
        optional filters "filters": Vec<Spanned<FilterSpec>>;
    }
}

object! {
    /// How long an exchange may take.
    TimeoutsSpec as "timeouts" {
        /// All of it.
        optional request "request": ApiText;
        /// One attempt at a backend.
        optional backend "backendRequest": ApiText;
    }
}

object! {
    /// What objects of other namespaces may refer to.
    ReferenceGrantSpec as "the spec of a ReferenceGrant" {
        /// Whose objects.
        required from "from": Vec<Spanned<GrantFromSpec>>;
        /// To what.
        required to "to": Vec<Spanned<GrantToSpec>>;
    }
}

object! {
    /// Objects that may refer.
    GrantFromSpec as "an entry of `from`" {
        /// Their group.
        required group "group": ApiText;
        /// Their kind.
        required kind "kind": ApiText;
        /// Their namespace.
        required namespace "namespace": ApiText;
    }
}

object! {
    /// Objects that may be referred to.
    GrantToSpec as "an entry of `to`" {
        /// Their group.
        required group "group": ApiText;
        /// Their kind.
        required kind "kind": ApiText;
        /// The one of this name alone.
        optional name "name": ApiText;
    }
}
