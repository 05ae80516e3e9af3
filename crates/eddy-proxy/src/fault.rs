//! Faults of an exchange: which side caused it, whether to retry, and the response status.

use eddy_http::{ChunkFault, GrpcStatus, HeadFault};
use eddy_io::HandshakeFaultKind;
use eddy_route::normalise::PathFault;
use eddy_upstream::LimitKind;

/// Reason why an exchange ended without a complete response from its endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The request head violates the syntax or a limit.
    RequestHead(HeadFault),
    /// The chunked request body violates the syntax or a limit.
    RequestChunk(ChunkFault),
    /// The request path is ambiguous: two recipients could interpret it differently.
    RequestPath(PathFault),
    /// The `grpc-timeout` header of a gRPC call cannot be parsed.
    GrpcTimeout,
    /// The request head did not arrive in time.
    HeadTimeout,
    /// The client sends the request body too slowly.
    BodyTimeout,
    /// The request body is larger than the listener allows.
    BodyTooLarge,
    /// The client closed the connection.
    ClientGone,
    /// The client reads the response too slowly.
    ClientSlow,
    /// No rule matches.
    NoRule,
    /// The rule's rewrite does not produce a valid path for this request.
    RewriteFailed,
    /// eddy is overloaded: too little time, memory, or capacity for exchanges.
    Overload,
    /// The egress check stopped a head that differs from what eddy meant to send.
    Egress,
    /// The exchange took longer than its timeout.
    ExchangeTimeout,
    /// The cluster has no endpoint, for example before its name is resolved.
    NoEndpoint,
    /// The endpoint has reached its maximum number of connections.
    LinksExhausted,
    /// A cluster limit is reached.
    Limit(LimitKind),
    /// No upstream connection could be established.
    ConnectFailed,
    /// No upstream connection could be established in time.
    ConnectTimeout,
    /// The TLS handshake with the endpoint failed.
    Handshake(HandshakeFaultKind),
    /// The endpoint closed a new connection with a TLS alert, most often because it rejects eddy's certificate.
    TlsAlert,
    /// A reused connection closed before the first byte of a response.
    LinkStale,
    /// A new connection closed before the first byte of a response.
    LinkClosed,
    /// The endpoint sent GOAWAY before it processed the request.
    LinkLeft,
    /// The endpoint does not speak the configured protocol.
    LinkProtocol,
    /// The endpoint refused the stream (REFUSED_STREAM) without processing the request.
    StreamRefused,
    /// The endpoint reset the stream before the first byte of a response.
    StreamReset,
    /// The response did not begin in time.
    FirstByteTimeout,
    /// The attempt exceeded the rule's timeout per attempt.
    AttemptTimeout,
    /// The response head violates the syntax or a limit.
    ResponseHead(HeadFault),
    /// The chunked response body violates the syntax or a limit.
    ResponseChunk(ChunkFault),
    /// The HTTP/2 frames of the response, or of the connection, violate the protocol or a limit.
    ResponseFrames,
    /// The connection closed in the middle of the response.
    ResponseCut,
    /// The endpoint sent nothing for too long in the middle of the exchange.
    UpstreamIdle,
    /// The endpoint sends too many interim responses.
    InterimFlood,
    /// The endpoint responded with a status that the rule retries.
    RetryStatus(u16),
    /// The endpoint ended the gRPC call, without a message, with a status that the rule retries.
    RetryGrpc(GrpcStatus),
    /// The endpoint responded with a status for which the rule fails over to another cluster.
    PassedOver,
    /// The endpoint responded with a status that is replaced by an error page.
    Intercepted(u16),
    /// A filter failed, and its failure policy is to refuse the request.
    FilterFailed,
    /// A filter paused the exchange and did not resume it in time.
    FilterTimeout,
    /// A filter ended the exchange without a response.
    FilterReset,
    /// A filter wanted to buffer a response that exceeds its limit.
    FilterBody,
    /// A filter replied in place of the endpoint.
    FilterReply,
    /// The rule closes the connection without a response.
    RuleClose,
    /// A tunnel was idle in both directions for too long.
    TunnelIdle,
    /// A tunnel stayed open too long after its configuration was replaced.
    TunnelReload,
}

/// Side that caused a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultSide {
    /// The client.
    Downstream,
    /// eddy or its configuration.
    Gateway,
    /// The endpoint.
    Upstream,
}

