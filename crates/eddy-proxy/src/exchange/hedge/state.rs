//! Hedged attempts of an exchange, besides the current one.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Instant;

use eddy_config::HedgeConfig;
use eddy_http::HeadScanner;
use eddy_io::{Buffer, BufferPool, Fill, TICK_MS, is_alert};
use tokio::time::timeout;

use crate::exchange::due::Due;
use crate::exchange::pump::Pump;
use crate::fault::Fault;
use crate::link::UpstreamChannel;
use crate::worker::{EndpointGuard, LinkWanted, Worker, millis};

/// Attempts of an exchange besides the current one. At most [`HedgeConfig::attempts`] plus one are in progress.
#[derive(Debug)]
pub(crate) struct Hedge {
    pub(super) config: HedgeConfig,
    /// Time at which another attempt is sent, on the worker's clock; [`u64::MAX`] for never.
    pub(super) due_ms: u64,
    /// Trigger of the current attempt.
    pub(crate) source: AttemptTrigger,
    /// Attempts that have no link yet.
    pub(super) coming: Vec<ConnectingAttempt>,
    /// Attempts that wait for a response.
    pub(crate) rivals: Vec<HedgedAttempt>,
}

/// Reason why an attempt was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttemptTrigger {
    /// No other attempt was in progress.
    Turn,
    /// Another attempt had not been answered in time.
    Delay,
}

/// An attempt that has no link yet.
pub(super) struct ConnectingAttempt {
    obtaining: Pin<Box<dyn Future<Output = Obtained>>>,
    entry: AttemptInfo,
}

/// Properties of an attempt known from its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttemptInfo {
    /// Deadline on the worker's clock.
    pub(super) due_ms: u64,
    pub(super) source: AttemptTrigger,
}

/// Result of waiting for a link.
struct Obtained {
    guard: EndpointGuard,
    link: Result<UpstreamChannel, Fault>,
}

/// An attempt that waits for the first byte of its response.
#[derive(Debug)]
pub(crate) struct HedgedAttempt {
    pub(crate) guard: EndpointGuard,
    pub(crate) upstream: UpstreamChannel,
    pub(crate) upload: Pump,
    pub(crate) input: Buffer,
    pub(crate) scanner: HeadScanner,
    /// Deadline on the worker's clock.
    pub(crate) due_ms: u64,
    pub(crate) source: AttemptTrigger,
    /// Time of the last transfer to or from its endpoint, on the worker's clock.
    pub(crate) moved_ms: u64,
    pub(crate) begun: Instant,
    /// Whether the endpoint accepts no more of the request; it may still have responded.
    pub(crate) is_upload_broken: bool,
}

impl Hedge {
    /// Creates the hedging state of an attempt that begins now.
    pub(super) fn new(config: HedgeConfig, now_ms: u64) -> Self {
        let mut hedge =
            Self { config, due_ms: 0, source: AttemptTrigger::Turn, coming: Vec::new(), rivals: Vec::new() };
        hedge.wait(now_ms);
        hedge
    }

    /// Schedules another attempt.
    pub(super) fn wait(&mut self, now_ms: u64) {
        // The worker's clock may be a tick behind.
        self.due_ms = now_ms.saturating_add(millis(self.config.after)).saturating_add(TICK_MS);
    }

    /// Whether any attempt besides the current one may still be answered.
    pub(crate) fn has_others(&self) -> bool {
        self.is_coming() || !self.rivals.is_empty()
    }

    /// Whether an attempt waits for its link.
    pub(crate) fn is_coming(&self) -> bool {
        !self.coming.is_empty()
    }

    /// Returns the time of the next timeout or attempt, on the worker's clock.
    pub(crate) fn wakes_ms(&self, first_byte_timeout_ms: u64) -> u64 {
        let due = self.rivals.iter().map(|rival| rival.due(first_byte_timeout_ms).at_ms).min();
        self.due_ms.min(due.unwrap_or(u64::MAX))
    }
}

