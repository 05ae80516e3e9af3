//! Random chains, behaviours of their filters, and messages.

use eddy_filter::{Phase, Verdict};
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;

/// One exchange: a chain and both messages.
#[derive(Clone, Debug)]
pub(crate) struct ChainScenario {
    pub(crate) steps: Vec<StepSpec>,
    pub(crate) request: MessageSpec,
    pub(crate) response: MessageSpec,
    /// Number of outputs after which the exchange is cut off.
    pub(crate) cancelled_after: Option<u8>,
}

/// Filter of a chain.
#[derive(Clone, Debug)]
pub(crate) struct StepSpec {
    /// Bits of the phases in which the filter is entered.
    pub(crate) phases: u32,
    /// Neighbours of one library are entered together.
    pub(crate) library: u8,
    /// Whether the filter may be left out when it fails.
    pub(crate) is_open: bool,
    pub(crate) body_bytes_max: u64,
    /// Behaviour in each call; the last one repeats.
    pub(crate) actions: Vec<FilterAction>,
}

/// Behaviour of a filter in one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterAction {
    pub(crate) edit: Edit,
    /// Edit after which the filter pauses; `edit` and `verdict` then come when it resumes.
    pub(crate) paused: Option<Edit>,
    pub(crate) verdict: Verdict,
}

/// Edit of a filter; without effect in phases that do not have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edit {
    None,
    /// Adds the step's letter to the head.
    Head,
    /// Adds the step's letter to the body, replaces the body with it, removes two bytes, or all.
    Append,
    Replace,
    Drain,
    Clear,
    /// Gives a body to a message without one.
    Give,
    /// Adds a trailer to those that exist.
    Trailer,
}

/// Message as it arrives.
#[derive(Clone, Debug)]
pub(crate) struct MessageSpec {
    /// Pieces of the body; `None` for a message without one.
    pub(crate) pieces: Option<Vec<u8>>,
    pub(crate) has_trailers: bool,
}

impl MessageSpec {
    /// Returns the pieces, with contents that are different everywhere.
    pub(crate) fn contents(&self) -> Vec<Vec<u8>> {
        let mut next = 0_u8;
        let mut piece = |length: &u8| {
            let from = next;
            next += length;
            (from..next).map(|byte| b'0' + byte % 64).collect()
        };
        self.pieces.iter().flatten().map(&mut piece).collect()
    }
}

/// Event of an exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TraceEvent {
    Call {
        step: u8,
        phase: Phase,
        is_end: bool,
        is_buffered: bool,
        data: Vec<u8>,
        head: Vec<u8>,
        /// Whether the head can still be changed.
        is_head_open: bool,
    },
    /// Head, data, and trailers with the end that are passed on.
    Head(Vec<u8>),
    Data(Vec<u8>),
    End(Vec<u8>),
    Reply(u8),
    Failed(u8),
    TooLarge(u8),
}

/// Body of a filter's reply.
pub(crate) const REPLY: &[u8] = b"reply";

/// Returns the letter that the step puts into what it edits.
pub(crate) fn letter(step: usize) -> u8 {
    b'a' + u8::try_from(step).unwrap()
}

pub(crate) fn exchanges() -> impl Strategy<Value = ChainScenario> {
    (vec(step(), 1..=6), message(), message(), weighted(0.1, 1_u8..30)).prop_map(
        |(steps, request, response, cancelled_after)| ChainScenario {
            steps,
            request,
            response,
            cancelled_after,
        },
    )
}

fn step() -> impl Strategy<Value = StepSpec> {
    let limit = prop_oneof![9 => Just(1000_u64), 1 => 0_u64..12];
    // Most filters are entered in most phases.
    let phases = prop_oneof![3 => Just(0x3f_u32), 4 => 0_u32..0x40];
    (phases, 0_u8..2, any::<bool>(), limit, vec(action(), 1..=4)).prop_map(
        |(phases, library, is_open, body_bytes_max, actions)| StepSpec {
            phases,
            library,
            is_open,
            body_bytes_max,
            actions,
        },
    )
}

fn action() -> impl Strategy<Value = FilterAction> {
    let verdict = prop_oneof![
        12 => Just(Verdict::Continue),
        5 => Just(Verdict::Buffer),
        5 => Just(Verdict::Hold),
        1 => Just(Verdict::Reply),
        1 => Just(Verdict::Fault),
    ];
    (edit(), weighted(0.15, edit()), verdict).prop_map(|(edit, paused, verdict)| FilterAction {
        edit,
        paused,
        verdict,
    })
}

fn edit() -> impl Strategy<Value = Edit> {
    let others = [
        Edit::Head,
        Edit::Append,
        Edit::Append,
        Edit::Replace,
        Edit::Drain,
        Edit::Clear,
        Edit::Give,
        Edit::Trailer,
    ];
    prop_oneof![1 => Just(Edit::None), 2 => select(others.to_vec())]
}

fn message() -> impl Strategy<Value = MessageSpec> {
    (weighted(0.85, vec(0_u8..5, 1..=6)), any::<bool>()).prop_map(|(pieces, has_trailers)| MessageSpec {
        has_trailers: has_trailers && pieces.is_some(),
        pieces,
    })
}
