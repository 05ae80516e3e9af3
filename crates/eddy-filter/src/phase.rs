//! Phases of an exchange in which filters are entered, and their verdicts.

use crate::handle::Direction;

/// Phase of an exchange; the numbers are those of the filter ABI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Phase {
    /// Request head.
    RequestHead = 0,
    /// Piece of the request body, or the whole of it.
    RequestBody = 1,
    /// Request trailers.
    RequestTrailers = 2,
    /// Head of the final response.
    ResponseHead = 3,
    /// Piece of the response body, or the whole of it.
    ResponseBody = 4,
    /// Response trailers.
    ResponseTrailers = 5,
    /// The exchange has ended and can still be inspected.
    Log = 6,
    /// The exchange has ended; reported by [`crate::EndedExchange`], not by a phase of its own.
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

    /// Returns the direction of the message that the phase belongs to; that of the request for phases of the exchange.
    pub fn direction(self) -> Direction {
        match self {
            Self::RequestHead | Self::RequestBody | Self::RequestTrailers | Self::Log | Self::End => {
                Direction::Request
            }
            Self::ResponseHead | Self::ResponseBody | Self::ResponseTrailers => Direction::Response,
        }
    }

    /// Whether filters are entered from last to first.
    pub fn is_reversed(self) -> bool {
        self.direction() == Direction::Response
    }

    /// Whether this is a trailers phase.
    pub fn is_of_trailers(self) -> bool {
        matches!(self, Self::RequestTrailers | Self::ResponseTrailers)
    }

    /// Returns the name for metrics and status pages.
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

    /// Returns the phase's bit in an [`Interest`].
    pub fn bit(self) -> u32 {
        1 << (self as u8)
    }
}

/// Phases in which a filter is entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interest(u32);

impl Interest {
    /// Returns the phases whose bits are set; unknown bits are ignored.
    pub fn from_bits(bits: u32) -> Self {
        Self(bits & 0xff)
    }

    /// Returns a set of these phases.
    pub fn of(phases: &[Phase]) -> Self {
        Self(phases.iter().fold(0, |bits, phase| bits | phase.bit()))
    }

    /// Whether the filter is entered in this phase.
    #[inline]
    pub fn has(self, phase: Phase) -> bool {
        self.0 & phase.bit() != 0
    }
}

/// Verdict of a filter on a phase; the numbers are those of the filter ABI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Verdict {
    /// Continue.
    #[default]
    Continue = 0,
    /// Reply as the edits define.
    Reply = 1,
    /// Pause until the filter resumes the exchange.
    Pause = 2,
    /// Buffer the whole body, then enter the filter with it.
    Buffer = 3,
    /// The filter failed.
    Fault = 4,
    /// End the exchange without a response, or without the rest of it.
    Reset = 5,
    /// Hold the head and continue with the body piece by piece: the output for the pieces is held with the head until
    /// the filter returns [`Verdict::Continue`], or the body ends. For built-in filters only; guests have no number for
    /// it.
    Hold = 6,
}

impl Verdict {
    /// Returns the verdict with this number.
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
