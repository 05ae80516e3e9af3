//! HTTP/2 connection of a client.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use eddy_http::{Http2, Http2Limits};

use crate::downstream::DownstreamClient;
use crate::h2::H2Connection;
use crate::session::listener::ListenerHandle;
use crate::stats::ListenerSeries;
use crate::worker::Worker;

/// HTTP/2 connection of a client.
pub(super) struct Http2Session {
    pub(super) worker: Rc<Worker>,
    pub(super) handle: Rc<ListenerHandle>,
    pub(super) client: Rc<DownstreamClient>,
    pub(super) series: Arc<ListenerSeries>,
    /// Number of exchanges begun.
    pub(super) requests: Cell<u64>,
    pub(super) framed: Rc<H2Connection>,
}

impl Http2Session {
    pub(super) fn new(
        worker: &Rc<Worker>,
        handle: &Rc<ListenerHandle>,
        client: Rc<DownstreamClient>,
        series: Arc<ListenerSeries>,
        limits: Http2Limits,
    ) -> Rc<Self> {
        Rc::new(Self {
            worker: Rc::clone(worker),
            handle: Rc::clone(handle),
            client,
            series,
            requests: Cell::new(0),
            framed: Rc::new(H2Connection::new(Http2::new(limits, worker.timers.now().as_millis()))),
        })
    }
}
