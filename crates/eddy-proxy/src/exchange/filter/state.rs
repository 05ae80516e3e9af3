//! What an exchange remembers of its filters.

use eddy_filter::{Direction, DynamicMetadata, Handle, Phase};
use eddy_http::Field;
use eddy_upstream::ResolvedAddress;

/// The state of an exchange's filters; without a chain, nothing of it is used.
#[derive(Debug, Default)]
pub(crate) struct Filtering {
    /// The chain, by its index among the listener's.
    pub(crate) chain: Option<usize>,
    /// Names the exchange for filters.
    pub(crate) handle: Option<Handle>,
    /// Crossings so far.
    pub(crate) turn: u32,
    /// By step, what each filter keeps of the exchange.
    pub(crate) states: Vec<u64>,
    /// The last step that the request's head has come to.
    pub(crate) reached: Option<u8>,
    /// By step, a bit for each filter that failed and is left out.
    pub(crate) skipped: u64,
    /// By step, a bit for each filter that has changed something.
    pub(crate) changed: u64,
    pub(crate) request: DirectionState,
    pub(crate) response: DirectionState,
    pub(crate) reply: FilterReply,
    pub(crate) metadata: DynamicMetadata,
    /// The response's head once filters are shown it; [`super::super::state::Exchange::response`] points into it.
    pub(crate) response_head: Vec<u8>,
    /// Whether a filter has said what target is sent.
    pub(crate) is_target_own: bool,
    /// The address that a filter wants the request to go to.
    pub(crate) endpoint: Option<EndpointWish>,
    /// Why a filter answered, as it says.
    pub(crate) details: Vec<u8>,
    /// The address of the endpoint that answered, as text.
    pub(crate) endpoint_text: EndpointText,
    /// When the request's head was complete, microseconds since 1970.
    pub(crate) started_unix_us: u64,
    /// How long the exchange took, once it is over.
    pub(crate) duration_us: u64,
}

/// The address of an endpoint as text; kept from one exchange to the next, which often goes to the same.
#[derive(Debug, Default)]
pub(crate) struct EndpointText {
    address: Option<ResolvedAddress>,
    text: String,
    is_shown: bool,
}

impl EndpointText {
    /// Makes it the text of this address.
    pub(crate) fn show(&mut self, address: &ResolvedAddress) {
        self.is_shown = true;
        if self.address.as_ref() != Some(address) {
            self.text = address.to_string();
            self.address = Some(address.clone());
        }
    }

    /// The text; empty before an address was shown.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        if self.is_shown { self.text.as_bytes() } else { &[] }
    }
}

/// An address that a filter wants a request to go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndpointWish {
    pub(crate) address: Vec<u8>,
    /// Whether to answer 503 where it is none of the cluster's.
    pub(crate) is_strict: bool,
}

/// The answer of a filter.
#[derive(Debug, Default)]
pub(crate) struct FilterReply {
    /// Its status; 0 while there is none.
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    /// Names and values, each behind the other.
    pub(crate) text: Vec<u8>,
    /// Where each name and value ends in `text`.
    pub(crate) ends: Vec<(usize, usize)>,
    /// A word for the access record.
    pub(crate) details: Vec<u8>,
    pub(crate) grpc_status: Option<u32>,
    /// The step that answers.
    pub(crate) place: u8,
}

/// One message on its way through the chain.
#[derive(Debug, Default)]
pub(crate) struct DirectionState {
    /// Whether a message has begun since it was new.
    is_begun: bool,
    /// The last step whose hook for the head is done.
    pub(crate) head_passed: Option<u8>,
    /// Whether the head has come through.
    pub(crate) is_head_done: bool,
    /// Whether the head can still be changed: it has not been written.
    pub(crate) is_head_sealed: bool,
    /// Whether a filter wants to be free of the length that its sender announced.
    pub(crate) is_length_open: bool,
    /// The last step that changed the length of a piece, or of the whole.
    pub(crate) resized_by: Option<u8>,
    /// The step that collects the body; the head waits there too unless it is done.
    pub(crate) hold: Option<u8>,
    /// Whether that step is shown the pieces, and what it leaves of them is collected.
    pub(crate) is_hold_shown: bool,
    /// The first step that is shown the whole body: the one that first collected it.
    pub(crate) whole_from: Option<u8>,
    /// What was collected.
    pub(crate) collected: Vec<u8>,
    /// Whether the body has come to its end and is in `collected`.
    pub(crate) is_whole: bool,
    /// The last step that was shown the whole body.
    pub(crate) whole_passed: Option<u8>,
    /// The piece of the body that is on its way.
    pub(crate) piece: Vec<u8>,
    pub(crate) has_piece: bool,
    /// The last step that the piece has passed.
    pub(crate) piece_passed: Option<u8>,
    /// Whether the piece is the last.
    pub(crate) is_last: bool,
    /// Whether the last piece has been taken from the source.
    pub(crate) is_ended: bool,
    /// The last step that was shown the trailers.
    pub(crate) trailers_passed: Option<u8>,
    pub(crate) trailers: Trailers,
    /// Whom the way waits for.
    pub(crate) wait: Option<FilterPause>,
}

