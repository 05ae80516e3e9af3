//! Events that a library receives on a worker's thread.

use eddy_http::Fields;

/// Event for a filter.
#[derive(Clone, Copy, Debug)]
pub struct FilterEvent<'a> {
    /// Kind of the event.
    pub kind: EventKind,
    /// The host's number of the filter.
    pub filter: u32,
    /// Token that the filter gave the request.
    pub token: u64,
    /// Worker on whose thread the event is delivered.
    pub worker: u16,
    /// Response status.
    pub status: u16,
    /// Response headers.
    pub fields: Fields<'a>,
    /// Response body, or a word with the reason why there is no response.
    pub body: &'a [u8],
}

/// Part of the response to a streamed request, for a filter.
#[derive(Clone, Copy, Debug)]
pub struct StreamEvent<'a> {
    /// The host's number of the filter.
    pub filter: u32,
    /// Token that the filter gave the request.
    pub token: u64,
    /// Worker on whose thread the event is delivered.
    pub worker: u16,
    /// Part.
    pub part: StreamPart<'a>,
}

/// Part of the response to a streamed request. Nothing follows an end or a failure.
#[derive(Clone, Copy, Debug)]
pub enum StreamPart<'a> {
    /// Head.
    Head {
        /// Status code.
        status: u16,
        /// Headers.
        fields: Fields<'a>,
    },
    /// Piece of the body.
    Data(&'a [u8]),
    /// End of a complete response.
    End {
        /// Trailers.
        trailers: Fields<'a>,
    },
    /// There is no response, or no rest of it.
    Failed {
        /// Reason, as a word.
        reason: &'a str,
    },
}

/// Kind of an event; the numbers are those of the filter ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum EventKind {
    /// The response to an outbound request has arrived.
    Response = 1,
    /// The outbound request failed.
    Failed = 2,
    /// The library is woken as requested.
    Woken = 3,
}
