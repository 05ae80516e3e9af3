//! Thread pool that computes slow password hashes off the workers.

use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use eddy_filter::{EditLog, Handle, HostApi, LoadError, LoadResult, Verdict};
use eddy_ids::WorkerTime;
use zeroize::Zeroizing;

use super::cache::{Cache, PairName};
use super::users::Users;
use super::verify::verify;
use crate::context::BuiltinContext;

/// Request to verify a password.
pub(super) struct Job {
    pub(super) exchange: Handle,
    pub(super) turn: u32,
    /// Index of the filter among the chain's steps.
    pub(super) step: u16,
    pub(super) user: Box<[u8]>,
    pub(super) password: Zeroizing<Vec<u8>>,
    pub(super) name: PairName,
    pub(super) now: WorkerTime,
}

/// Users and cache, shared by the filter and the threads.
#[derive(Debug)]
pub(super) struct CredentialStore {
    pub(super) users: Users,
    pub(super) cache: Cache,
}

/// Writes the edits for a job whose outcome is known, and returns the verdict.
pub(super) type Say = dyn Fn(&CredentialStore, &Job, PasswordCheck, &mut EditLog) -> Verdict + Send + Sync;

/// Outcome of a password verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PasswordCheck {
    /// The password is correct.
    Right,
    /// The password is wrong, or the user does not exist.
    Wrong,
}

/// Thread pool with a bounded queue. The threads end when the pool is dropped and the queue is empty.
pub(super) struct HashThreadPool {
    queue: SyncSender<Job>,
}

impl HashThreadPool {
    /// Starts the threads, with a queue of at most `queue_max` jobs.
    pub(super) fn new(
        threads: u8,
        queue_max: u32,
        known: &Arc<CredentialStore>,
        say: &Arc<Say>,
        context: &BuiltinContext,
    ) -> LoadResult<Self> {
        let (queue, waiting) = sync_channel(queue_max as usize);
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..threads {
            let worker = Thread {
                waiting: Arc::clone(&waiting),
                known: Arc::clone(known),
                say: Arc::clone(say),
                host: Arc::clone(&context.host),
            };
            let task = Box::new(move || worker.run());
            context.services.spawn("basic_auth", task).map_err(|why| LoadError::Refused {
                message: format!("cannot start a thread for password verification: {why}"),
            })?;
        }
        Ok(Self { queue })
    }

    /// Enqueues a job.
    ///
    /// # Errors
    /// The queue is full, or no thread is left.
    pub(super) fn ask(&self, job: Job) -> Result<(), TrySendError<Job>> {
        self.queue.try_send(job)
    }
}

struct Thread {
    waiting: Arc<Mutex<Receiver<Job>>>,
    known: Arc<CredentialStore>,
    say: Arc<Say>,
    host: Arc<dyn HostApi>,
}

impl Thread {
    fn run(&self) {
        loop {
            // The lock is held while waiting. The other threads wait for the lock instead, which makes no difference.
            let next = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(job) = next else { return };
            let outcome = self.known.judge(&job);
            let mut edits = EditLog::new();
            let verdict = (self.say)(&self.known, &job, outcome, &mut edits);
            // If the exchange is over, the result is discarded.
            let _ = self.host.resume(job.exchange, job.turn, verdict, edits.bytes_mut());
        }
    }
}

impl CredentialStore {
    /// Verifies a password; a wrong one takes as long for every user name.
    fn judge(&self, job: &Job) -> PasswordCheck {
        // Browsers send several requests at once: only the first one needs the computation.
        if self.cache.has(job.name, job.now) {
            return PasswordCheck::Right;
        }
        let user = self.users.find(&job.user);
        if user.has_password(&job.password) && user.is_somebody {
            if user.form.is_slow() {
                self.cache.remember(job.name, job.now);
            }
            return PasswordCheck::Right;
        }
        let nobody = self.users.nobody();
        if user.form.work() < nobody.form.work() {
            let _ = verify(&nobody.form, &job.password);
        }
        PasswordCheck::Wrong
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("exchange", &self.exchange).finish_non_exhaustive()
    }
}

impl fmt::Debug for HashThreadPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}
