//! Why an exchange ends badly: whose side it was on, whether it may be tried again, and the answer.

use eddy_http::{ChunkFault, GrpcStatus, HeadFault};
use eddy_io::HandshakeFaultKind;
use eddy_route::normalise::PathFault;
use eddy_upstream::LimitKind;

/// Why an exchange ended without a whole answer from its endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The request's head breaks a rule or a limit.
    RequestHead(HeadFault),
    /// The request's chunked body breaks a rule or a limit.
    RequestChunk(ChunkFault),
    /// The request's path is not one that every reader would read alike.
    RequestPath(PathFault),
    /// The deadline that a call of gRPC has of its own cannot be read.
    GrpcTimeout,
    /// The head did not arrive in time.
    HeadTimeout,
    /// The client sends its body too slowly.
    BodyTimeout,
    /// The body is larger than the listener allows.
    BodyTooLarge,
    /// The client went away.
    ClientGone,
    /// The client reads the answer too slowly.
    ClientSlow,
    /// No rule matches.
    NoRule,
    /// The rule's rewrite does not give a valid path for this request.
    RewriteFailed,
    /// eddy is short of time, memory or room for exchanges.
    Overload,
    /// What eddy was about to send is not what it meant to send.
    Egress,
    /// The exchange took longer than its timeout.
    ExchangeTimeout,
    /// The cluster has no endpoint, such as before its name is resolved.
    NoEndpoint,
    /// The endpoint has as many links as it may have.
    LinksExhausted,
    /// As much of the cluster is in use as its limits allow.
    Limit(LimitKind),
    /// No link could be established.
    ConnectFailed,
    /// No link could be established in time.
    ConnectTimeout,
    /// The endpoint was reached, and the handshake of TLS with it came to nothing.
    Handshake(HandshakeFaultKind),
    /// The endpoint ended a fresh link by an alert of TLS, most often because it does not take eddy's certificate.
    TlsAlert,
    /// A link that had been used before closed before the first byte of an answer.
    LinkStale,
    /// A fresh link closed before the first byte of an answer.
    LinkClosed,
    /// The endpoint has taken its leave from the link before it looked at the request.
    LinkLeft,
    /// The endpoint does not speak what it was to be spoken to in.
    LinkProtocol,
    /// The endpoint says that it did not work on the request.
    StreamRefused,
    /// The endpoint gave the request up before the first byte of an answer.
    StreamReset,
    /// The answer did not begin in time.
    FirstByteTimeout,
    /// The attempt took longer than the rule lets one take.
    AttemptTimeout,
    /// The answer's head breaks a rule or a limit.
    ResponseHead(HeadFault),
    /// The answer's chunked body breaks a rule or a limit.
    ResponseChunk(ChunkFault),
    /// The frames of the answer, or of the link as a whole, break a rule or a limit.
    ResponseFrames,
    /// The link closed in the middle of the answer.
    ResponseCut,
    /// The endpoint fell silent in the middle of the exchange.
    UpstreamIdle,
    /// The endpoint sends one interim response after the other.
    InterimFlood,
    /// The endpoint answered with a status that the rule tries again.
    RetryStatus(u16),
    /// The endpoint ended the call of gRPC, without an answer, with a status that the rule tries again.
    RetryGrpc(GrpcStatus),
    /// The endpoint answered with a status for which the rule goes on to another cluster.
    PassedOver,
    /// The endpoint answered with a status in whose place an error page stands.
    Intercepted(u16),
    /// A filter failed, and its policy is to be closed then.
    FilterFailed,
    /// A filter paused the exchange and did not come back in time.
    FilterTimeout,
    /// A filter ended the exchange without an answer.
    FilterReset,
    /// A filter wanted to collect a response that is too large for it.
    FilterBody,
    /// A filter answers in place of the endpoint.
    FilterReply,
    /// The rule closes the connection without an answer.
    RuleClose,
    /// Nobody has said anything through a tunnel for too long.
    TunnelIdle,
    /// A tunnel has outlived its configuration for too long.
    TunnelReload,
}

