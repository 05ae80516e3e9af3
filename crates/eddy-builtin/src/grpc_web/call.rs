//! State of a gRPC-Web call, packed into the one number that a filter may keep per exchange.

use super::text::Base64Remainder;

/// State of a gRPC-Web call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WebCall {
    /// Whether the request is Base64-encoded.
    pub(super) has_text_request: bool,
    /// Whether the client wants a Base64-encoded response.
    pub(super) wants_text: bool,
    /// Whether the response is gRPC and must be converted.
    pub(super) is_answered: bool,
    /// Incomplete Base64 group of the request body.
    pub(super) held: Base64Remainder,
}

impl WebCall {
    /// Unpacks a call from a number; `None` for 0.
    pub(super) fn unpack(state: u64) -> Option<Self> {
        let [flags, one, two, three, count, ..] = state.to_le_bytes();
        (flags & IS_CALL != 0).then_some(Self {
            has_text_request: flags & HAS_TEXT_REQUEST != 0,
            wants_text: flags & WANTS_TEXT != 0,
            is_answered: flags & IS_ANSWERED != 0,
            held: Base64Remainder { bytes: [one, two, three], count },
        })
    }

    /// Packs the call into a number; never 0.
    pub(super) fn pack(self) -> u64 {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let flags = IS_CALL
            | flag(self.has_text_request, HAS_TEXT_REQUEST)
            | flag(self.wants_text, WANTS_TEXT)
            | flag(self.is_answered, IS_ANSWERED);
        let Base64Remainder { bytes: [one, two, three], count } = self.held;
        u64::from_le_bytes([flags, one, two, three, count, 0, 0, 0])
    }
}

const IS_CALL: u8 = 1;
const HAS_TEXT_REQUEST: u8 = 2;
const WANTS_TEXT: u8 = 4;
const IS_ANSWERED: u8 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_round_trips_through_its_number() {
        assert_eq!(WebCall::unpack(0), None);
        for bits in 0..8 {
            let call = WebCall {
                has_text_request: bits & 1 != 0,
                wants_text: bits & 2 != 0,
                is_answered: bits & 4 != 0,
                held: Base64Remainder { bytes: [b'a', b'b', bits], count: 2 },
            };
            assert_eq!(WebCall::unpack(call.pack()), Some(call));
        }
    }
}
