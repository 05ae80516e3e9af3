//! The life of a client's connection over HTTP/1.

use std::rc::Rc;

use eddy_io::{Peer, Stream};

use crate::exchange::{Next, drive};
use crate::plan::ListenerPlan;
use crate::session::downstream::{Downstream, Wake};
use crate::stats::ListenerSeries;
use crate::worker::{ListenerHandle, Worker, WorkerPlan};

/// Serves a connection until one side ends it.
pub(crate) async fn serve(place: Place, stream: Stream, peer: Peer) {
    let Place { worker, handle, .. } = &place;
    let timer = worker.timers.timer();
    let mut down = Downstream::new(stream, peer, timer);
    while let Some(timeout_ms) = patience(worker, handle, &down) {
        if down.idle(timeout_ms, worker).await != Wake::Readable {
            break;
        }
        let mut exchange = worker.take_exchange();
        let next = drive(worker, handle, &mut down, &mut exchange).await;
        worker.put_exchange(exchange);
        match next {
            Next::KeepAlive => down.release(&worker.buffers),
            Next::Close => break,
            Next::Linger => {
                down.linger(&worker.buffers).await;
                break;
            }
            Next::Abort => {
                // A peer that has gone already has nothing to be told.
                let _ = down.stream.reset_on_close();
                break;
            }
        }
    }
    let input = std::mem::take(&mut down.input);
    worker.buffers.put(input);
}

/// How long to wait for the next request, milliseconds; `None` when there is to be none.
fn patience(worker: &Worker, handle: &ListenerHandle, down: &Downstream) -> Option<u64> {
    let plan = worker.plan();
    let listener = listener_of(&plan, handle)?;
    let timeouts = &listener.config.timeouts;
    // A client that has just connected is about to speak.
    let timeout = if down.requests == 0 { timeouts.head } else { timeouts.idle };
    Some(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX))
}

fn listener_of<'a>(plan: &'a WorkerPlan, handle: &ListenerHandle) -> Option<&'a ListenerPlan> {
    plan.listener(handle.index.get()?)
}

/// The room that a connection takes up, from the moment it is accepted: a burst of them never exceeds a limit.
pub(crate) struct Place {
    worker: Rc<Worker>,
    handle: Rc<ListenerHandle>,
    series: Option<std::sync::Arc<ListenerSeries>>,
}

impl Place {
    pub(crate) fn take(worker: &Rc<Worker>, handle: &Rc<ListenerHandle>) -> Self {
        worker.connections.set(worker.connections.get() + 1);
        worker.series.connections.increment();
        handle.connections.set(handle.connections.get() + 1);
        let plan = worker.plan();
        let series = handle.index.get().and_then(|index| plan.series.listeners.get(index).cloned());
        if let Some(series) = &series {
            series.accepted.increment();
            series.connections.increment();
        }
        Self { worker: Rc::clone(worker), handle: Rc::clone(handle), series }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.worker.connections.set(self.worker.connections.get() - 1);
        self.worker.series.connections.decrement();
        self.handle.connections.set(self.handle.connections.get() - 1);
        if let Some(series) = &self.series {
            series.connections.decrement();
        }
        if std::thread::panicking() {
            self.worker.series.panics.increment();
        }
    }
}