/// Whose doing a fault is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultSide {
    /// The client's.
    Downstream,
    /// eddy's or its configuration's.
    Gateway,
    /// The endpoint's.
    Upstream,
}

/// Whether a request that met a fault may be sent again, to another endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryClass {
    /// It may not.
    Never,
    /// The endpoint has seen nothing of it.
    Unseen,
    /// The endpoint may have seen it: only an idempotent request without a body.
    MaybeSeen,
    /// As `MaybeSeen`, and only where the rule retries after a reset.
    ByReset,
    /// As `MaybeSeen`, and only where the rule retries this status.
    ByStatus(u16),
    /// Its call of gRPC has ended: only where the rule retries this status of one.
    ByGrpc(GrpcStatus),
}

impl Fault {
    /// Whose doing it is.
    pub fn side(self) -> FaultSide {
        match self {
            Self::RequestHead(_)
            | Self::RequestChunk(_)
            | Self::RequestPath(_)
            | Self::GrpcTimeout
            | Self::HeadTimeout
            | Self::BodyTimeout
            | Self::BodyTooLarge
            | Self::ClientGone
            | Self::ClientSlow => FaultSide::Downstream,
            Self::NoRule
            | Self::RewriteFailed
            | Self::Overload
            | Self::Egress
            | Self::ExchangeTimeout
            | Self::LinksExhausted
            | Self::Limit(_)
            | Self::FilterFailed
            | Self::FilterTimeout
            | Self::FilterReset
            | Self::FilterBody
            | Self::FilterReply
            | Self::RuleClose
            | Self::TunnelIdle
            | Self::TunnelReload => FaultSide::Gateway,
            Self::NoEndpoint
            | Self::ConnectFailed
            | Self::ConnectTimeout
            | Self::Handshake(_)
            | Self::TlsAlert
            | Self::LinkStale
            | Self::LinkClosed
            | Self::LinkLeft
            | Self::LinkProtocol
            | Self::StreamRefused
            | Self::StreamReset
            | Self::FirstByteTimeout
            | Self::AttemptTimeout
            | Self::ResponseHead(_)
            | Self::ResponseChunk(_)
            | Self::ResponseFrames
            | Self::ResponseCut
            | Self::UpstreamIdle
            | Self::InterimFlood
            | Self::RetryStatus(_)
            | Self::RetryGrpc(_)
            | Self::PassedOver
            | Self::Intercepted(_) => FaultSide::Upstream,
        }
    }

    /// Whether the request may be sent again.
    ///
    /// # Spec
    /// RFC 9110 §9.2.2: a proxy must not repeat a non-idempotent request by itself.
    pub fn retry(self) -> RetryClass {
        match self {
            Self::ConnectFailed
            | Self::ConnectTimeout
            | Self::Handshake(_)
            | Self::LinkLeft
            | Self::LinkProtocol
            | Self::StreamRefused => RetryClass::Unseen,
            Self::LinkStale => RetryClass::MaybeSeen,
            Self::LinkClosed | Self::TlsAlert | Self::StreamReset => RetryClass::ByReset,
            Self::RetryStatus(status) => RetryClass::ByStatus(status),
            Self::RetryGrpc(status) => RetryClass::ByGrpc(status),
            Self::RequestHead(_)
            | Self::RequestChunk(_)
            | Self::RequestPath(_)
            | Self::GrpcTimeout
            | Self::HeadTimeout
            | Self::BodyTimeout
            | Self::BodyTooLarge
            | Self::ClientGone
            | Self::ClientSlow
            | Self::NoRule
            | Self::RewriteFailed
            | Self::Overload
            | Self::Egress
            | Self::ExchangeTimeout
            | Self::NoEndpoint
            | Self::LinksExhausted
            | Self::Limit(_)
            | Self::FirstByteTimeout
            | Self::AttemptTimeout
            | Self::ResponseHead(_)
            | Self::ResponseChunk(_)
            | Self::ResponseFrames
            | Self::ResponseCut
            | Self::UpstreamIdle
            | Self::InterimFlood
            | Self::PassedOver
            | Self::Intercepted(_)
            | Self::FilterFailed
            | Self::FilterTimeout
            | Self::FilterReset
            | Self::FilterBody
            | Self::FilterReply
            | Self::RuleClose
            | Self::TunnelIdle
            | Self::TunnelReload => RetryClass::Never,
        }
    }