/// Condition under which a request may be sent again to another endpoint after a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryClass {
    /// Never.
    Never,
    /// Always: the endpoint has seen nothing of the request.
    Unseen,
    /// The endpoint may have seen the request: only when it is idempotent and has no body.
    MaybeSeen,
    /// As `MaybeSeen`, and only where the rule retries after a reset.
    ByReset,
    /// As `MaybeSeen`, and only where the rule retries after a timeout.
    ByTimeout,
    /// As `MaybeSeen`, and only where the rule retries this status.
    ByStatus(u16),
    /// The gRPC call has ended: only where the rule retries this gRPC status.
    ByGrpc(GrpcStatus),
}

impl Fault {
    /// Returns the side that caused the fault.
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

    /// Returns whether the request may be sent again.
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
            Self::FirstByteTimeout | Self::AttemptTimeout => RetryClass::ByTimeout,
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
        // A stale link is the ordinary end of an idle connection, GOAWAY that of a busy one. A response status is
        // judged when it arrives.
        self.side() == FaultSide::Upstream
            && !matches!(self, Self::LinkStale | Self::LinkLeft | Self::NoEndpoint)
            && !self.is_judged()
    }

    /// Whether the endpoint has responded, and its health was judged by that response.
    pub(crate) fn is_judged(self) -> bool {
        matches!(self, Self::RetryStatus(_) | Self::RetryGrpc(_) | Self::PassedOver | Self::Intercepted(_))
    }

    /// Whether the fault ends only the attempt, so that another attempt in progress may continue.
    pub(crate) fn is_of_attempt(self) -> bool {
        let is_claimed = matches!(self, Self::PassedOver | Self::Intercepted(_));
        self.side() == FaultSide::Upstream && !is_claimed
            || matches!(self, Self::LinksExhausted | Self::Limit(_))
    }

    /// Returns the gRPC status that a call ends with.
    ///
    /// # Spec
    /// [HTTP to gRPC status code mapping](https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md),
    /// except where the fault is more precise than the HTTP status.
    #[expect(clippy::wildcard_enum_match_arm, reason = "each fault has a status")]
    pub fn grpc_status(self) -> GrpcStatus {
        match self {
            Self::ExchangeTimeout | Self::AttemptTimeout => GrpcStatus::DeadlineExceeded,
            Self::BodyTooLarge => GrpcStatus::ResourceExhausted,
            Self::RetryGrpc(status) => status,
            other => GrpcStatus::of_http(other.status()),
        }
    }

    /// Returns the response status for the client, if the client gets a response.
    pub fn status(self) -> u16 {
        match self {
            Self::RequestHead(fault) => fault.status(),
            Self::RequestChunk(fault) => fault.status(),
            Self::RequestPath(_) | Self::GrpcTimeout => 400,
            Self::HeadTimeout | Self::BodyTimeout => 408,
            Self::BodyTooLarge => 413,
            // The client never receives these two; they appear in the access log.
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
            // The outcome of a gRPC call is its `grpc-status`; its HTTP status is always 200.
            Self::RetryGrpc(_) => 200,
        }
    }

    /// Returns the reason for the access log entry. For faults of a head, chunk or path it names the violation, for
    /// limits the limit that is reached.
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

/// Returns the reason word of a limit that is reached.
fn limit_reason(kind: LimitKind) -> &'static str {
    match kind {
        LimitKind::Connections => "limit_connections",
        LimitKind::Requests => "limit_requests",
        LimitKind::Pending => "limit_pending",
        LimitKind::Retries => "limit_retries",
    }
}

/// Returns the reason word of a failed TLS handshake with an endpoint.
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

/// Gives each fault kind its label, and an index in this order.
macro_rules! label_kinds {
    ($($kind:ident: $label:literal,)*) => {
        /// Label of each [`Fault::index`].
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
    Egress: "egress_check",
    ExchangeTimeout: "exchange_timeout",
    NoEndpoint: "no_endpoint",
    LinksExhausted: "connections_exhausted",
    Limit: "limit",
    ConnectFailed: "connect_failed",
    ConnectTimeout: "connect_timeout",
    Handshake: "tls_handshake",
    TlsAlert: "tls_alert",
    LinkStale: "upstream_stale",
    LinkClosed: "upstream_closed",
    LinkLeft: "upstream_goaway",
    LinkProtocol: "upstream_protocol",
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
    /// Returns the fault kind as a dense index for counters.
    pub(crate) fn index(self) -> usize {
        self.kind() as usize
    }
}