/// Trailers that filters are shown.
#[derive(Debug, Default)]
pub(crate) struct Trailers {
    pub(crate) bytes: Vec<u8>,
    pub(crate) fields: Vec<Field>,
}

/// A filter that has paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FilterPause {
    pub(crate) phase: Phase,
    /// The step that paused.
    pub(crate) step: u8,
    pub(crate) turn: u32,
    /// When it must be done, on the worker's clock.
    pub(crate) due_ms: u64,
    /// When the way goes on by itself, if it does.
    pub(crate) goes_on_ms: Option<u64>,
}

/// Capacity above which memory is freed after an exchange rather than kept for the next.
const KEPT_BYTES_MAX: usize = 8 * 1024;

impl Filtering {
    /// One of the two ways.
    pub(crate) fn direction(&mut self, direction: Direction) -> &mut DirectionState {
        match direction {
            Direction::Request => &mut self.request,
            Direction::Response => &mut self.response,
        }
    }

    /// Whether the request's head has come to a step.
    pub(crate) fn has_seen(&self, step: u8) -> bool {
        self.request.is_head_done || self.reached.is_some_and(|reached| step <= reached)
    }

    /// Whether the request's body was collected, so that it can be sent again.
    pub(crate) fn has_whole_request(&self) -> bool {
        self.request.is_whole
    }

    /// Makes it as good as new. The handle and the filters' state have been given up before.
    pub(crate) fn clear(&mut self) {
        if self.chain.is_none() {
            return;
        }
        self.chain = None;
        self.turn = 0;
        self.states.clear();
        self.reached = None;
        self.skipped = 0;
        self.changed = 0;
        self.request.clear();
        self.response.clear();
        self.reply.clear();
        self.metadata.clear();
        free(&mut self.response_head);
        self.is_target_own = false;
        self.endpoint = None;
        self.endpoint_text.is_shown = false;
        self.details.clear();
        self.duration_us = 0;
    }
}

impl FilterReply {
    /// Whether a filter has answered.
    pub(crate) fn is_given(&self) -> bool {
        self.status != 0
    }

    /// Adds a field.
    pub(crate) fn add(&mut self, name: &[u8], value: &[u8]) {
        self.text.extend_from_slice(name);
        let name_end = self.text.len();
        self.text.extend_from_slice(value);
        self.ends.push((name_end, self.text.len()));
    }

    /// The fields.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.ends.iter().map(move |(name_end, end)| {
            let name = self.text.get(start..*name_end).unwrap_or_default();
            start = *end;
            (name, self.text.get(*name_end..*end).unwrap_or_default())
        })
    }

    /// Forgets the answer.
    pub(crate) fn clear(&mut self) {
        self.status = 0;
        self.ends.clear();
        self.grpc_status = None;
        [&mut self.body, &mut self.text, &mut self.details].into_iter().for_each(free);
    }
}

impl DirectionState {
    /// Makes it ready for a message.
    pub(crate) fn renew(&mut self) {
        self.clear();
        self.is_begun = true;
    }

    /// Notes that the head is written. A message that no filter sees has nothing to note.
    pub(crate) fn seal(&mut self) {
        self.is_head_sealed = self.is_begun;
    }

    /// Makes it as good as new.
    pub(crate) fn clear(&mut self) {
        if !std::mem::take(&mut self.is_begun) {
            return;
        }
        let (mut collected, mut piece) =
            (std::mem::take(&mut self.collected), std::mem::take(&mut self.piece));
        let mut trailers = std::mem::take(&mut self.trailers);
        [&mut collected, &mut piece, &mut trailers.bytes].into_iter().for_each(free);
        trailers.fields.clear();
        *self = Self { collected, piece, trailers, ..Self::default() };
    }
}

fn free(bytes: &mut Vec<u8>) {
    bytes.clear();
    bytes.shrink_to(KEPT_BYTES_MAX);
}
