//! A phase of an exchange as filters see it.

use std::net::IpAddr;

use eddy_http::{Fields, Method, Version};

use crate::metadata::DynamicMetadata;
use crate::phase::Phase;

/// What filters see in one phase. Everything is borrowed from the exchange: nothing was copied for it.
#[derive(Clone, Copy, Debug)]
pub struct ExchangeView<'a> {
    /// The phase.
    pub phase: Phase,
    /// Whether nothing follows in this direction: no body, or this is its last piece.
    pub is_end: bool,
    /// Whether `body` is the whole of it.
    pub is_buffered: bool,
    /// The request, as filters before have left it.
    pub request: RequestView<'a>,
    /// The response, from [`Phase::ResponseHead`] on.
    pub response: Option<ResponseView<'a>>,
    /// The trailers, in their phases; and with the last piece of a body, or the whole of it, where some follow.
    pub trailers: Fields<'a>,
    /// The body's data, in its phases.
    pub body: &'a [u8],
    /// Facts beside the messages.
    pub about: ExchangeInfo<'a>,
}

impl ExchangeView<'_> {
    /// Whether a piece is the last of its body: nothing follows, or only trailers.
    pub fn is_last_piece(&self) -> bool {
        self.is_end || !self.trailers.is_empty()
    }
}

/// The head of a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestView<'a> {
    /// The fields.
    pub fields: Fields<'a>,
    /// The method.
    pub method: Method,
    /// The method's name.
    pub method_name: &'a [u8],
    /// Path and query.
    pub target: &'a [u8],
    /// Host and perhaps port; empty where an HTTP/1.0 client named none.
    pub authority: &'a [u8],
    /// The version that the client speaks.
    pub version: Version,
    /// Whether the client came by TLS.
    pub is_tls: bool,
}

/// The head of a response.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResponseView<'a> {
    /// The fields.
    pub fields: Fields<'a>,
    /// The status.
    pub status: u16,
    /// Whether it is eddy's own answer.
    pub is_local: bool,
}

/// Facts about an exchange. A text that is not known (yet) is empty.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExchangeInfo<'a> {
    /// The client's address and port.
    pub peer: &'a [u8],
    /// The client's address; `None` over a Unix socket.
    pub peer_ip: Option<IpAddr>,
    /// The address it connected to.
    pub local: &'a [u8],
    /// The listener's name.
    pub listener: &'a [u8],
    /// The name of the rule that won.
    pub rule: &'a [u8],
    /// The name of the cluster that the rule says.
    pub cluster: &'a [u8],
    /// The endpoint's address, once there is a response from it.
    pub endpoint: &'a [u8],
    /// The request id, where the listener has them.
    pub request_id: &'a [u8],
    /// Why eddy answered by itself: the word of the access record.
    pub details: &'a [u8],
    /// What filters have noted.
    pub metadata: Option<&'a DynamicMetadata>,
    /// When the head was complete, microseconds since 1970.
    pub started_unix_us: u64,
    /// How long the exchange took, microseconds; only in [`Phase::Log`].
    pub duration_us: u64,
    /// Milliseconds of the worker's clock, for filters that measure time; arbitrary origin, never backwards.
    pub now_ms: u64,
    /// Two random numbers for filters that draw lots.
    pub entropy: [u64; 2],
    /// Number of the client's connection in this worker.
    pub connection: u64,
    /// Bytes of the request's body so far.
    pub request_bytes: u64,
    /// Bytes of the response's body so far.
    pub response_bytes: u64,
    /// Endpoints tried.
    pub attempts: u32,
}

impl<'a> ExchangeInfo<'a> {
    /// The texts, in the order of their members, which is that of the contract.
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