    /// Whether the fault counts against its endpoint's health.
    pub fn blames_endpoint(self) -> bool {
        // A stale link is the ordinary end of an idle connection, a farewell that of a busy one; a status has been judged as it
        // came.
        self.side() == FaultSide::Upstream
            && !matches!(self, Self::LinkStale | Self::LinkLeft | Self::NoEndpoint)
            && !self.is_judged()
    }

    /// Whether the endpoint has answered, and was judged by that.
    pub(crate) fn is_judged(self) -> bool {
        matches!(self, Self::RetryStatus(_) | Self::RetryGrpc(_) | Self::PassedOver | Self::Intercepted(_))
    }

    /// Whether it ends an attempt, and another under way may go on.
    pub(crate) fn is_of_attempt(self) -> bool {
        let is_claimed = matches!(self, Self::PassedOver | Self::Intercepted(_));
        self.side() == FaultSide::Upstream && !is_claimed
            || matches!(self, Self::LinksExhausted | Self::Limit(_))
    }

    /// The status that a call of gRPC ends with.
    ///
    /// # Spec
    /// [HTTP to gRPC status code mapping](https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md), but
    /// for what is known better than HTTP tells it.
    #[expect(clippy::wildcard_enum_match_arm, reason = "each fault has a status")]
    pub fn grpc_status(self) -> GrpcStatus {
        match self {
            Self::ExchangeTimeout | Self::AttemptTimeout => GrpcStatus::DeadlineExceeded,
            Self::BodyTooLarge => GrpcStatus::ResourceExhausted,
            Self::RetryGrpc(status) => status,
            other => GrpcStatus::of_http(other.status()),
        }
    }

    /// The status the client gets, if it gets one.
    pub fn status(self) -> u16 {
        match self {
            Self::RequestHead(fault) => fault.status(),
            Self::RequestChunk(fault) => fault.status(),
            Self::RequestPath(_) | Self::GrpcTimeout => 400,
            Self::HeadTimeout | Self::BodyTimeout => 408,
            Self::BodyTooLarge => 413,
            // Nobody hears these two; the access record shows them.
            Self::ClientGone | Self::ClientSlow => 499,
            Self::RuleClose => 444,
            Self::NoRule => 404,
            Self::RewriteFailed
            | Self::Egress
            | Self::FilterFailed
            | Self::FilterReset
            | Self::FilterReply => 500,
            Self::ConnectFailed
            | Self::Handshake(_)
            | Self::TlsAlert
            | Self::LinkStale
            | Self::LinkClosed
            | Self::LinkLeft
            | Self::LinkProtocol
            | Self::StreamRefused
            | Self::StreamReset
            | Self::ResponseHead(_)
            | Self::ResponseChunk(_)
            | Self::ResponseFrames
            | Self::ResponseCut
            | Self::InterimFlood
            | Self::PassedOver
            | Self::FilterBody => 502,
            Self::Overload
            | Self::NoEndpoint
            | Self::LinksExhausted
            | Self::Limit(_)
            | Self::TunnelReload => 503,
            Self::ExchangeTimeout
            | Self::ConnectTimeout
            | Self::FirstByteTimeout
            | Self::AttemptTimeout
            | Self::UpstreamIdle
            | Self::FilterTimeout
            | Self::TunnelIdle => 504,
            Self::RetryStatus(status) | Self::Intercepted(status) => status,
            // Calls are told by another status, and have this one.
            Self::RetryGrpc(_) => 200,
        }
    }

