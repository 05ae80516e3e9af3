//! Form in which a response head is at hand.

use eddy_io::Buffer;

use crate::exchange::state::exchange::Exchange;

/// Form in which a response head is at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadSource {
    /// As the endpoint has sent it.
    Endpoint,
    /// As filters have left it, or as a local reply that filters see.
    Filters,
}

impl HeadSource {
    /// Returns the bytes of the head.
    pub(crate) fn bytes(self, exchange: &Exchange) -> &[u8] {
        match self {
            Self::Endpoint => received_head(&exchange.response_input, exchange.response_bytes),
            Self::Filters => &exchange.filtering.response_head,
        }
    }
}

/// Returns a response head of this length at the front of what the endpoint has sent.
pub(crate) fn received_head(input: &Buffer, length: usize) -> &[u8] {
    input.held().get(..length).unwrap_or_default()
}
