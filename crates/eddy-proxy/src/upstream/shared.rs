//! An HTTP/2 link and the streams of its exchanges.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use eddy_http::{Http2, Loss};
use eddy_ids::WorkerTime;

use crate::fault::Fault;
use crate::h2::{H2Connection, H2Stream};

/// An HTTP/2 link, shared by many exchanges of one worker.
pub(crate) struct SharedLink {
    pub(super) framed: Rc<H2Connection>,
    /// Number of exchanges that hold a stream, or the permit for one.
    held: Cell<u32>,
    /// Number of exchanges that have used the link, current ones included.
    requests: Cell<u64>,
    /// Maximum number of exchanges; 0 for no limit.
    requests_max: u64,
    /// Whether the link gives out no more streams.
    is_retired: Cell<bool>,
    is_closed: Cell<bool>,
    /// Time at which the endpoint last sent bytes, on the worker's clock.
    last_read_at: Cell<WorkerTime>,
    /// Number of reads that returned bytes.
    reads: Cell<u64>,
}

impl SharedLink {
    /// Creates a link that was just established.
    pub(super) fn new(state: Http2, requests_max: u64, now: WorkerTime) -> Self {
        Self {
            framed: Rc::new(H2Connection::new(state)),
            held: Cell::new(0),
            requests: Cell::new(0),
            requests_max,
            is_retired: Cell::new(false),
            is_closed: Cell::new(false),
            last_read_at: Cell::new(now),
            reads: Cell::new(0),
        }
    }

    /// Takes the permit for a stream; `None` when the link is at its maximum or gives out no more.
    pub(super) fn take(self: &Rc<Self>) -> Option<LinkStream> {
        let has_room = self.framed.look(|state| state.may_open() && self.held.get() < state.streams_max());
        if self.is_retired.get() || !has_room {
            return None;
        }
        self.held.set(self.held.get() + 1);
        self.requests.set(self.requests.get() + 1);
        if self.requests_max > 0 && self.requests.get() >= self.requests_max {
            self.is_retired.set(true);
        }
        Some(LinkStream {
            framed: H2Stream::unopened(Rc::clone(&self.framed)),
            link: Rc::clone(self),
            is_first: self.requests.get() == 1,
            reads_before: self.reads.get(),
        })
    }

    /// Gives out no more streams; the link closes when none is left.
    pub(crate) fn retire(&self) {
        self.is_retired.set(true);
        self.framed.wake();
    }

    /// Whether the link should close: it gives out no more streams and none is left.
    pub(super) fn should_close(&self) -> bool {
        self.is_retired.get() && self.has_no_streams()
    }

    /// Whether no stream is in use.
    pub(crate) fn has_no_streams(&self) -> bool {
        self.held.get() == 0
    }

    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// Records that the endpoint has sent bytes.
    pub(super) fn note_read(&self, now: WorkerTime) {
        self.last_read_at.set(now);
        self.reads.set(self.reads.get() + 1);
    }

    /// Records that the link has ended: outstanding requests on it will not be answered.
    pub(super) fn close(&self) {
        self.is_closed.set(true);
        self.is_retired.set(true);
        self.framed.update(|state| state.cut());
    }
}

impl fmt::Debug for SharedLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedLink").field("held", &self.held).finish_non_exhaustive()
    }
}

/// An exchange's stream of a link, from before its request is sent.
#[derive(Debug)]
pub(crate) struct LinkStream {
    pub(super) framed: H2Stream,
    link: Rc<SharedLink>,
    /// Whether this is the first stream of the link.
    is_first: bool,
    /// Number of reads of the link before this stream.
    reads_before: u64,
}

impl LinkStream {
    /// Whether the endpoint supports WebSocket requests (extended CONNECT).
    pub(super) fn supports_tunnels(&self) -> bool {
        self.link.framed.look(|state| state.supports_tunnels())
    }

    /// Returns the HTTP/2 stream.
    pub(crate) fn framed(&self) -> &H2Stream {
        &self.framed
    }

    pub(crate) fn has_body(&self) -> bool {
        self.link.framed.look(|state| state.has_body(self.framed.id()))
    }

    /// Returns the fault of a stream without a response.
    pub(super) fn broken(&self) -> Fault {
        if self.framed.id() == 0 {
            // The request was never sent.
            return Fault::UpstreamGoAway;
        }
        match self.link.framed.look(|state| state.loss(self.framed.id())) {
            Loss::Refused => Fault::StreamRefused,
            Loss::GoawayBeforeProcessing => Fault::UpstreamGoAway,
            Loss::Reset => Fault::StreamReset,
            Loss::Head(fault) => Fault::ResponseHead(fault),
            Loss::Broken => Fault::ResponseFrames,
            // As with HTTP/1: a link that was used before and has been silent since may have been about to close.
            Loss::ConnectionEnded if !self.is_first && self.link.reads.get() == self.reads_before => {
                Fault::LinkStale
            }
            Loss::ConnectionEnded => Fault::LinkClosed,
        }
    }

    pub(super) fn distrust(&self, since: WorkerTime) {
        if self.link.last_read_at.get() <= since {
            self.link.retire();
        }
    }
}

impl Drop for LinkStream {
    fn drop(&mut self) {
        let held = self.link.held.get() - 1;
        self.link.held.set(held);
        if held == 0 {
            self.link.framed.wake();
        }
    }
}
