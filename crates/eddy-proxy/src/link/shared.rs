//! A link of HTTP/2 and what exchanges have of it.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use eddy_http::{Http2, Loss};

use crate::fault::Fault;
use crate::h2::{H2Connection, H2Stream};

/// A link of HTTP/2, which many exchanges of one worker share.
pub(crate) struct SharedLink {
    pub(super) framed: Rc<H2Connection>,
    /// Exchanges that have a stream, or room for one.
    held: Cell<u32>,
    /// Exchanges that have had one, those that have it counted.
    requests: Cell<u64>,
    /// After how many no more get one; 0 for no limit.
    requests_max: u64,
    /// Whether no more get one.
    is_retired: Cell<bool>,
    is_closed: Cell<bool>,
    /// When the endpoint last sent something, on the worker's clock.
    read_ms: Cell<u64>,
    /// How often it has.
    reads: Cell<u64>,
}

impl SharedLink {
    /// A link that was just established.
    pub(super) fn new(state: Http2, requests_max: u64, now_ms: u64) -> Self {
        Self {
            framed: Rc::new(H2Connection::new(state)),
            held: Cell::new(0),
            requests: Cell::new(0),
            requests_max,
            is_retired: Cell::new(false),
            is_closed: Cell::new(false),
            read_ms: Cell::new(now_ms),
            reads: Cell::new(0),
        }
    }

    /// Room for a stream; `None` where the link has as many as it may, or gets no more.
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
            stream: H2Stream::unopened(Rc::clone(&self.framed)),
            link: Rc::clone(self),
            is_first: self.requests.get() == 1,
            reads_before: self.reads.get(),
        })
    }

    /// Gives no more streams out; the link closes when none is left.
    pub(crate) fn retire(&self) {
        self.is_retired.set(true);
        self.framed.wake();
    }

    /// Whether it is to be closed, as nobody has a stream and none is given out.
    pub(super) fn is_to_leave(&self) -> bool {
        self.is_retired.get() && self.is_at_rest()
    }

    /// Whether nobody has a stream.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.held.get() == 0
    }

    /// Whether it was closed.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    /// Takes note that the endpoint has sent something.
    pub(super) fn note_read(&self, now_ms: u64) {
        self.read_ms.set(now_ms);
        self.reads.set(self.reads.get() + 1);
    }

    /// Takes note that the link has ended: what was not answered on it never is.
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

/// An exchange's stream of a link, from before its request was sent.
#[derive(Debug)]
pub(crate) struct LinkStream {
    stream: H2Stream,
    link: Rc<SharedLink>,
    /// Whether nobody had one before.
    is_first: bool,
    /// How often the endpoint had sent something before.
    reads_before: u64,
}

impl LinkStream {
    /// The stream itself.
    pub(super) fn framed(&self) -> &H2Stream {
        &self.stream
    }

    /// Whether the endpoint takes requests for WebSockets.
    pub(super) fn takes_tunnels(&self) -> bool {
        self.link.framed.look(|state| state.takes_tunnels())
    }

    pub(super) fn has_body(&self) -> bool {
        self.link.framed.look(|state| state.has_body(self.stream.id()))
    }

    /// Why there is no answer.
    pub(super) fn broken(&self) -> Fault {
        if self.stream.id() == 0 {
            // It was never sent.
            return Fault::LinkLeft;
        }
        match self.link.framed.look(|state| state.loss(self.stream.id())) {
            Loss::Refused => Fault::StreamRefused,
            Loss::Left => Fault::LinkLeft,
            Loss::Reset => Fault::StreamReset,
            Loss::Head(fault) => Fault::ResponseHead(fault),
            Loss::Broken => Fault::ResponseFrames,
            // As of HTTP/1: a link that was used before and has said nothing since may have been about to close.
            Loss::Cut if !self.is_first && self.link.reads.get() == self.reads_before => Fault::LinkStale,
            Loss::Cut => Fault::LinkClosed,
        }
    }

    pub(super) fn distrust(&self, since_ms: u64) {
        if self.link.read_ms.get() <= since_ms {
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
