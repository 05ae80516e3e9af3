//! Faults of an exchange, and the facts of each kind in one table: which side caused it, the response status, and
//! whether the request may be sent again.

use eddy_http::{ChunkFault, GrpcStatus, HeadFault};
use eddy_io::HandshakeFaultKind;
use eddy_model::LimitKind;
use eddy_route::normalise::PathFault;

/// Side that caused a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultSide {
    /// The client.
    Downstream,
    /// eddy or its configuration.
    Gateway,
    /// The endpoint.
    Upstream,
}

/// Condition under which a request may be sent again to another endpoint after a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryClass {
    /// Never.
    Never,
    /// Always: the endpoint has seen nothing of the request.
    NotSeen,
    /// The endpoint may have seen the request: only when it is idempotent and has no body.
    MaybeSeen,
    /// As `MaybeSeen`, and only where the rule retries after a reset.
    ByReset,
    /// As `MaybeSeen`, and only where the rule retries after a timeout.
    ByTimeout,
}

/// Facts of one kind of fault.
#[derive(Clone, Copy, Debug)]
struct FaultFacts {
    /// Word in metrics, and in the access log unless the payload of the fault has a more precise one.
    label: &'static str,
    side: FaultSide,
    /// Response status, unless the payload of the fault decides it.
    status: u16,
    /// gRPC status, where it is more precise than that of the response status.
    grpc: Option<GrpcStatus>,
    retry: RetryClass,
    /// Whether the fault counts against its endpoint's health.
    blames_endpoint: bool,
    /// Whether the fault ends only the attempt, so that another attempt in progress may continue.
    ends_attempt_only: bool,
}

impl FaultFacts {
    const fn of(side: FaultSide, status: u16) -> Self {
        let is_upstream = matches!(side, FaultSide::Upstream);
        Self {
            label: "",
            side,
            status,
            grpc: None,
            retry: RetryClass::Never,
            blames_endpoint: is_upstream,
            ends_attempt_only: is_upstream,
        }
    }

    const fn label(self, label: &'static str) -> Self {
        Self { label, ..self }
    }

    const fn grpc(self, status: GrpcStatus) -> Self {
        Self { grpc: Some(status), ..self }
    }

    const fn retry(self, retry: RetryClass) -> Self {
        Self { retry, ..self }
    }

    /// The endpoint is not to blame.
    const fn spares_endpoint(self) -> Self {
        Self { blames_endpoint: false, ..self }
    }

    /// Another attempt in progress may continue although the endpoint did not cause the fault.
    const fn of_attempt(self) -> Self {
        Self { ends_attempt_only: true, ..self }
    }
}

const fn client(status: u16) -> FaultFacts {
    FaultFacts::of(FaultSide::Downstream, status)
}

const fn gateway(status: u16) -> FaultFacts {
    FaultFacts::of(FaultSide::Gateway, status)
}

const fn endpoint(status: u16) -> FaultFacts {
    FaultFacts::of(FaultSide::Upstream, status)
}

