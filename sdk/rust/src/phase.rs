//! Where an exchange stands when a filter is entered.

use crate::abi;

/// A phase of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Phase {
    /// The request's head.
    RequestHead = abi::REQUEST_HEAD,
    /// A piece of the request's body, or the whole of it.
    RequestBody = abi::REQUEST_BODY,
    /// The request's trailers.
    RequestTrailers = abi::REQUEST_TRAILERS,
    /// The head of the final response.
    ResponseHead = abi::RESPONSE_HEAD,
    /// A piece of the response's body, or the whole of it.
    ResponseBody = abi::RESPONSE_BODY,
    /// The response's trailers.
    ResponseTrailers = abi::RESPONSE_TRAILERS,
    /// The exchange is over and can still be looked at.
    Log = abi::LOG,
}

impl Phase {
    /// All phases, in order.
    pub const ALL: [Self; 7] = [
        Self::RequestHead,
        Self::RequestBody,
        Self::RequestTrailers,
        Self::ResponseHead,
        Self::ResponseBody,
        Self::ResponseTrailers,
        Self::Log,
    ];

    /// The phase with this number of the contract.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// The phase's number in the contract.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Whether this phase is about the request.
    #[must_use]
    pub const fn is_request(self) -> bool {
        matches!(self, Self::RequestHead | Self::RequestBody | Self::RequestTrailers)
    }

    /// Whether this phase is about the response.
    #[must_use]
    pub const fn is_response(self) -> bool {
        matches!(self, Self::ResponseHead | Self::ResponseBody | Self::ResponseTrailers)
    }

    /// Whether a body is to be seen in this phase.
    #[must_use]
    pub const fn is_body(self) -> bool {
        matches!(self, Self::RequestBody | Self::ResponseBody)
    }

    /// Whether trailers are to be seen in this phase.
    #[must_use]
    pub const fn is_trailers(self) -> bool {
        matches!(self, Self::RequestTrailers | Self::ResponseTrailers)
    }
}

/// The phases in which a filter is entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interest(u32);

impl Interest {
    /// No phase: the filter is configured and never entered.
    pub const NONE: Self = Self(0);

    /// These phases.
    #[must_use]
    pub const fn of(phases: &[Phase]) -> Self {
        let mut bits = 0;
        let mut rest = phases;
        while let [first, after @ ..] = rest {
            bits |= 1 << first.number();
            rest = after;
        }
        Self(bits)
    }

    /// Whether the filter is entered in this phase.
    #[must_use]
    pub const fn has(self, phase: Phase) -> bool {
        self.0 & (1 << phase.number()) != 0
    }

    /// The phases that are in both.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    /// These phases without the others.
    #[must_use]
    pub const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// The bits of the contract.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }
}

/// The version of HTTP that the client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1, and whatever this kit has no name for.
    Http11,
    /// HTTP/2.
    Http2,
    /// HTTP/3.
    Http3,
}

impl Version {
    pub(crate) fn from_number(number: u8) -> Self {
        match number {
            10 => Self::Http10,
            20 => Self::Http2,
            30 => Self::Http3,
            _ => Self::Http11,
        }
    }
}
