//! Filter state of an exchange.

use eddy_filter::{Direction, DynamicMetadata, Handle, Phase};
use eddy_http::Field;
use eddy_upstream::ResolvedAddress;

/// State of an exchange's filters; unused without a chain.
#[derive(Debug, Default)]
pub(crate) struct Filtering {
    /// Index of the chain among those of the listener.
    pub(crate) chain: Option<usize>,
    /// Identifies the exchange to filters.
    pub(crate) handle: Option<Handle>,
    /// Number of crossings so far.
    pub(crate) turn: u32,
    /// Per-exchange state of each filter, by step.
    pub(crate) states: Vec<u64>,
    /// Last step that the request head has reached.
    pub(crate) reached: Option<u8>,
    /// Bit set of failed steps that are skipped.
    pub(crate) skipped: u64,
    /// Bit set of steps that have changed something.
    pub(crate) changed: u64,
    pub(crate) request: DirectionState,
    pub(crate) response: DirectionState,
    pub(crate) reply: FilterReply,
    pub(crate) metadata: DynamicMetadata,
    /// Response head, once filters see it; [`super::super::state::Exchange::response`] points into it.
    pub(crate) response_head: Vec<u8>,
    /// Whether a filter has set the request target.
    pub(crate) is_target_own: bool,
    /// Endpoint address that a filter has selected.
    pub(crate) endpoint: Option<EndpointWish>,
    /// Reason that a filter has given for its reply.
    pub(crate) details: Vec<u8>,
    /// Address of the endpoint that responded, as text.
    pub(crate) endpoint_text: EndpointText,
    /// Time at which the request head was complete, in microseconds since 1970.
    pub(crate) started_unix_us: u64,
    /// Duration of the exchange in microseconds, once it is over.
    pub(crate) duration_us: u64,
}

/// Address of an endpoint as text; kept for the next exchange, which often goes to the same endpoint.
#[derive(Debug, Default)]
pub(crate) struct EndpointText {
    address: Option<ResolvedAddress>,
    text: String,
    is_shown: bool,
}

impl EndpointText {
    /// Sets the text to this address.
    pub(crate) fn show(&mut self, address: &ResolvedAddress) {
        self.is_shown = true;
        if self.address.as_ref() != Some(address) {
            self.text = address.to_string();
            self.address = Some(address.clone());
        }
    }

    /// Returns the text; empty before an address was set.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        if self.is_shown { self.text.as_bytes() } else { &[] }
    }
}

/// Endpoint address that a filter has selected for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndpointWish {
    pub(crate) address: Vec<u8>,
    /// Whether to respond 503 when the address does not belong to the cluster.
    pub(crate) is_strict: bool,
}

/// Reply of a filter.
#[derive(Debug, Default)]
pub(crate) struct FilterReply {
    /// Response status; 0 without a reply.
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    /// Header names and values, concatenated.
    pub(crate) text: Vec<u8>,
    /// End offsets of each name and value in `text`.
    pub(crate) ends: Vec<(usize, usize)>,
    /// Reason for the access log entry.
    pub(crate) details: Vec<u8>,
    pub(crate) grpc_status: Option<u32>,
    /// Step that replied.
    pub(crate) place: u8,
}

