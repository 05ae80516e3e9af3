//! Whether the client is still there while it waits for its answer.

use std::task::{Context, Poll};

use eddy_http::Version;
use eddy_io::BufferPool;

use crate::exchange::due::Due;
use crate::exchange::state::Exchange;
use crate::fault::Fault;
use crate::session::Downstream;
use crate::worker::Worker;

/// How long an exchange goes on for a client that has closed its side, milliseconds: enough for one that says
/// all it has to say at once and shuts down, not enough to work for one that has left.
const HALF_CLOSE_MS: u64 = 100;

/// Watches a client that has said all of its request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    /// When the client closed its side.
    left_ms: Option<u64>,
}

impl Watch {
    /// Looks whether the client has closed its side, until it has; true when it is found to have.
    ///
    /// # Errors
    /// [`Fault::ClientGone`] for one that is gone altogether.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        down: &mut Downstream,
        pool: &BufferPool,
        now_ms: u64,
    ) -> Result<bool, Fault> {
        if self.left_ms.is_some() {
            return Ok(false);
        }
        let Poll::Ready(left) = down.poll_left(cx, pool) else { return Ok(false) };
        left.map_err(|_| Fault::ClientGone)?;
        self.left_ms = Some(now_ms);
        Ok(true)
    }

    /// When it counts as gone, on the worker's clock; [`u64::MAX`] for one that has not closed its side.
    pub(super) fn due_ms(&self) -> u64 {
        self.left_ms.map_or(u64::MAX, |left_ms| left_ms.saturating_add(HALF_CLOSE_MS))
    }
}

/// How the client is watched until there is a link: nothing of a body that is still to come is read for that, and nothing that
/// goes through a tunnel.
pub(super) fn until_linked(exchange: &Exchange) -> Option<Watch> {
    let is_said = exchange.head.body.is_empty() || exchange.head.version == Version::Http2;
    (is_said && !exchange.upgrade.is_asked()).then(Watch::default)
}

/// Waits for what ends the wait for a link: that the client has left, or what is due. Is woken at `wakes_ms`, too.
pub(super) fn poll_patience(
    cx: &mut Context<'_>,
    down: &mut Downstream,
    worker: &Worker,
    watch: &mut Option<Watch>,
    mut due: Due,
    wakes_ms: u64,
) -> Poll<Fault> {
    let now_ms = worker.timers.now_ms();
    if let Some(watch) = watch {
        if let Err(fault) = watch.poll(cx, down, &worker.buffers, now_ms) {
            return Poll::Ready(fault);
        }
        due.sooner(watch.due_ms(), Fault::ClientGone);
    }
    if due.at_ms <= now_ms {
        return Poll::Ready(due.fault);
    }
    down.timer.register(cx);
    down.timer.arm_at(due.at_ms.min(wakes_ms));
    Poll::Pending
}
