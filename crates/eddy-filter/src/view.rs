//! View of an exchange in one phase, for filters.

use std::fmt;
use std::net::IpAddr;

use eddy_http::{Fields, Method, Version};
use eddy_ids::WorkerTime;

use crate::metadata::DynamicMetadata;
use crate::phase::Phase;

/// View of an exchange in one phase. Everything is borrowed from the exchange; nothing is copied.
#[derive(Clone, Copy, Debug)]
pub struct ExchangeView<'a> {
    /// Phase.
    pub phase: Phase,
    /// Whether nothing follows in this direction: there is no body, or this is its last piece.
    pub is_end: bool,
    /// Whether `body` is the complete body.
    pub is_buffered: bool,
    /// Request, with the edits of earlier filters.
    pub request: RequestView<'a>,
    /// Response, from [`Phase::ResponseHead`] on.
    pub response: Option<ResponseView<'a>>,
    /// Trailers, in their phases; also with the last piece of a body, or the complete body, if trailers follow.
    pub trailers: Fields<'a>,
    /// Body data, in the body phases.
    pub body: &'a [u8],
    /// Source of the information about the exchange besides the messages.
    pub facts: &'a dyn ExchangeFacts,
}

/// Source of the information about an exchange, which is put together only for filters that ask: most don't.
pub trait ExchangeFacts {
    /// Returns the information.
    ///
    /// # Cost
    /// Some fifty loads and stores; nothing is copied.
    fn info(&self) -> ExchangeInfo<'_>;
}

impl ExchangeFacts for ExchangeInfo<'_> {
    fn info(&self) -> ExchangeInfo<'_> {
        *self
    }
}

impl fmt::Debug for dyn ExchangeFacts + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.info().fmt(f)
    }
}

impl<'a> ExchangeView<'a> {
    /// Returns the information about the exchange besides the messages.
    ///
    /// # Cost
    /// That of [`ExchangeFacts::info`].
    pub fn about(&self) -> ExchangeInfo<'a> {
        self.facts.info()
    }

    /// Whether the piece is the last of its body: nothing follows, or only trailers.
    pub fn is_last_piece(&self) -> bool {
        self.is_end || !self.trailers.is_empty()
    }
}

/// Request head.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestView<'a> {
    /// Header fields.
    pub fields: Fields<'a>,
    /// Method.
    pub method: Method,
    /// Name of the method.
    pub method_name: &'a [u8],
    /// Path and query.
    pub target: &'a [u8],
    /// Host and optional port; empty if an HTTP/1.0 client sent none.
    pub authority: &'a [u8],
    /// HTTP version of the client.
    pub version: Version,
    /// Whether the client uses TLS.
    pub is_tls: bool,
}

/// Response head.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResponseView<'a> {
    /// Header fields.
    pub fields: Fields<'a>,
    /// Status code.
    pub status: u16,
    /// Whether this is a local reply of eddy.
    pub is_local: bool,
}

/// Information about an exchange. A text that is not known (yet) is empty.
#[derive(Clone, Copy, Debug)]
pub struct ExchangeInfo<'a> {
    /// Client address and port.
    pub peer: &'a [u8],
    /// Client address; `None` over a Unix socket.
    pub peer_ip: Option<IpAddr>,
    /// Address that the client connected to.
    pub local: &'a [u8],
    /// Name of the listener.
    pub listener: &'a [u8],
    /// Name of the matching rule.
    pub rule: &'a [u8],
    /// Name of the rule's cluster.
    pub cluster: &'a [u8],
    /// Address of the endpoint, once it has sent a response.
    pub endpoint: &'a [u8],
    /// Request ID, if the listener assigns them.
    pub request_id: &'a [u8],
    /// Reason of a local reply, as in the access log.
    pub details: &'a [u8],
    /// Metadata set by filters.
    pub metadata: Option<&'a DynamicMetadata>,
    /// Time at which the request head was complete, in microseconds since 1970.
    pub started_unix_us: u64,
    /// Duration of the exchange in microseconds; only in [`Phase::Log`].
    pub duration_us: u64,
    /// Time of the worker's clock, for filters that measure time; arbitrary origin, never decreases.
    pub now: WorkerTime,
    /// Two random numbers for filters.
    pub entropy: [u64; 2],
    /// Number of the client connection on this worker.
    pub connection: u64,
    /// Bytes of the request body so far.
    pub request_bytes: u64,
    /// Bytes of the response body so far.
    pub response_bytes: u64,
    /// Number of endpoints tried.
    pub attempts: u32,
    /// TLS properties of the client connection; `None` without TLS.
    pub tls: Option<TlsInfo<'a>>,
}

/// TLS properties of the client connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TlsInfo<'a> {
    /// `TLSv1.2` or `TLSv1.3`.
    pub version: &'a [u8],
    /// IANA name of the cipher suite.
    pub suite: &'a [u8],
    /// Server name requested by the client (SNI); empty if it requested none.
    pub server_name: &'a [u8],
    /// Verified client certificate in DER; empty if the client has sent none.
    pub certificate: &'a [u8],
}

impl<'a> ExchangeInfo<'a> {
    /// Information of which nothing is known.
    pub const UNKNOWN: ExchangeInfo<'static> = ExchangeInfo {
        peer: b"",
        peer_ip: None,
        local: b"",
        listener: b"",
        rule: b"",
        cluster: b"",
        endpoint: b"",
        request_id: b"",
        details: b"",
        metadata: None,
        started_unix_us: 0,
        duration_us: 0,
        now: WorkerTime::ZERO,
        entropy: [0; 2],
        connection: 0,
        request_bytes: 0,
        response_bytes: 0,
        attempts: 0,
        tls: None,
    };

    /// Returns the texts in member order, which is the order of the filter ABI.
    pub fn texts(&self) -> [&'a [u8]; 8] {
        [
            self.peer,
            self.local,
            self.listener,
            self.rule,
            self.cluster,
            self.endpoint,
            self.request_id,
            self.details,
        ]
    }
}
