//! Thread pool that computes slow password hashes off the workers.

use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use eddy_filter::{EditLog, FilterEdit, Handle, HostApi, LoadError, LoadResult};
use eddy_ids::WorkerTime;
use zeroize::Zeroizing;

use super::authenticator::Authenticator;
use super::cache::PairName;
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

/// Thread pool with a bounded queue. The threads end when the pool is dropped and the queue is empty.
pub(super) struct HashThreadPool {
    queue: SyncSender<Job>,
}

impl HashThreadPool {
    /// Starts the threads, with a queue of at most `queue_max` jobs.
    pub(super) fn new(
        threads: u8,
        queue_max: u32,
        authenticator: &Arc<Authenticator>,
        context: &BuiltinContext,
    ) -> LoadResult<Self> {
        let (queue, waiting) = sync_channel(queue_max as usize);
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..threads {
            let worker = Thread {
                waiting: Arc::clone(&waiting),
                authenticator: Arc::clone(authenticator),
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
    pub(super) fn push(&self, job: Job) -> Result<(), TrySendError<Job>> {
        self.queue.try_send(job)
    }
}

struct Thread {
    waiting: Arc<Mutex<Receiver<Job>>>,
    authenticator: Arc<Authenticator>,
    host: Arc<dyn HostApi>,
}

impl Thread {
    fn run(&self) {
        loop {
            // The lock is held while waiting. The other threads wait for the lock instead, which makes no difference.
            let next = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(job) = next else { return };
            let mut edits = EditLog::new();
            // Edits that exceed the limit are refused by the host; a few headers always fit.
            let mut write = |edit: &FilterEdit<'_>| {
                let _ = edits.push(job.step, edit);
            };
            let verdict = if self.authenticator.verify(&job.user, &job.password, job.name, job.now) {
                self.authenticator.accept(self.authenticator.users.find(&job.user), &mut write)
            } else {
                // The lane behind those of the workers is for all other threads.
                let lane = u16::try_from(self.host.workers()).unwrap_or(u16::MAX);
                self.authenticator.refuse(lane, &mut write)
            };
            // If the exchange is over, the result is discarded.
            let _ = self.host.resume(job.exchange, job.turn, verdict, edits.bytes_mut());
        }
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
