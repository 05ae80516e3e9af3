//! VirtualServices as written: their matches and destinations.

use eddy_spec::read::{Any, NamedMap, Spanned};
use eddy_spec::value::Number;

use super::Labels;
use super::destination::{DestinationSpec, TextMatchSpec};
use super::policy::{
    CorsSpec, DirectResponseSpec, FaultSpec, HeadersSpec, MirrorSpec, PercentSpec, RedirectSpec, RetriesSpec,
    RewriteSpec,
};
use crate::istio::value::GoTime;
use crate::kubernetes::{ApiText, Label};

/// Tests by header or parameter name.
pub(in super::super) type Tests = NamedMap<Label, TextMatchSpec>;

object! {
    /// Spec of a VirtualService.
    VirtualServiceSpec as "a VirtualService spec" {
        /// Hosts that it serves; none for a delegate.
        optional hosts "hosts": Vec<Spanned<ApiText>>;
        /// Gateways that it is bound to.
        optional gateways "gateways": Vec<Spanned<ApiText>>;
        /// HTTP routes.
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
        /// Name.
        optional name "name": ApiText;
        /// Alternative matches, one of which a request must meet.
        optional matches "match": Vec<Spanned<MatchSpec>>;
        /// Destinations.
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
        /// Retries.
        optional retries "retries": RetriesSpec;
        /// Fault injection.
        optional fault "fault": FaultSpec;
        /// Destination of a mirror.
        optional mirror "mirror": DestinationSpec;
        /// Mirrors.
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
        /// Name of the match.
        optional name "name": ApiText;
        /// Path.
        optional uri "uri": TextMatchSpec;
        /// Scheme: `http` or `https`.
        optional scheme "scheme": TextMatchSpec;
        /// Method.
        optional method "method": TextMatchSpec;
        /// Host.
        optional authority "authority": TextMatchSpec;
        /// Headers.
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
        passed "statPrefix";
    }
}

object! {
    /// Destination and its weight.
    RouteDestinationSpec as "a route destination" {
        /// Destination.
        required destination "destination": DestinationSpec;
        /// Weight.
        optional weight "weight": Number<0, 4_294_967_295>;
        /// Header edits.
        optional headers "headers": HeadersSpec;
    }
}

object! {
    /// VirtualService that refines a route.
    DelegateSpec as "a delegate" {
        /// Name.
        optional name "name": ApiText;
        /// Namespace.
        optional namespace "namespace": ApiText;
    }
}
