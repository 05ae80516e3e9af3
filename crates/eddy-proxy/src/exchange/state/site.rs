//! State of a request that NGINX servers and locations handle.

use eddy_io::{Pool, Reusable, Reuse};
use eddy_route::nginx::{NginxOutcome, NginxRequestState};

use crate::message::FieldList;

/// Maximum number of states kept by a worker.
const SITES_IDLE_MAX: usize = 256;

thread_local! {
    /// Memory of the walks that have ended on this thread.
    static SITES: Pool<Box<SiteState>, SITES_IDLE_MAX> = const { Pool::new() };
}

/// State of an exchange's walk through NGINX servers and locations.
#[derive(Debug)]
pub(crate) struct SiteState {
    /// Host sent to the upstream.
    pub(crate) host: Vec<u8>,
    /// Balancing key.
    pub(crate) key: Vec<u8>,
    pub(in crate::exchange) walk: NginxRequestState,
    pub(in crate::exchange) outcome: NginxOutcome,
    pub(in crate::exchange) id: u128,
    /// Headers on their way into the head.
    pub(in crate::exchange) fields: FieldList,
    /// `WWW-Authenticate` challenges of a 401 response that is replaced by an error page: without them a client cannot
    /// log in.
    pub(in crate::exchange) challenges: Vec<Box<str>>,
}

impl SiteState {
    /// Returns the state of a walk that begins, in memory of an earlier one.
    pub(in crate::exchange) fn begin() -> Box<Self> {
        SITES.with(|pool| pool.take_idle()).unwrap_or_else(|| {
            Box::new(Self {
                host: Vec::new(),
                key: Vec::new(),
                walk: NginxRequestState::default(),
                outcome: NginxOutcome::Close,
                id: 0,
                fields: FieldList::default(),
                challenges: Vec::new(),
            })
        })
    }

    /// Ends the walk.
    pub(super) fn end(self: Box<Self>) {
        SITES.with(|pool| pool.put(self));
    }
}

impl Reusable for SiteState {
    fn empty(&mut self) -> Reuse {
        [&mut self.host, &mut self.key].into_iter().for_each(Reusable::reset);
        self.fields.reset();
        self.challenges.clear();
        // The next walk begins by resetting `walk`.
        Reuse::Keep
    }
}
