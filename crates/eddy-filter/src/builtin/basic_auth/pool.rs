//! Computes slow forms away from the workers.

use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use zeroize::Zeroizing;

use super::cache::{Cache, PairName};
use super::users::Users;
use super::verify::verify;
use crate::builtin::make::BuiltinContext;
use crate::edit::EditLog;
use crate::filter::LoadError;
use crate::handle::Handle;
use crate::host::HostApi;
use crate::phase::Verdict;

/// A question whether a password is right.
pub(super) struct Job {
    pub(super) exchange: Handle,
    pub(super) turn: u32,
    /// Index of the filter among the steps.
    pub(super) step: u16,
    pub(super) user: Box<[u8]>,
    pub(super) password: Zeroizing<Vec<u8>>,
    pub(super) name: PairName,
    pub(super) now_ms: u64,
}

/// What the threads need, and the filter with them.
#[derive(Debug)]
pub(super) struct CredentialStore {
    pub(super) users: Users,
    pub(super) cache: Cache,
}

/// Writes what is said of a question, once it is known whether the password is right.
pub(super) type Say = dyn Fn(&CredentialStore, &Job, PasswordCheck, &mut EditLog) -> Verdict + Send + Sync;

/// Whether a password is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PasswordCheck {
    /// It is.
    Right,
    /// It is not, or there is no such user.
    Wrong,
}

/// Threads that compute, and the queue before them. The threads end when this is dropped and the queue is empty.
pub(super) struct HashThreadPool {
    queue: SyncSender<Job>,
}

impl HashThreadPool {
    /// So many threads, and so many questions that wait.
    pub(super) fn new(
        threads: u8,
        queue_max: u32,
        known: &Arc<CredentialStore>,
        say: &Arc<Say>,
        context: &BuiltinContext,
    ) -> Result<Self, LoadError> {
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
                message: format!("there is no thread for passwords: {why}"),
            })?;
        }
        Ok(Self { queue })
    }

    /// Puts a question into the queue.
    ///
    /// # Errors
    /// The queue is full, or nobody is there.
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
            // Held while waiting: the others wait for the lock instead, which is all the same.
            let next = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(job) = next else { return };
            let outcome = self.known.judge(&job);
            let mut edits = EditLog::new();
            let verdict = (self.say)(&self.known, &job, outcome, &mut edits);
            // An exchange that is over needs no answer.
            let _ = self.host.resume(job.exchange, job.turn, verdict, edits.bytes_mut());
        }
    }
}

impl CredentialStore {
    /// Whether a password is right; a wrong one takes as long for every name.
    fn judge(&self, job: &Job) -> PasswordCheck {
        // Browsers send several requests at once: the first of them has paid for all.
        if self.cache.has(job.name, job.now_ms) {
            return PasswordCheck::Right;
        }
        let user = self.users.find(&job.user);
        if user.has_password(&job.password) && user.is_somebody {
            if user.form.is_slow() {
                self.cache.remember(job.name, job.now_ms);
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
