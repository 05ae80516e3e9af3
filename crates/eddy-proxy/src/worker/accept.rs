//! Takes connections from a listening socket and starts their sessions.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use eddy_io::{BACKLOG, StreamListener};
use rustix::io::Errno;

use crate::session::{self, ConnectionSlot};
use crate::worker::state::{ListenerHandle, Worker, share};

/// How many idle connections are closed at once when there is no room, or no descriptor, for another.
const SHED_AT_ONCE: usize = 32;
/// How long a connection has been idle when one that waits for its place displaces it, milliseconds: who has just
/// connected gets to speak.
const SHED_IDLE_MS: u64 = 100;
/// How many connections may wait to be accepted while requests are shed.
const BACKLOG_IN_CROWD: u32 = 32;

/// Whose socket connections are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AcceptSource {
    /// The worker's own.
    Own,
    /// That of a worker that has fallen silent.
    Other,
}

/// Accepts until the task is aborted, or until the queue is empty once the worker drains.
///
/// While there is no room, connections wait in the kernel's queue.
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
                () = worker.turned.notified() => {}
            }
        } else {
            queue.iter().for_each(AcceptQueue::widen);
        }
        while !has_room(&worker, &handle) {
            if worker.is_draining.get() {
                return;
            }
            // Only those who wait at the door displace others, so a full house at rest stays as it is.
            if listener.is_awaited() {
                make_room(&worker);
            }
            worker.ticked.notified().await;
        }
        let mut turned = pin!(worker.turned.notified());
        let accepted = poll_fn(|cx| match listener.poll_accept(cx) {
            Poll::Ready(accepted) => Poll::Ready(Some(accepted)),
            Poll::Pending if worker.is_draining.get() => Poll::Ready(None),
            Poll::Pending => turned.as_mut().poll(cx).map(|()| None),
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
                    worker.series.accepts_for_others.increment();
                }
                let place = ConnectionSlot::take(&worker, &handle);
                tokio::task::spawn_local(session::serve(place, stream, peer));
            }
            Some(Err(error)) => {
                worker.series.accepts_failed.increment();
                if is_shortage(&error) {
                    worker.free_descriptors(SHED_AT_ONCE);
                    worker.ticked.notified().await;
                }
            }
        }
    }
}

/// The kernel's queue of connections that wait to be accepted.
///
/// While requests are shed it is narrow: those whom nobody will serve in time are turned away where it costs least, and try again.
struct AcceptQueue<'a> {
    listener: &'a StreamListener,
    is_narrow: Cell<bool>,
}

impl<'a> AcceptQueue<'a> {
    fn new(listener: &'a StreamListener) -> Self {
        // A process that died while it shed requests has left it narrow.
        Self { listener, is_narrow: Cell::new(true) }
    }

    fn narrow(&self) {
        if !self.is_narrow.replace(true) {
            // A queue of another length works all the same.
            let _ = self.listener.set_backlog(BACKLOG_IN_CROWD);
        }
    }

    fn widen(&self) {
        if self.is_narrow.replace(false) {
            let _ = self.listener.set_backlog(BACKLOG);
        }
    }
}

impl Drop for AcceptQueue<'_> {
    fn drop(&mut self) {
        self.widen();
    }
}

/// Whether there is room for another connection, or another session of datagrams.
pub(crate) fn has_room(worker: &Worker, handle: &ListenerHandle) -> bool {
    let plan = worker.plan();
    let listener = handle.index.get().and_then(|index| plan.listener(index));
    let Some(listener) = listener else { return false };
    let of_listener = share(listener.config.limits.connections_max, worker.workers);
    !worker.room.is_full(plan.plan.config.limits.connections_max) && handle.connections.get() < of_listener
}

/// Closes idle connections for one that waits: the worker's own, or those of workers that have more than their share where
/// it has less than its own.
fn make_room(worker: &Worker) {
    let is_full = worker.room.is_full(worker.plan().plan.config.limits.connections_max);
    if is_full && worker.connections.get() < fair_share(worker) {
        worker.room.want();
    } else {
        worker.close_idle(SHED_AT_ONCE, SHED_IDLE_MS);
    }
}

/// Closes idle connections where another worker asked for room and this one has more than its share.
pub(crate) fn give_room(worker: &Worker) {
    if worker.connections.get() > fair_share(worker) && worker.room.take_wanted() {
        worker.close_idle(SHED_AT_ONCE, SHED_IDLE_MS);
    }
}

/// What each worker could have if all had the same.
fn fair_share(worker: &Worker) -> u32 {
    share(worker.room.size(worker.plan().plan.config.limits.connections_max), worker.workers)
}

/// Whether an error of a new socket will come again at once unless something is freed.
pub(crate) fn is_shortage(error: &io::Error) -> bool {
    let shortages = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    shortages.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
