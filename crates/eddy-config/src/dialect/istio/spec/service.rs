//! VirtualServices as written: what they match, and where requests go.

use super::Labels;
use super::policy::{
    CorsSpec, DirectResponseSpec, FaultSpec, HeadersSpec, MirrorSpec, PercentSpec, RedirectSpec, RetriesSpec,
    RewriteSpec,
};
use crate::dialect::istio::value::GoTime;
use crate::dialect::kubernetes::{ApiText, Label};
use crate::read::{Any, NamedMap, Spanned};
use crate::value::Number;

/// Tests by name.
pub(in super::super) type Tests = NamedMap<Label, TextMatchSpec>;

object! {
    /// The spec of a VirtualService.
    VirtualServiceSpec as "the spec of a VirtualService" {
        /// The hosts it is for; none where it is a delegate.
        optional hosts "hosts": Vec<Spanned<ApiText>>;
        /// The Gateways it is bound to.
        optional gateways "gateways": Vec<Spanned<ApiText>>;
        /// Its routes.
        optional http "http": Vec<Spanned<HttpRouteSpec>>;
        /// Routes of connections with TLS.
        optional tls "tls": Any;
        /// Routes of connections.
        optional tcp "tcp": Any;
        /// The namespaces that see it.
        optional export_to "exportTo": Vec<Spanned<ApiText>>;
    }
}

object! {
    /// A route.
    HttpRouteSpec as "a route of a VirtualService" {
        /// Its name.
        optional name "name": ApiText;
        /// What requests must look like: one of these.
        optional matches "match": Vec<Spanned<MatchSpec>>;
        /// Where they go.
        optional route "route": Vec<Spanned<RouteDestinationSpec>>;
        /// An answer that sends the client elsewhere.
        optional redirect "redirect": RedirectSpec;
        /// A fixed answer.
        optional direct_response "directResponse": DirectResponseSpec;
        /// The VirtualService that says more.
        optional delegate "delegate": DelegateSpec;
        /// What is changed of path and host.
        optional rewrite "rewrite": RewriteSpec;
        /// Longest time of the exchange.
        optional timeout "timeout": GoTime;
        /// When it is tried again.
        optional retries "retries": RetriesSpec;
        /// Faults on purpose.
        optional fault "fault": FaultSpec;
        /// Where a copy goes.
        optional mirror "mirror": DestinationSpec;
        /// Where copies go.
        optional mirrors "mirrors": Vec<Spanned<MirrorSpec>>;
        /// How many are copied.
        optional mirror_percentage "mirrorPercentage": PercentSpec;
        /// The same as a whole number.
        optional mirror_percent "mirrorPercent": Number<0, 100>;
        /// Who of other sites may ask.
        optional cors "corsPolicy": CorsSpec;
        /// Changes to fields.
        optional headers "headers": HeadersSpec;
    }
}

object! {
    /// What a request must look like.
    MatchSpec as "a match of a VirtualService" {
        /// Names it.
        optional name "name": ApiText;
        /// The path.
        optional uri "uri": TextMatchSpec;
        /// `http` or `https`.
        optional scheme "scheme": TextMatchSpec;
        /// The method.
        optional method "method": TextMatchSpec;
        /// The host.
        optional authority "authority": TextMatchSpec;
        /// Fields.
        optional headers "headers": Tests;
        /// Fields that must not be like this.
        optional without_headers "withoutHeaders": Tests;
        /// Parameters of the query.
        optional query "queryParams": Tests;
        /// Whether letter case of the path does not count.
        optional ignores_case "ignoreUriCase": bool;
        /// The port that the request came in at.
        optional port "port": Number<1, 65_535>;
        /// Labels of who asks.
        optional source_labels "sourceLabels": Labels;
        /// The namespace of who asks.
        optional source_namespace "sourceNamespace": ApiText;
        /// The Gateways it is for.
        optional gateways "gateways": Vec<Spanned<ApiText>>;
        passed "statPrefix";
    }
}

object! {
    /// A test for a text.
    TextMatchSpec as "a test (`exact`, `prefix` or `regex`)" {
        /// The whole text.
        optional exact "exact": ApiText;
        /// Its beginning.
        optional prefix "prefix": ApiText;
        /// An expression for the whole.
        optional regex "regex": ApiText;
    }
}

object! {
    /// A destination and its share.
    RouteDestinationSpec as "a destination of a route" {
        /// The destination.
        required destination "destination": DestinationSpec;
        /// Its share.
        optional weight "weight": Number<0, 4_294_967_295>;
        /// Changes to fields.
        optional headers "headers": HeadersSpec;
    }
}

object! {
    /// A Service.
    DestinationSpec as "a destination" {
        /// Its name.
        required host "host": ApiText;
        /// Which of its endpoints.
        optional subset "subset": ApiText;
        /// Its port.
        optional port "port": PortSpec;
    }
}

object! {
    /// A port by number.
    PortSpec as "a port of a destination" {
        /// Its number.
        required number "number": Number<1, 65_535>;
    }
}

object! {
    /// The VirtualService that says more.
    DelegateSpec as "a delegate" {
        /// Its name.
        optional name "name": ApiText;
        /// Its namespace.
        optional namespace "namespace": ApiText;
    }
}
