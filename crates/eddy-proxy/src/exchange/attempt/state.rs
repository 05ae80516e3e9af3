//! One attempt to have a request answered by an endpoint, as a value.

use std::ops::{Deref, DerefMut};
use std::time::Instant;

use eddy_http::HeadScanner;
use eddy_ids::WorkerTime;
use eddy_io::Pool;

use crate::fault::Fault;
use crate::upstream::{EndpointGuard, UpstreamChannel};

/// Maximum number of attempts whose memory a worker keeps.
const ATTEMPTS_IDLE_MAX: usize = 256;

thread_local! {
    /// Memory of the attempts that have ended on this thread.
    static ATTEMPTS: Pool<Box<Option<Attempt>>, ATTEMPTS_IDLE_MAX> = const { Pool::new() };
}

/// Reason why an attempt was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttemptTrigger {
    /// No other attempt was in progress.
    Sequential,
    /// Another attempt had not been answered in time.
    Delay,
}

/// Endpoint chosen for an attempt that has no link yet.
#[derive(Debug)]
pub(crate) struct ChosenEndpoint {
    pub(crate) guard: EndpointGuard,
    pub(crate) trigger: AttemptTrigger,
    /// Deadline of the attempt on the worker's clock.
    pub(crate) deadline: WorkerTime,
}

/// An attempt that has its link: from the request head to the end of the response.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) guard: EndpointGuard,
    pub(crate) trigger: AttemptTrigger,
    /// Deadline on the worker's clock.
    pub(crate) deadline: WorkerTime,
    pub(crate) upstream: UpstreamChannel,
    /// Time at which the link was obtained.
    pub(crate) begun: Instant,
    /// Time at which the endpoint last accepted or sent bytes, on the worker's clock.
    pub(crate) last_progress_at: WorkerTime,
    /// Whether the endpoint accepts no more of the request; it may still have responded.
    pub(crate) is_upload_broken: bool,
    /// Search position for the end of the response head.
    pub(crate) scanner: HeadScanner,
}

impl ChosenEndpoint {
    /// Creates the attempt that this endpoint's link makes possible.
    pub(crate) fn linked(self, upstream: UpstreamChannel, now: WorkerTime) -> Attempt {
        let Self { guard, trigger, deadline } = self;
        Attempt {
            guard,
            trigger,
            deadline,
            upstream,
            begun: Instant::now(),
            last_progress_at: now,
            is_upload_broken: false,
            scanner: HeadScanner::for_responses(),
        }
    }
}

impl Attempt {
    /// Records why the attempt is given up: a link that was silent for too long gets no more requests.
    pub(crate) fn give_up(&self, fault: Fault) {
        if matches!(fault, Fault::FirstByteTimeout | Fault::UpstreamIdle) {
            self.upstream.distrust(self.last_progress_at);
        }
    }
}

/// An attempt in memory of an earlier one, so that it allocates nothing.
#[derive(Debug)]
pub(crate) struct PooledAttempt(Box<Option<Attempt>>);

impl PooledAttempt {
    /// Moves an attempt into memory of an earlier one.
    ///
    /// # Cost
    /// An allocation unless an earlier attempt has given its memory back.
    pub(crate) fn new(attempt: Attempt) -> Self {
        let mut memory = ATTEMPTS.with(Pool::take);
        *memory = Some(attempt);
        Self(memory)
    }

    /// Gives the memory back, and returns the attempt.
    pub(crate) fn into_attempt(self) -> Attempt {
        let Self(mut memory) = self;
        let attempt = memory.take().expect("the memory holds an attempt until it is taken out");
        ATTEMPTS.with(|pool| pool.put(memory));
        attempt
    }
}

impl Deref for PooledAttempt {
    type Target = Attempt;

    fn deref(&self) -> &Attempt {
        self.0.as_ref().as_ref().expect("the memory holds an attempt until it is taken out")
    }
}

impl DerefMut for PooledAttempt {
    fn deref_mut(&mut self) -> &mut Attempt {
        self.0.as_mut().as_mut().expect("the memory holds an attempt until it is taken out")
    }
}
