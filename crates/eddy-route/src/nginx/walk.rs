//! Lookup of the place that handles a request.

use super::request::SiteRequest;
use super::run::NginxLookup;
use super::search::SearchMode;
use super::sites::Sites;
use super::state::{NginxOutcome, NginxRequestState};
use super::trace::Trace;
use crate::request::RouteScratch;

impl Sites {
    /// Finds the place that handles a request.
    ///
    /// # Cost
    /// One table lookup for each label of the host, and one walk along the path for each level; then the expressions
    /// one by one until one matches. Allocates only until the buffers of `walk` and `scratch` have grown.
    pub fn walk(
        &self,
        address: usize,
        request: &SiteRequest<'_>,
        walk: &mut NginxRequestState,
        scratch: &mut RouteScratch,
    ) -> NginxOutcome {
        self.walk_by(SearchMode::Index, address, request, walk, scratch, None)
    }

    /// Finds the place without any index: slow and obviously correct; for tests.
    pub fn walk_sequentially(
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
}
