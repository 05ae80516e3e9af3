//! State of a request that NGINX servers and locations handle.

use eddy_route::nginx::{NginxOutcome, NginxRequestState};

use crate::message::FieldList;

/// State of an exchange's walk through NGINX servers and locations; reused by the next exchange.
#[derive(Debug)]
pub(crate) struct SiteState {
    /// Whether this exchange has begun a walk.
    pub(crate) is_under_way: bool,
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
    pub(in crate::exchange) fn new() -> Box<Self> {
        Box::new(Self {
            is_under_way: false,
            host: Vec::new(),
            key: Vec::new(),
            walk: NginxRequestState::default(),
            outcome: NginxOutcome::Close,
            id: 0,
            fields: FieldList::default(),
            challenges: Vec::new(),
        })
    }
}
