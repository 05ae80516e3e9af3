//! Detection of a client that disconnects while it waits for its response.

use std::task::{Context, Poll};

use eddy_http::Version;
use eddy_ids::{Millis, WorkerTime};
use eddy_io::BufferPool;

use crate::downstream::Downstream;
use crate::exchange::context::ExchangeCx;
use crate::exchange::due::Due;
use crate::exchange::state::Exchange;
use crate::fault::Fault;
use crate::worker::Worker;

/// Time that an exchange continues for a client that has closed its side: enough for a client that sends its
/// request and shuts down at once, too little to waste work on one that has left.
const HALF_CLOSE: Millis = Millis::new(100);

/// Watches a client that has sent its whole request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    /// Time at which the client closed its side.
    client_closed_at: Option<WorkerTime>,
}

impl Watch {
    /// Checks whether the client has closed its side; returns true once, when that is detected.
    ///
    /// # Errors
    /// [`Fault::ClientGone`] when the connection is broken.
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        down: &mut Downstream,
        pool: &BufferPool,
        now: WorkerTime,
    ) -> Result<bool, Fault> {
        if self.client_closed_at.is_some() {
            return Ok(false);
        }
        let Poll::Ready(left) = down.poll_client_close(cx, pool) else { return Ok(false) };
        left.map_err(|_| Fault::ClientGone)?;
        self.client_closed_at = Some(now);
        Ok(true)
    }

    /// As [`Self::poll`]; a client that has closed its side sends no further request.
    pub(super) fn watch(&mut self, cx: &mut Context<'_>, ctx: &mut ExchangeCx<'_>) -> Result<(), Fault> {
        let ExchangeCx { down, exchange, worker, .. } = ctx;
        if self.poll(cx, down, &worker.buffers, worker.timers.now())? {
            exchange.head.keep_alive = false;
        }
        Ok(())
    }

    /// Returns the time at which the client counts as gone; [`WorkerTime::NEVER`] while it has not closed its side.
    pub(super) fn deadline(&self) -> WorkerTime {
        self.client_closed_at.map_or(WorkerTime::NEVER, |client_closed_at| client_closed_at + HALF_CLOSE)
    }
}

/// Returns how to watch the client until there is a link: watching must not read a body that is still to come, nor
/// bytes meant for a tunnel.
pub(super) fn until_linked(exchange: &Exchange) -> Option<Watch> {
    let is_said = exchange.head.body.is_empty() || exchange.head.version == Version::Http2;
    (is_said && !exchange.upgrade.is_asked()).then(Watch::default)
}

/// Waits until the client has left or `due` has passed, while a link is obtained. Also wakes at `wakes_at`.
pub(super) fn poll_timeout(
    cx: &mut Context<'_>,
    down: &mut Downstream,
    worker: &Worker,
    watch: &mut Option<Watch>,
    mut due: Due,
    wakes_at: WorkerTime,
) -> Poll<Fault> {
    let now = worker.timers.now();
    if let Some(watch) = watch {
        if let Err(fault) = watch.poll(cx, down, &worker.buffers, now) {
            return Poll::Ready(fault);
        }
        due.sooner(watch.deadline(), Fault::ClientGone);
    }
    if due.at <= now {
        return Poll::Ready(due.fault);
    }
    down.timer.register(cx);
    down.timer.arm_at(due.at.min(wakes_at));
    Poll::Pending
}
