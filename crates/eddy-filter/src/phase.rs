//! Where an exchange stands when filters are entered, and what they answer.

/// A phase of an exchange; the numbers are those of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Phase {
    /// The request's head.
    RequestHead = 0,
    /// A piece of the request's body, or the whole of it.
    RequestBody = 1,
    /// The request's trailers.
    RequestTrailers = 2,
    /// The head of the final response.
    ResponseHead = 3,
    /// A piece of the response's body, or the whole of it.
    ResponseBody = 4,
    /// The response's trailers.
    ResponseTrailers = 5,
    /// The exchange is over and can still be looked at.
    Log = 6,
    /// The exchange is over; told by [`crate::Ended`], not by a phase of its own.
    End = 7,
}

impl Phase {
    /// All phases, in order.
    pub const ALL: [Self; 8] = [
        Self::RequestHead,
        Self::RequestBody,
        Self::RequestTrailers,
        Self::ResponseHead,
        Self::ResponseBody,
        Self::ResponseTrailers,
        Self::Log,
        Self::End,
    ];

    /// Whether filters are entered from the last to the first.
    pub fn is_reversed(self) -> bool {
        matches!(self, Self::ResponseHead | Self::ResponseBody | Self::ResponseTrailers)
    }

    /// Whether it is one of trailers.
    pub fn is_of_trailers(self) -> bool {
        matches!(self, Self::RequestTrailers | Self::ResponseTrailers)
    }

    /// A word for metrics and pages.
    pub fn name(self) -> &'static str {
        match self {
            Self::RequestHead => "request_head",
            Self::RequestBody => "request_body",
            Self::RequestTrailers => "request_trailers",
            Self::ResponseHead => "response_head",
            Self::ResponseBody => "response_body",
            Self::ResponseTrailers => "response_trailers",
            Self::Log => "log",
            Self::End => "end",
        }
    }

    /// The phase's bit in an [`Interest`].
    pub fn bit(self) -> u32 {
        1 << (self as u8)
    }
}

/// The phases in which a filter is entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interest(u32);

impl Interest {
    /// The phases whose bits are set; unknown bits mean nothing.
    pub fn from_bits(bits: u32) -> Self {
        Self(bits & 0xff)
    }

    /// These phases.
    pub fn of(phases: &[Phase]) -> Self {
        Self(phases.iter().fold(0, |bits, phase| bits | phase.bit()))
    }

    /// Whether the filter is entered in this phase.
    #[inline]
    pub fn has(self, phase: Phase) -> bool {
        self.0 & phase.bit() != 0
    }
}

/// What a filter says of a phase; the numbers are those of the contract.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Verdict {
    /// Go on.
    #[default]
    Continue = 0,
    /// Answer with what the edits say.
    Reply = 1,
    /// Wait until the filter is done elsewhere.
    Pause = 2,
    /// Collect the whole body, then show it to the filter.
    Buffer = 3,
    /// The filter failed.
    Fault = 4,
    /// End the exchange without an answer, or without the rest of it.
    Reset = 5,
    /// Keep the head back and go on with the body piece by piece: what the filter leaves of the pieces waits with the
    /// head until it says [`Verdict::Continue`], or the body ends. For filters that come with eddy; guests have no
    /// number for it.
    Hold = 6,
}

impl Verdict {
    /// The verdict with this number.
    pub fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::Continue),
            1 => Some(Self::Reply),
            2 => Some(Self::Pause),
            3 => Some(Self::Buffer),
            4 => Some(Self::Fault),
            5 => Some(Self::Reset),
            _ => None,
        }
    }
}
