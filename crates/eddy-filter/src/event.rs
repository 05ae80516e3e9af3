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
