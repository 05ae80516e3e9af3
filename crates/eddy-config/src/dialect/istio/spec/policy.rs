//! What routes of VirtualServices do on the way, as written.

use super::Labels;
use super::service::{DestinationSpec, TextMatchSpec};
use crate::dialect::istio::value::{GoTime, IstioPercent};
use crate::dialect::kubernetes::ApiText;
use crate::read::Spanned;
use crate::value::Number;

object! {
    /// An answer that sends the client elsewhere.
    RedirectSpec as "a redirect" {
        /// The path.
        optional uri "uri": ApiText;
        /// The host.
        optional authority "authority": ApiText;
        /// The port.
        optional port "port": Number<1, 65_535>;
        /// How the port is found.
        optional derive_port "derivePort": ApiText;
        /// The scheme.
        optional scheme "scheme": ApiText;
        /// The status.
        optional code "redirectCode": Number<0, 999>;
    }
}

object! {
    /// A fixed answer.
    DirectResponseSpec as "a direct response" {
        /// The status.
        required status "status": Number<200, 599>;
        /// Its body.
        optional body "body": BodySpec;
    }
}

object! {
    /// A body.
    BodySpec as "the body of a direct response" {
        /// As text.
        optional text "string": ApiText;
        /// As bytes.
        optional bytes "bytes": ApiText;
    }
}

object! {
    /// What is changed of path and host.
    RewriteSpec as "a rewrite" {
        /// The path, or what stands for the prefix.
        optional uri "uri": ApiText;
        /// The host.
        optional authority "authority": ApiText;
        /// What an expression finds in the path.
        optional regex "uriRegexRewrite": RegexRewriteSpec;
    }
}

object! {
    /// What is found, and what takes its place.
    RegexRewriteSpec as "a rewrite by expression" {
        /// The expression.
        required found "match": ApiText;
        /// What takes its place.
        required by "rewrite": ApiText;
    }
}

object! {
    /// When a request is tried again.
    RetriesSpec as "`retries` of a route" {
        /// How often.
        optional attempts "attempts": Number<0, 1_000>;
        /// Longest time of each.
        optional per_try_timeout "perTryTimeout": GoTime;
        /// Why.
        optional on "retryOn": ApiText;
        passed "retryRemoteLocalities" "retryIgnorePreviousHosts" "backoff";
    }
}

object! {
    /// Faults on purpose.
    FaultSpec as "a fault" {
        /// Waiting.
        optional delay "delay": DelaySpec;
        /// Ending.
        optional abort "abort": AbortSpec;
    }
}

object! {
    /// Waiting on purpose.
    DelaySpec as "a delay" {
        /// How long.
        optional fixed "fixedDelay": GoTime;
        /// How many.
        optional percentage "percentage": PercentSpec;
        /// The same as a whole number.
        optional percent "percent": Number<0, 100>;
        passed "exponentialDelay";
    }
}

object! {
    /// Ending on purpose.
    AbortSpec as "an abort" {
        /// With this status.
        optional status "httpStatus": Number<200, 599>;
        /// With this status of gRPC.
        optional grpc "grpcStatus": ApiText;
        /// How many.
        optional percentage "percentage": PercentSpec;
        passed "http2Error";
    }
}

object! {
    /// A percentage.
    PercentSpec as "a percentage" {
        /// From 0 to 100.
        optional value "value": IstioPercent;
    }
}

object! {
    /// Where a copy goes.
    MirrorSpec as "a mirror" {
        /// The destination.
        required destination "destination": DestinationSpec;
        /// How many.
        optional percentage "percentage": PercentSpec;
    }
}

object! {
    /// Who of other sites may ask.
    CorsSpec as "`corsPolicy` of a route" {
        /// The sites.
        optional origins "allowOrigins": Vec<Spanned<TextMatchSpec>>;
        /// The same as texts.
        optional origin "allowOrigin": Vec<Spanned<ApiText>>;
        /// Methods.
        optional methods "allowMethods": Vec<Spanned<ApiText>>;
        /// Fields of requests.
        optional headers "allowHeaders": Vec<Spanned<ApiText>>;
        /// Fields of answers.
        optional exposed "exposeHeaders": Vec<Spanned<ApiText>>;
        /// How long an answer holds.
        optional max_age "maxAge": GoTime;
        /// Whether cookies may be sent.
        optional credentials "allowCredentials": bool;
        /// What is done with preflights of others.
        optional unmatched "unmatchedPreflights": ApiText;
    }
}

object! {
    /// Changes to fields.
    HeadersSpec as "`headers` of a route" {
        /// Of the request.
        optional request "request": EditsSpec;
        /// Of the answer.
        optional response "response": EditsSpec;
    }
}

object! {
    /// Changes to fields of a message.
    EditsSpec as "changes to fields" {
        /// Fields that have this value alone.
        optional set "set": Labels;
        /// Fields that have this value, too.
        optional add "add": Labels;
        /// Fields that go.
        optional remove "remove": Vec<Spanned<ApiText>>;
    }
}
