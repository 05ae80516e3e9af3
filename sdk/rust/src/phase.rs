//! Phases of an exchange in which filters are called.

use crate::abi;

/// A phase of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Phase {
    /// Request head.
    RequestHead = abi::REQUEST_HEAD,
    /// A piece of the request body, or the whole body.
    RequestBody = abi::REQUEST_BODY,
    /// Request trailers.
    RequestTrailers = abi::REQUEST_TRAILERS,
    /// Head of the final response.
    ResponseHead = abi::RESPONSE_HEAD,
    /// A piece of the response body, or the whole body.
    ResponseBody = abi::RESPONSE_BODY,
    /// Response trailers.
    ResponseTrailers = abi::RESPONSE_TRAILERS,
    /// The exchange has ended and can be logged.
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

    /// Returns the phase with this ABI number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Returns the ABI number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Whether this is a phase of the request.
    #[must_use]
    pub const fn is_request(self) -> bool {
        matches!(self, Self::RequestHead | Self::RequestBody | Self::RequestTrailers)
    }

    /// Whether this is a phase of the response.
    #[must_use]
    pub const fn is_response(self) -> bool {
        matches!(self, Self::ResponseHead | Self::ResponseBody | Self::ResponseTrailers)
    }

    /// Whether a body is available in this phase.
    #[must_use]
    pub const fn is_body(self) -> bool {
        matches!(self, Self::RequestBody | Self::ResponseBody)
    }

    /// Whether trailers are available in this phase.
    #[must_use]
    pub const fn is_trailers(self) -> bool {
        matches!(self, Self::RequestTrailers | Self::ResponseTrailers)
    }
}

/// Phases in which a filter is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interest(u32);

impl Interest {
    /// No phase: the filter is configured and never called.
    pub const NONE: Self = Self(0);

    /// Returns the set of these phases.
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

    /// Whether the filter is called in this phase.
    #[must_use]
    pub const fn has(self, phase: Phase) -> bool {
        self.0 & (1 << phase.number()) != 0
    }

    /// Returns the phases that are in both sets.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    /// Returns these phases without the others.
    #[must_use]
    pub const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Returns the ABI bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }
}

/// HTTP version of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1, and any version unknown to this SDK.
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
