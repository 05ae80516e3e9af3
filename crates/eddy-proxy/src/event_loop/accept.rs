//! Accepting of connections from a listening socket, and start of their sessions.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use eddy_ids::Millis;
use eddy_io::{BACKLOG, StreamListener};

use crate::runtime::is_shortage;
use crate::session::{self, ConnectionSlot, ListenerHandle, has_room};
use crate::worker::Worker;

/// Number of idle connections closed at once when there is no capacity, or no descriptor, for another one.
const IDLE_CLOSES_PER_SHED: usize = 32;
/// Time that a connection must have been idle before it is closed for a waiting one, so that a new client can
/// send its request.
const SHED_IDLE: Millis = Millis::new(100);
/// Accept queue length while requests are shed.
const BACKLOG_WHILE_SHEDDING: u32 = 32;

/// Owner of the socket that connections are accepted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AcceptSource {
    /// The worker's own socket.
    Own,
    /// Socket of a worker that has stalled.
    Other,
}

/// Accepts connections until the task is aborted, or until the accept queue is empty once the worker drains.
///
/// Without capacity, connections wait in the kernel's accept queue.
pub(crate) async fn accept(
    worker: Rc<Worker>,
    handle: Rc<ListenerHandle>,
    listener: StreamListener,
    turn: AcceptSource,
) {
    let queue = (turn == AcceptSource::Own).then(|| AcceptQueue::new(&listener));
    let mut accepted_last = 0;
    loop {
        if worker.admission.is_shedding() && !worker.is_draining.get() {
            queue.iter().for_each(AcceptQueue::narrow);
            tokio::select! {
                () = worker.admission.admission() => {}
                () = worker.lifecycle_changed.notified() => {}
            }
        } else {
            queue.iter().for_each(AcceptQueue::widen);
        }
        while !has_room(&worker, &handle) {
            if worker.is_draining.get() {
                return;
            }
            // Idle connections are closed only when another one waits, so that a full gateway without new clients keeps
            // its connections.
            if listener.is_awaited() {
                free_capacity(&worker);
            }
            worker.ticked.notified().await;
        }
        let mut lifecycle_changed = pin!(worker.lifecycle_changed.notified());
        let accepted = poll_fn(|cx| match listener.poll_accept(cx) {
            Poll::Ready(accepted) => Poll::Ready(Some(accepted)),
            Poll::Pending if worker.is_draining.get() => Poll::Ready(None),
            Poll::Pending => lifecycle_changed.as_mut().poll(cx).map(|()| None),
        });
        let accepted = accepted.await;
        if worker.is_draining.get() {
            accepted_last += 1;
            if accepted.is_none() || accepted_last > BACKLOG {
                return;
            }
        }
        match accepted {
            None => {}
            Some(Ok((stream, peer))) => {
                worker.admission.count_accepted();
                if turn == AcceptSource::Other {
                    worker.series.accepts_for_stalled.increment();
                }
                let place = ConnectionSlot::take(&worker, &handle);
                tokio::task::spawn_local(session::serve(place, stream, peer));
            }
            Some(Err(error)) => {
                worker.series.accepts_failed.increment();
                if is_shortage(&error) {
                    worker.free_descriptors(IDLE_CLOSES_PER_SHED);
                    worker.ticked.notified().await;
                }
            }
        }
    }
}

/// The kernel's accept queue of a socket.
///
/// While requests are shed it is short: connections that cannot be served in time are refused where that costs least,
/// and clients try again.
struct AcceptQueue<'a> {
    listener: &'a StreamListener,
    is_backlog_reduced: Cell<bool>,
}

impl<'a> AcceptQueue<'a> {
    fn new(listener: &'a StreamListener) -> Self {
        // A process that died while it shed requests has left the queue short.
        Self { listener, is_backlog_reduced: Cell::new(true) }
    }

    fn narrow(&self) {
        if !self.is_backlog_reduced.replace(true) {
            // A queue of another length works, too.
            let _ = self.listener.set_backlog(BACKLOG_WHILE_SHEDDING);
        }
    }

    fn widen(&self) {
        if self.is_backlog_reduced.replace(false) {
            let _ = self.listener.set_backlog(BACKLOG);
        }
    }
}

impl Drop for AcceptQueue<'_> {
    fn drop(&mut self) {
        self.widen();
    }
}

/// Closes idle connections for one that waits: the worker's own, or, if the worker has less than its share, those of
/// workers that have more than theirs.
fn free_capacity(worker: &Worker) {
    let is_full = worker.room.is_full(worker.plan().plan.config.settings.limits.connections_max);
    if is_full && worker.series.connections.value() < fair_share(worker) {
        worker.room.want();
    } else {
        worker.close_idle(IDLE_CLOSES_PER_SHED, SHED_IDLE);
    }
}

/// Closes idle connections when another worker has asked for capacity and this one has more than its share.
pub(crate) fn yield_capacity(worker: &Worker) {
    if worker.series.connections.value() > fair_share(worker) && worker.room.take_capacity_request() {
        worker.close_idle(IDLE_CLOSES_PER_SHED, SHED_IDLE);
    }
}

/// Returns the share of each worker in the connection limit.
fn fair_share(worker: &Worker) -> u64 {
    worker.share_of(worker.room.size(worker.plan().plan.config.settings.limits.connections_max)).into()
}
