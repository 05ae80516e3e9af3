//! What one request remembers on its way through servers and locations, and where the way ends.

use std::ops::Range;

use super::explain::Trace;
use super::request::SiteRequest;
use super::run::NginxLookup;
use super::search::SearchMode;
use super::sites::Sites;
use crate::normalise::Spelling;
use crate::request::RouteScratch;

/// The state of a request. Used again for the next one, so that none allocates once its buffers have grown.
#[derive(Debug, Default)]
pub struct NginxRequestState {
    /// The path as it is now.
    pub(crate) path: Vec<u8>,
    /// The query as it is now.
    pub(crate) query: Vec<u8>,
    /// The host in lower case, without a final dot.
    pub(crate) host: Vec<u8>,
    /// What the variables of the configuration hold.
    pub(crate) slots: Vec<Option<Range<usize>>>,
    pub(crate) values: Vec<u8>,
    /// What the groups of the last expression hold, and the text that they are pieces of.
    pub(crate) groups: Vec<Range<usize>>,
    pub(crate) group_text: Vec<u8>,
    /// The body of an answer.
    pub(crate) text: Vec<u8>,
    /// The address that an answer sends the client to.
    pub(crate) address: Vec<u8>,
    /// Host, port and URI of an upstream that a value named.
    pub(crate) upstream_host: Vec<u8>,
    pub(crate) upstream_port: Vec<u8>,
    pub(crate) upstream_uri: Vec<u8>,
    pub(crate) spelling: Spelling,
    pub(crate) server: u32,
    pub(crate) place: u32,
    /// Whether it has been sent on inside.
    pub(crate) is_internal: bool,
    /// Whether the target as it was sent still stands for it.
    pub(crate) is_as_sent: bool,
    /// Whether the path still begins with the location's text.
    pub(crate) is_place_valid: bool,
    /// Whether a rewrite asks for another search.
    pub(crate) is_path_changed: bool,
    pub(crate) changes_left: u8,
    /// The status that an error page answers with.
    pub(crate) answer_status: Option<u16>,
    pub(crate) has_error_page: bool,
    /// Whether the request was sent on to an error page.
    pub(crate) shows_error_page: bool,
    /// Whether an error page asks for `GET` in place of the client's method.
    pub(crate) becomes_get: bool,
    pub(crate) has_address: bool,
    /// Buffers of values that are being put together.
    pub(crate) spare: Vec<Vec<u8>>,
    pub(crate) depth: u8,
    /// Whether a value has grown too long.
    pub(crate) is_too_long: bool,
}

/// Where a walk ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NginxOutcome {
    /// An upstream answers.
    Proxy {
        /// What the caller does.
        action: u32,
    },
    /// The text of a `return` is the answer; [`Walk::text`] has it.
    Text {
        /// The status.
        status: u16,
    },
    /// The client is sent elsewhere; [`Sites::write_location`] has the address.
    Redirect {
        /// The status.
        status: u16,
    },
    /// An answer without a text of its own.
    Status {
        /// The status.
        status: u16,
    },
    /// The connection is closed without an answer.
    Close,
}

impl NginxRequestState {
    /// The server or location that the walk ended in, by index.
    pub fn place(&self) -> u32 {
        self.place
    }

    /// The text of a `return`.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The path as it is now.
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// The query as it is now.
    pub fn query(&self) -> &[u8] {
        &self.query
    }

    /// The status that takes the place of the upstream's, since an error page answers.
    pub fn answer_status(&self) -> Option<u16> {
        self.answer_status
    }

    /// Whether the upstream is asked with `GET` in place of the client's method.
    pub fn becomes_get(&self) -> bool {
        self.becomes_get
    }

    fn begin(&mut self, slots: usize) {
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
        self.is_place_valid = true;
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

impl Sites {
    /// Takes a request to the place that answers it.
    ///
    /// # Cost
    ///
    /// A look at one table for each label of the host and one walk along the path a level; then one expression after the
    /// other until one matches. Allocates only until the buffers of `walk` and `scratch` have grown.
    pub fn walk(
        &self,
        address: usize,
        request: &SiteRequest<'_>,
        walk: &mut NginxRequestState,
        scratch: &mut RouteScratch,
    ) -> NginxOutcome {
        self.walk_by(SearchMode::Index, address, request, walk, scratch, None)
    }

    /// The same without any index: slowly, and obviously right; for tests.
    pub fn walk_plainly(
        &self,
        address: usize,
        request: &SiteRequest<'_>,
        walk: &mut NginxRequestState,
        scratch: &mut RouteScratch,
    ) -> NginxOutcome {
        self.walk_by(SearchMode::Plain, address, request, walk, scratch, None)
    }

    pub(crate) fn walk_by(
        &self,
        means: SearchMode,
        address: usize,
        request: &SiteRequest<'_>,
        walk: &mut NginxRequestState,
        scratch: &mut RouteScratch,
        trace: Option<&mut Trace>,
    ) -> NginxOutcome {
        walk.begin(self.variables().len());
        let run = NginxLookup { sites: self, request, walk, scratch: &mut scratch.pattern, means, trace };
        run.walk_from_start(address)
    }

    /// Goes on after an upstream failed or its answer is replaced: where `error_page` of the place leads.
    ///
    /// `None` where no page is for the status, and the answer stays as it is.
    pub fn walk_on_error(
        &self,
        status: u16,
        request: &SiteRequest<'_>,
        walk: &mut NginxRequestState,
        scratch: &mut RouteScratch,
    ) -> Option<NginxOutcome> {
        let run = NginxLookup {
            sites: self,
            request,
            walk,
            scratch: &mut scratch.pattern,
            means: SearchMode::Index,
            trace: None,
        };
        run.after_failure(status)
    }
}

/// How often a request may be sent on inside.
const CHANGES_MAX: u8 = 10;
