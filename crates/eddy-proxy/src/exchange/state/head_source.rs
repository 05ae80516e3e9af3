//! Form in which a response head is at hand.

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
            Self::Endpoint => exchange.response_input.front(exchange.response_bytes),
            Self::Filters => &exchange.filtering.response_head,
        }
    }
}
