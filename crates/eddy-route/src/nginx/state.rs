//! State and outcome of a request's lookup in servers and locations.

use std::ops::Range;

use eddy_ids::ActionId;

use crate::normalise::Spelling;

/// State of a request. Reused for the next one, so that there are no allocations once its buffers have grown.
#[derive(Debug, Default)]
pub struct NginxRequestState {
    /// Current path.
    pub(crate) path: Vec<u8>,
    /// Current query.
    pub(crate) query: Vec<u8>,
    /// Host in lower case, without a final dot.
    pub(crate) host: Vec<u8>,
    /// Values of the variables of the configuration.
    pub(crate) slots: Vec<Option<Range<usize>>>,
    pub(crate) values: Vec<u8>,
    /// Groups of the last matching expression, and the text that they refer to.
    pub(crate) groups: Vec<Range<usize>>,
    pub(crate) group_text: Vec<u8>,
    /// Body of a response.
    pub(crate) text: Vec<u8>,
    /// Redirect address of a response.
    pub(crate) address: Vec<u8>,
    /// Host, port and URI of an upstream named by a value.
    pub(crate) upstream_host: Vec<u8>,
    pub(crate) upstream_port: Vec<u8>,
    pub(crate) upstream_uri: Vec<u8>,
    pub(crate) spelling: Spelling,
    pub(crate) server: u32,
    pub(crate) place: u32,
    /// Whether it was redirected internally.
    pub(crate) is_internal: bool,
    /// Whether the request still has its original target.
    pub(crate) is_as_sent: bool,
    /// Whether the path still begins with the location's text.
    pub(crate) is_location_matched: bool,
    /// Whether a rewrite requires another location search.
    pub(crate) is_path_changed: bool,
    pub(crate) changes_left: u8,
    /// Response status set by an error page.
    pub(crate) answer_status: Option<u16>,
    pub(crate) has_error_page: bool,
    /// Whether the request was redirected to an error page.
    pub(crate) shows_error_page: bool,
    /// Whether an error page requires `GET` instead of the client's method.
    pub(crate) becomes_get: bool,
    pub(crate) has_address: bool,
    /// Spare buffers for values.
    pub(crate) spare: Vec<Vec<u8>>,
    pub(crate) depth: u8,
    /// Whether a value has exceeded its maximum length.
    pub(crate) is_too_long: bool,
}

/// Outcome of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NginxOutcome {
    /// The request is passed to an upstream.
    Proxy {
        /// Action of the caller.
        action: ActionId,
    },
    /// The response is the text of a `return`; [`NginxRequestState::text`] returns it.
    Text {
        /// Status.
        status: u16,
    },
    /// The response is a redirect; [`Sites::write_location`] writes its address.
    Redirect {
        /// Status.
        status: u16,
    },
    /// A response without a text of its own.
    Status {
        /// Status.
        status: u16,
    },
    /// The connection is closed without a response.
    Close,
}

impl NginxRequestState {
    /// Returns the index of the server or location where the lookup ended.
    pub fn place(&self) -> u32 {
        self.place
    }

    /// Returns the text of a `return`.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the current path.
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// Returns the current query.
    pub fn query(&self) -> &[u8] {
        &self.query
    }

    /// Returns the status that replaces that of the upstream, because the upstream serves an error page.
    pub fn answer_status(&self) -> Option<u16> {
        self.answer_status
    }

    /// Whether the upstream request uses `GET` instead of the client's method.
    pub fn becomes_get(&self) -> bool {
        self.becomes_get
    }

    pub(super) fn begin(&mut self, slots: usize) {
        for buffer in [
            &mut self.path,
            &mut self.query,
            &mut self.host,
            &mut self.values,
            &mut self.group_text,
            &mut self.text,
            &mut self.address,
            &mut self.upstream_host,
            &mut self.upstream_port,
            &mut self.upstream_uri,
        ] {
            buffer.clear();
        }
        self.slots.clear();
        self.slots.resize(slots, None);
        self.groups.clear();
        self.spelling = Spelling::default();
        self.is_internal = false;
        self.is_as_sent = true;
        self.is_location_matched = true;
        self.is_path_changed = false;
        self.changes_left = CHANGES_MAX + 1;
        self.answer_status = None;
        self.has_error_page = false;
        self.shows_error_page = false;
        self.becomes_get = false;
        self.has_address = false;
        self.depth = 0;
        self.is_too_long = false;
    }
}

/// Maximum internal redirects of a request.
const CHANGES_MAX: u8 = 10;