    /// A word for the access record; what is wrong with a head, chunk or path where that is the fault, which limit is reached
    /// where one is.
    #[expect(clippy::wildcard_enum_match_arm, reason = "each fault has a label")]
    pub fn reason(self) -> &'static str {
        match self {
            Self::RequestHead(fault) => fault.reason(),
            Self::RequestChunk(fault) => fault.reason(),
            Self::RequestPath(fault) => fault.reason(),
            Self::Handshake(kind) => handshake_reason(kind),
            Self::Limit(kind) => limit_reason(kind),
            other => other.label(),
        }
    }
}

/// A word for the limit that is reached.
fn limit_reason(kind: LimitKind) -> &'static str {
    match kind {
        LimitKind::Connections => "limit_connections",
        LimitKind::Requests => "limit_requests",
        LimitKind::Pending => "limit_pending",
        LimitKind::Retries => "limit_retries",
    }
}

/// A word for what ended a handshake with an endpoint.
fn handshake_reason(kind: HandshakeFaultKind) -> &'static str {
    match kind {
        HandshakeFaultKind::Closed => "tls_closed",
        HandshakeFaultKind::Incompatible => "tls_incompatible",
        HandshakeFaultKind::Certificate => "tls_certificate",
        HandshakeFaultKind::Name => "tls_name",
        HandshakeFaultKind::Authority => "tls_authority",
        HandshakeFaultKind::Expired => "tls_expired",
        HandshakeFaultKind::Alert => "tls_alert",
        HandshakeFaultKind::Protocol => "tls_protocol",
    }
}

/// Gives each kind of fault its label, and an index in this order.
macro_rules! label_kinds {
    ($($kind:ident: $label:literal,)*) => {
        /// The label of each [`Fault::index`].
        pub(crate) const FAULT_LABELS: [&str; [$($label),*].len()] = [$($label),*];

        #[derive(Clone, Copy)]
        enum Kind {
            $($kind,)*
        }

        impl Fault {
            fn kind(self) -> Kind {
                match self {
                    $(Self::$kind { .. } => Kind::$kind,)*
                }
            }

            fn label(self) -> &'static str {
                match self {
                    $(Self::$kind { .. } => $label,)*
                }
            }
        }
    };
}

label_kinds! {
    RequestHead: "request_head",
    RequestChunk: "request_chunk",
    RequestPath: "request_path",
    GrpcTimeout: "grpc_timeout",
    HeadTimeout: "head_timeout",
    BodyTimeout: "body_timeout",
    BodyTooLarge: "body_too_large",
    ClientGone: "client_gone",
    ClientSlow: "client_slow",
    NoRule: "no_rule",
    RewriteFailed: "rewrite_failed",
    Overload: "overload",
    Egress: "egress_assert",
    ExchangeTimeout: "exchange_timeout",
    NoEndpoint: "no_endpoint",
    LinksExhausted: "links_exhausted",
    Limit: "limit",
    ConnectFailed: "connect_failed",
    ConnectTimeout: "connect_timeout",
    Handshake: "tls_handshake",
    TlsAlert: "tls_alert",
    LinkStale: "link_stale",
    LinkClosed: "link_closed",
    LinkLeft: "link_left",
    LinkProtocol: "link_protocol",
    StreamRefused: "stream_refused",
    StreamReset: "stream_reset",
    FirstByteTimeout: "first_byte_timeout",
    AttemptTimeout: "attempt_timeout",
    ResponseHead: "response_head",
    ResponseChunk: "response_chunk",
    ResponseFrames: "response_frames",
    ResponseCut: "response_cut",
    UpstreamIdle: "upstream_idle",
    InterimFlood: "interim_flood",
    RetryStatus: "retry_status",
    RetryGrpc: "retry_grpc",
    PassedOver: "passed_over",
    Intercepted: "intercepted",
    FilterFailed: "filter_failed",
    FilterTimeout: "filter_timeout",
    FilterReset: "filter_reset",
    FilterBody: "filter_body",
    FilterReply: "filter_reply",
    RuleClose: "rule_close",
    TunnelIdle: "tunnel_idle",
    TunnelReload: "tunnel_reload",
}

impl Fault {
    /// The kind of fault, as a dense index for counters.
    pub(crate) fn index(self) -> usize {
        self.kind() as usize
    }
}
