//! Policies of VirtualService routes, as written.

use eddy_spec::read::Spanned;
use eddy_spec::value::Number;

use super::Labels;
use super::destination::{DestinationSpec, TextMatchSpec};
use crate::istio::value::{GoTime, IstioPercent};
use crate::kubernetes::ApiText;

object! {
    /// Redirect response.
    RedirectSpec as "a redirect" {
        /// Path.
        optional uri "uri": ApiText;
        /// Host.
        optional authority "authority": ApiText;
        /// Port.
        optional port "port": Number<1, 65_535>;
        /// Way to derive the port.
        optional derive_port "derivePort": ApiText;
        /// Scheme.
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
        /// Body.
        optional body "body": BodySpec;
    }
}

object! {
    /// Response body.
    BodySpec as "the body of a direct response" {
        /// Text.
        optional text "string": ApiText;
        /// Bytes.
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
        passed "retryRemoteLocalities" "retryIgnorePreviousHosts" "backoff";
    }
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
        passed "exponentialDelay";
    }
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
        passed "http2Error";
    }
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
        /// Edits of request headers.
        optional request "request": EditsSpec;
        /// Edits of response headers.
        optional response "response": EditsSpec;
    }
}

object! {
    /// Header edits of a message.
    EditsSpec as "header edits" {
        /// Headers to set, replacing other values.
        optional set "set": Labels;
        /// Headers to add.
        optional add "add": Labels;
        /// Headers to remove.
        optional remove "remove": Vec<Spanned<ApiText>>;
    }
}