impl ConnectingAttempt {
    /// Starts an attempt that already has its endpoint guard.
    ///
    /// # Cost
    /// One allocation.
    pub(super) fn begin(worker: &Rc<Worker>, guard: EndpointGuard, entry: AttemptInfo) -> Self {
        let worker = Rc::clone(worker);
        let wanted = match entry.source {
            AttemptTrigger::Turn => LinkWanted::Any,
            // The attempt would be lost on a stale link, as it is not sent again.
            AttemptTrigger::Delay => LinkWanted::Quiet,
        };
        let left_ms = entry.due_ms.saturating_sub(worker.timers.now_ms());
        let obtaining = async move {
            let limit = std::time::Duration::from_millis(left_ms);
            let link = timeout(limit, worker.obtain(&guard, wanted)).await;
            Obtained { link: link.unwrap_or(Err(Fault::AttemptTimeout)), guard }
        };
        Self { obtaining: Box::pin(obtaining), entry }
    }

    /// Waits for the link.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<(AttemptInfo, EndpointGuard, Result<UpstreamChannel, Fault>)> {
        self.obtaining.as_mut().poll(cx).map(|Obtained { guard, link }| (self.entry, guard, link))
    }
}

impl fmt::Debug for ConnectingAttempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectingAttempt").field("entry", &self.entry).finish_non_exhaustive()
    }
}

impl HedgedAttempt {
    /// Creates an attempt that has its link and whose head is still to be written.
    pub(super) fn new(
        entry: AttemptInfo,
        guard: EndpointGuard,
        upstream: UpstreamChannel,
        now_ms: u64,
    ) -> Self {
        Self {
            guard,
            upstream,
            upload: Pump::default(),
            input: Buffer::default(),
            scanner: HeadScanner::for_responses(),
            due_ms: entry.due_ms,
            source: entry.source,
            moved_ms: now_ms,
            begun: Instant::now(),
            is_upload_broken: false,
        }
    }

    /// Writes the rest of the request, and waits for the first byte of a response, which is then in `input`.
    ///
    /// # Errors
    /// The reason why there is none.
    pub(crate) fn poll_first_byte(
        &mut self,
        cx: &mut Context<'_>,
        pool: &BufferPool,
        now_ms: u64,
        first_byte_timeout_ms: u64,
    ) -> Poll<Result<(), Fault>> {
        while !self.is_upload_broken && self.upload.has_output() {
            match self.upstream.poll_request(cx, &mut self.upload, &mut Buffer::default()) {
                Poll::Ready(Ok(_)) => self.moved_ms = now_ms,
                // An endpoint may respond early and accept no more; its response decides.
                Poll::Ready(Err(_)) => self.is_upload_broken = true,
                Poll::Pending => break,
            }
        }
        match self.upstream.poll_fill(cx, &mut self.input, pool) {
            Poll::Ready(Ok(Fill::Bytes(_))) => {
                self.moved_ms = now_ms;
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Ok(Fill::End)) => Poll::Ready(Err(self.upstream.broken())),
            Poll::Ready(Err(error)) => {
                let fault = self.upstream.broken();
                let is_alert = fault == Fault::LinkClosed && is_alert(&error);
                Poll::Ready(Err(if is_alert { Fault::TlsAlert } else { fault }))
            }
            Poll::Pending => {
                let due = self.due(first_byte_timeout_ms);
                if due.at_ms <= now_ms { Poll::Ready(Err(due.fault)) } else { Poll::Pending }
            }
        }
    }

    fn due(&self, first_byte_timeout_ms: u64) -> Due {
        let mut due = Due { at_ms: self.due_ms, fault: Fault::AttemptTimeout };
        due.sooner(self.moved_ms.saturating_add(first_byte_timeout_ms), Fault::FirstByteTimeout);
        due
    }
}