/// One message on its way through the chain.
#[derive(Debug, Default)]
pub(crate) struct DirectionState {
    /// Whether a message has begun since the last `clear`.
    is_begun: bool,
    /// Last step whose head hook is done.
    pub(crate) head_passed: Option<u8>,
    /// Whether the head has passed the chain.
    pub(crate) is_head_done: bool,
    /// Whether the head has been written and can no longer be changed.
    pub(crate) is_head_sealed: bool,
    /// Whether a filter has removed `content-length`, so that the announced length no longer binds.
    pub(crate) is_length_open: bool,
    /// Last step that changed the length of a piece or of the whole body.
    pub(crate) resized_by: Option<u8>,
    /// Step that buffers the body. The head waits there too, unless it has passed.
    pub(crate) hold: Option<u8>,
    /// Whether that step sees the pieces; what it leaves of them is buffered.
    pub(crate) is_hold_shown: bool,
    /// First step that sees the whole body: the one that first buffered it.
    pub(crate) whole_from: Option<u8>,
    /// Buffered body.
    pub(crate) collected: Vec<u8>,
    /// Whether the whole body has arrived and is in `collected`.
    pub(crate) is_whole: bool,
    /// Last step that has seen the whole body.
    pub(crate) whole_passed: Option<u8>,
    /// Current piece of the body.
    pub(crate) piece: Vec<u8>,
    pub(crate) has_piece: bool,
    /// Last step that the piece has passed.
    pub(crate) piece_passed: Option<u8>,
    /// Whether the piece is the last one.
    pub(crate) is_last: bool,
    /// Whether the last piece has been taken from the source.
    pub(crate) is_ended: bool,
    /// Last step that has seen the trailers.
    pub(crate) trailers_passed: Option<u8>,
    pub(crate) trailers: Trailers,
    /// Pause that the direction waits for.
    pub(crate) wait: Option<FilterPause>,
}

/// Trailers as filters see them.
#[derive(Debug, Default)]
pub(crate) struct Trailers {
    pub(crate) bytes: Vec<u8>,
    pub(crate) fields: Vec<Field>,
}

/// A pause of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FilterPause {
    pub(crate) phase: Phase,
    /// Step that paused.
    pub(crate) step: u8,
    pub(crate) turn: u32,
    /// Deadline on the worker's clock.
    pub(crate) due_ms: u64,
    /// Time at which the exchange goes on by itself, if the filter asked for that.
    pub(crate) goes_on_ms: Option<u64>,
}

/// Capacity above which memory is freed after an exchange rather than kept for the next.
const KEPT_BYTES_MAX: usize = 8 * 1024;

impl Filtering {
    /// Returns the state of one direction.
    pub(crate) fn direction(&mut self, direction: Direction) -> &mut DirectionState {
        match direction {
            Direction::Request => &mut self.request,
            Direction::Response => &mut self.response,
        }
    }

    /// Whether the request head has reached a step.
    pub(crate) fn has_seen(&self, step: u8) -> bool {
        self.request.is_head_done || self.reached.is_some_and(|reached| step <= reached)
    }

    /// Whether the request body was buffered, so that it can be sent again.
    pub(crate) fn has_whole_request(&self) -> bool {
        self.request.is_whole
    }

    /// Resets the state. The handle and the filters' own state must have been released before.
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
    /// Whether a filter has replied.
    pub(crate) fn is_given(&self) -> bool {
        self.status != 0
    }

    /// Adds a header.
    pub(crate) fn add(&mut self, name: &[u8], value: &[u8]) {
        self.text.extend_from_slice(name);
        let name_end = self.text.len();
        self.text.extend_from_slice(value);
        self.ends.push((name_end, self.text.len()));
    }

    /// Returns the headers.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut start = 0;
        self.ends.iter().map(move |(name_end, end)| {
            let name = self.text.get(start..*name_end).unwrap_or_default();
            start = *end;
            (name, self.text.get(*name_end..*end).unwrap_or_default())
        })
    }

    /// Discards the reply.
    pub(crate) fn clear(&mut self) {
        self.status = 0;
        self.ends.clear();
        self.grpc_status = None;
        [&mut self.body, &mut self.text, &mut self.details].into_iter().for_each(free);
    }
}

impl DirectionState {
    /// Prepares for a message.
    pub(crate) fn renew(&mut self) {
        self.clear();
        self.is_begun = true;
    }

    /// Records that the head is written. Does nothing for a message that no filter sees.
    pub(crate) fn seal(&mut self) {
        self.is_head_sealed = self.is_begun;
    }

    /// Resets the state, keeping small buffers.
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
