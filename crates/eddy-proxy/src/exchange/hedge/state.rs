//! Hedged attempts of an exchange, besides the current one.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use eddy_config::HedgeConfig;
use eddy_ids::{Millis, WorkerTime};
use eddy_io::{Buffer, BufferPool, Fill, peer_alert};
use tokio::time::timeout;

use crate::exchange::attempt::{AttemptTrigger, ChosenEndpoint, PooledAttempt};
use crate::exchange::due::Due;
use crate::fault::Fault;
use crate::message::Pump;
use crate::upstream::{LinkRequirement, UpstreamChannel};
use crate::worker::Worker;

/// Attempts of an exchange besides the current one. At most [`HedgeConfig::attempts`] plus one are in progress.
#[derive(Debug)]
pub(crate) struct Hedge {
    pub(super) config: HedgeConfig,
    /// Time at which another attempt is sent, on the worker's clock; [`WorkerTime::NEVER`] for none.
    pub(super) deadline: WorkerTime,
    /// Attempts that have no link yet.
    pub(super) coming: Vec<ConnectingAttempt>,
    /// Attempts that wait for a response.
    pub(crate) other_attempts: Vec<HedgedAttempt>,
}

/// An attempt that has no link yet.
pub(super) struct ConnectingAttempt(Pin<Box<dyn Future<Output = LinkOutcome>>>);

/// The endpoint of an attempt that waited for its link, and that link.
pub(super) type LinkOutcome = (ChosenEndpoint, Result<UpstreamChannel, Fault>);

/// An attempt that waits for the first byte of its response, and its two messages.
#[derive(Debug)]
pub(crate) struct HedgedAttempt {
    pub(crate) attempt: PooledAttempt,
    /// Request head on its way to the endpoint; a request that is hedged has no body.
    pub(crate) upload: Pump,
    /// Bytes read from the endpoint.
    pub(crate) input: Buffer,
}

impl Hedge {
    /// Creates the hedging state of an attempt that begins now.
    pub(super) fn new(config: HedgeConfig, now: WorkerTime) -> Self {
        let mut hedge =
            Self { config, deadline: WorkerTime::NEVER, coming: Vec::new(), other_attempts: Vec::new() };
        hedge.wait(now);
        hedge
    }

    /// Schedules another attempt.
    pub(super) fn wait(&mut self, now: WorkerTime) {
        self.deadline = now.deadline(Millis::of(self.config.after));
    }

    /// Starts to wait for a link to a chosen endpoint.
    ///
    /// # Cost
    /// One allocation, besides that of the list.
    pub(crate) fn connect(&mut self, worker: &Rc<Worker>, chosen: ChosenEndpoint) {
        self.coming.push(ConnectingAttempt::begin(worker, chosen));
    }

    /// Whether any attempt besides the current one may still be answered.
    pub(crate) fn has_other_attempts(&self) -> bool {
        self.is_connecting() || !self.other_attempts.is_empty()
    }

    /// Whether an attempt waits for its link.
    pub(crate) fn is_connecting(&self) -> bool {
        !self.coming.is_empty()
    }

    /// Returns the time of the next timeout or attempt, on the worker's clock.
    pub(crate) fn wakes_at(&self, first_byte_timeout: Millis) -> WorkerTime {
        let due = self.other_attempts.iter().map(|rival| rival.due(first_byte_timeout).at).min();
        self.deadline.min(due.unwrap_or(WorkerTime::NEVER))
    }
}

impl ConnectingAttempt {
    fn begin(worker: &Rc<Worker>, chosen: ChosenEndpoint) -> Self {
        let worker = Rc::clone(worker);
        let wanted = match chosen.trigger {
            AttemptTrigger::Sequential => LinkRequirement::Any,
            // The attempt would be lost on a stale link, as it is not sent again.
            AttemptTrigger::Delay => LinkRequirement::Quiet,
        };
        let left = chosen.deadline - worker.timers.now();
        Self(Box::pin(async move {
            let link = timeout(left.as_duration(), worker.obtain(&chosen.guard, wanted)).await;
            (chosen, link.unwrap_or(Err(Fault::AttemptTimeout)))
        }))
    }

    /// Waits for the link.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<LinkOutcome> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for ConnectingAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectingAttempt").finish_non_exhaustive()
    }
}

impl HedgedAttempt {
    /// Creates an attempt whose head is still to be written.
    pub(crate) fn new(attempt: PooledAttempt) -> Self {
        Self { attempt, upload: Pump::default(), input: Buffer::default() }
    }

    /// Writes the rest of the request, and waits for the first byte of a response, which is then in `input`.
    pub(crate) fn poll_first_byte(
        &mut self,
        cx: &mut Context<'_>,
        pool: &BufferPool,
        now: WorkerTime,
        first_byte_timeout: Millis,
    ) -> Poll<Result<(), Fault>> {
        let attempt = &mut *self.attempt;
        while !attempt.is_upload_broken && self.upload.has_output() {
            match attempt.upstream.poll_request(cx, &mut self.upload, &mut Buffer::default()) {
                Poll::Ready(Ok(_)) => attempt.last_progress_at = now,
                // An endpoint may respond early and accept no more; its response decides.
                Poll::Ready(Err(_)) => attempt.is_upload_broken = true,
                Poll::Pending => break,
            }
        }
        match attempt.upstream.poll_fill(cx, &mut self.input, pool) {
            Poll::Ready(Ok(Fill::Bytes(_))) => {
                attempt.last_progress_at = now;
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Ok(Fill::End)) => Poll::Ready(Err(attempt.upstream.broken())),
            Poll::Ready(Err(error)) => {
                let fault = attempt.upstream.broken();
                let alert = peer_alert(&error).filter(|_| fault == Fault::LinkClosed);
                Poll::Ready(Err(alert.map_or(fault, |alert| attempt.guard.fault_of_alert(alert, now))))
            }
            Poll::Pending => {
                let due = self.due(first_byte_timeout);
                if due.at <= now { Poll::Ready(Err(due.fault)) } else { Poll::Pending }
            }
        }
    }

    fn due(&self, first_byte_timeout: Millis) -> Due {
        let mut due = Due { at: self.attempt.deadline, fault: Fault::AttemptTimeout };
        due.sooner(self.attempt.last_progress_at + first_byte_timeout, Fault::FirstByteTimeout);
        due
    }
}
