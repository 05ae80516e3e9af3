//! Filter state of an exchange.

use std::rc::Rc;

use eddy_filter::{DynamicMetadata, FilterRun, Handle};
use eddy_io::{Reusable, Reuse};
use eddy_upstream::ResolvedAddress;

use crate::message::FieldList;

/// State of an exchange's filters; unused without a chain.
#[derive(Debug, Default)]
pub(crate) struct Filtering {
    /// Whether the exchange has filters, so that this state is in use.
    pub(crate) is_begun: bool,
    /// Identifies the exchange to filters.
    pub(crate) handle: Option<Handle>,
    /// Number of crossings so far.
    pub(crate) turn: u32,
    /// Request and response on their way through the chain.
    pub(crate) run: FilterRun,
    pub(crate) reply: FilterReply,
    pub(crate) metadata: DynamicMetadata,
    /// Response head, once filters see it; [`super::super::state::Exchange::response`] points into it.
    pub(crate) response_head: Vec<u8>,
    /// Whether a filter has set the request target.
    pub(crate) is_target_own: bool,
    /// Endpoint address that a filter has selected.
    pub(crate) endpoint: Option<EndpointOverride>,
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
    address: Option<Rc<ResolvedAddress>>,
    text: String,
    is_shown: bool,
}

impl EndpointText {
    /// Sets the text to this address.
    pub(crate) fn show(&mut self, address: &Rc<ResolvedAddress>) {
        self.is_shown = true;
        if self.address.as_ref() != Some(address) {
            self.text = address.to_string();
            self.address = Some(Rc::clone(address));
        }
    }

    /// Returns the text; empty before an address was set.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        if self.is_shown { self.text.as_bytes() } else { &[] }
    }
}

/// Endpoint address that a filter has selected for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndpointOverride {
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
    pub(crate) fields: FieldList,
    /// Reason for the access log entry.
    pub(crate) details: Vec<u8>,
    pub(crate) grpc_status: Option<u32>,
    /// Step that replied.
    pub(crate) place: u8,
}

impl Filtering {
    /// Whether the request body was buffered, so that it can be sent again.
    pub(crate) fn has_whole_request(&self) -> bool {
        self.run.request.has_whole()
    }
}

/// The handle and the filters' own state must have been released before.
impl Reusable for Filtering {
    fn empty(&mut self) -> Reuse {
        if !std::mem::take(&mut self.is_begun) {
            return Reuse::Keep;
        }
        self.turn = 0;
        self.run.clear();
        self.reply.empty();
        self.metadata.clear();
        self.is_target_own = false;
        self.endpoint = None;
        self.endpoint_text.is_shown = false;
        [&mut self.response_head, &mut self.details].into_iter().for_each(Reusable::reset);
        self.duration_us = 0;
        Reuse::Keep
    }
}

impl FilterReply {
    /// Whether a filter has replied.
    pub(crate) fn has_reply(&self) -> bool {
        self.status != 0
    }
}

impl Reusable for FilterReply {
    fn empty(&mut self) -> Reuse {
        (self.status, self.grpc_status) = (0, None);
        self.fields.reset();
        [&mut self.body, &mut self.details].into_iter().for_each(Reusable::reset);
        Reuse::Keep
    }
}