/// Declares the faults, each with its facts, and gives each kind an index in this order.
macro_rules! faults {
    ($($(#[$doc:meta])* $kind:ident $(($payload:ty))? : $label:literal = $facts:expr,)*) => {
        /// Reason why an exchange ended without a complete response from its endpoint.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Fault {
            $($(#[$doc])* $kind $(($payload))?,)*
        }

        /// Facts of each [`Fault::index`].
        static FAULTS: [FaultFacts; [$($label),*].len()] = [$($facts.label($label)),*];

        /// Label of each [`Fault::index`].
        pub(crate) const FAULT_LABELS: [&str; FAULTS.len()] = [$($label),*];

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
        }
    };
}

faults! {
    /// The request head violates the syntax or a limit.
    RequestHead(HeadFault): "request_head" = client(400),
    /// The chunked request body violates the syntax or a limit.
    RequestChunk(ChunkFault): "request_chunk" = client(400),
    /// The request path is ambiguous: two recipients could interpret it differently.
    RequestPath(PathFault): "request_path" = client(400),
    /// The `grpc-timeout` header of a gRPC call cannot be parsed.
    GrpcTimeout: "grpc_timeout" = client(400),
    /// The request head did not arrive in time.
    HeadTimeout: "head_timeout" = client(408),
    /// The client sends the request body too slowly.
    BodyTimeout: "body_timeout" = client(408),
    /// The request body is larger than the listener allows.
    BodyTooLarge: "body_too_large" = client(413).grpc(GrpcStatus::ResourceExhausted),
    /// The client closed the connection. The status is only seen in the access log.
    ClientGone: "client_gone" = client(499),
    /// The client reads the response too slowly. The status is only seen in the access log.
    ClientSlow: "client_slow" = client(499),
    /// No rule matches.
    NoRule: "no_rule" = gateway(404),
    /// The rule's rewrite does not produce a valid path for this request.
    RewriteFailed: "rewrite_failed" = gateway(500),
    /// eddy is overloaded: too little time, memory, or capacity for exchanges.
    Overload: "overload" = gateway(503),
    /// The egress check stopped a head that differs from what eddy meant to send.
    Egress: "egress_check" = gateway(500),
    /// The exchange took longer than its timeout.
    ExchangeTimeout: "exchange_timeout" = gateway(504).grpc(GrpcStatus::DeadlineExceeded),
    /// The cluster has no endpoint, for example before its name is resolved.
    NoEndpoint: "no_endpoint" = endpoint(503).spares_endpoint(),
    /// The endpoint has reached its maximum number of connections.
    LinksExhausted: "connections_exhausted" = gateway(503).of_attempt(),
    /// A cluster limit is reached.
    Limit(LimitKind): "limit" = gateway(503).of_attempt(),
    /// No upstream connection could be established.
    ConnectFailed: "connect_failed" = endpoint(502).retry(RetryClass::NotSeen),
    /// No upstream connection could be established in time.
    ConnectTimeout: "connect_timeout" = endpoint(504).retry(RetryClass::NotSeen),
    /// The TLS handshake with the endpoint failed.
    Handshake(HandshakeFaultKind): "tls_handshake" = endpoint(502).retry(RetryClass::NotSeen),
    /// The endpoint closed a new connection with a TLS alert after the handshake.
    TlsAlert: "tls_alert" = endpoint(502).retry(RetryClass::ByReset),
    /// A reused connection closed before the first byte of a response: the ordinary end of an idle connection.
    LinkStale: "upstream_stale" = endpoint(502).retry(RetryClass::MaybeSeen).spares_endpoint(),
    /// A new connection closed before the first byte of a response.
    LinkClosed: "upstream_closed" = endpoint(502).retry(RetryClass::ByReset),
    /// The endpoint sent GOAWAY before it processed the request: the ordinary end of a busy connection.
    UpstreamGoAway: "upstream_goaway" = endpoint(502).retry(RetryClass::NotSeen).spares_endpoint(),
    /// The endpoint does not speak the configured protocol.
    LinkProtocol: "upstream_protocol" = endpoint(502).retry(RetryClass::NotSeen),
    /// The endpoint refused the stream (REFUSED_STREAM) without processing the request.
    StreamRefused: "stream_refused" = endpoint(502).retry(RetryClass::NotSeen),
    /// The endpoint reset the stream before the first byte of a response.
    StreamReset: "stream_reset" = endpoint(502).retry(RetryClass::ByReset),
    /// The response did not begin in time.
    FirstByteTimeout: "first_byte_timeout" = endpoint(504).retry(RetryClass::ByTimeout),
    /// The attempt exceeded the rule's timeout per attempt.
    AttemptTimeout: "attempt_timeout" =
        endpoint(504).retry(RetryClass::ByTimeout).grpc(GrpcStatus::DeadlineExceeded),
    /// The response head violates the syntax or a limit.
    ResponseHead(HeadFault): "response_head" = endpoint(502),
    /// The chunked response body violates the syntax or a limit.
    ResponseChunk(ChunkFault): "response_chunk" = endpoint(502),
    /// The HTTP/2 frames of the response, or of the connection, violate the protocol or a limit.
    ResponseFrames: "response_frames" = endpoint(502),
    /// The connection closed in the middle of the response.
    ResponseCut: "response_cut" = endpoint(502),
    /// The endpoint sent nothing for too long in the middle of the exchange.
    UpstreamIdle: "upstream_idle" = endpoint(504),
    /// The endpoint sends too many interim responses.
    InterimFlood: "interim_flood" = endpoint(502),
    /// A filter failed, and its failure policy is to refuse the request.
    FilterFailed: "filter_failed" = gateway(500),
    /// A filter paused the exchange and did not resume it in time.
    FilterTimeout: "filter_timeout" = gateway(504),
    /// A filter ended the exchange without a response.
    FilterReset: "filter_reset" = gateway(500),
    /// A filter wanted to buffer a response that exceeds its limit.
    FilterBody: "filter_body" = gateway(502),
    /// The rule closes the connection without a response.
    RuleClose: "rule_close" = gateway(444),
    /// A tunnel was idle in both directions for too long.
    TunnelIdle: "tunnel_idle" = gateway(504),
    /// A tunnel stayed open too long after its configuration was replaced.
    TunnelReload: "tunnel_reload" = gateway(503),
}

impl Fault {
    /// Returns the fault kind as a dense index for counters.
    pub(crate) fn index(self) -> usize {
        self.kind() as usize
    }

    fn facts(self) -> &'static FaultFacts {
        &FAULTS[self.index()]
    }

    /// Returns the side that caused the fault.
    pub(crate) fn side(self) -> FaultSide {
        self.facts().side
    }

    /// Returns whether the request may be sent again.
    ///
    /// # Spec
    /// RFC 9110 §9.2.2: a proxy must not repeat a non-idempotent request by itself.
    pub(crate) fn retry(self) -> RetryClass {
        self.facts().retry
    }

    /// Whether the fault counts against its endpoint's health.
    pub(crate) fn blames_endpoint(self) -> bool {
        self.facts().blames_endpoint
    }

    /// Whether the fault ends only the attempt, so that another attempt in progress may continue.
    pub(crate) fn ends_attempt_only(self) -> bool {
        self.facts().ends_attempt_only
    }

    /// Returns the gRPC status that a call ends with.
    ///
    /// # Spec
    /// [HTTP to gRPC status code mapping](https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md),
    /// except where the fault is more precise than the HTTP status.
    pub(crate) fn grpc_status(self) -> GrpcStatus {
        self.facts().grpc.unwrap_or_else(|| GrpcStatus::of_http(self.status()))
    }

    /// Returns the response status for the client, if the client gets a response.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the table has the status of each fault")]
    pub(crate) fn status(self) -> u16 {
        match self {
            Self::RequestHead(fault) => fault.status(),
            Self::RequestChunk(fault) => fault.status(),
            other => other.facts().status,
        }
    }

    /// Returns the reason for the access log entry. For faults of a head, chunk or path it names the violation, for
    /// limits the limit that is reached.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the table has the label of each fault")]
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::RequestHead(fault) => fault.reason(),
            Self::RequestChunk(fault) => fault.reason(),
            Self::RequestPath(fault) => fault.reason(),
            Self::Handshake(kind) => handshake_reason(kind),
            Self::Limit(kind) => limit_reason(kind),
            other => other.facts().label,
        }
    }
}

impl Fault {
    /// Returns the rule that an endpoint's response breaks; its reason names only the part of the response.
    #[expect(clippy::wildcard_enum_match_arm, reason = "other faults have no rule of a message")]
    pub(crate) fn violation(self) -> Option<&'static str> {
        match self {
            Self::ResponseHead(fault) => Some(fault.reason()),
            Self::ResponseChunk(fault) => Some(fault.reason()),
            _ => None,
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
