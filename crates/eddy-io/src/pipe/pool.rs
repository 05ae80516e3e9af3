//! Pool of kernel pipes: a few per worker, the rest shared by all workers.
//!
//! Creating a pipe costs more than moving 64 KiB through it. Workers take and return pipes without sharing anything:
//! only a worker with no pipe, or with too many, uses the shared overflow, and only creating and closing change the
//! budget.

use std::cell::Cell;
use std::fs;
use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::pipe::{PipeFlags, fcntl_getpipe_size, fcntl_setpipe_size, pipe_with};
use rustix::thread::{CapabilitySet, capabilities};

use crate::pool::{Pool, Reusable, Reuse};

/// Requested pipe capacity in bytes. A pipe of 1 MiB is hardly faster, and the kernel's quota allows four times as many
/// of this size.
pub const PIPE_BYTES: usize = 256 * 1024;
/// Minimum pipe capacity in bytes. A smaller pipe is slower than copying and is not used; the kernel creates such pipes
/// when the user's quota is used up.
pub const PIPE_BYTES_MIN: usize = 64 * 1024;

/// Maximum idle pipes that a worker keeps for itself.
const IDLE_PIPES_MAX: usize = 10;
/// Maximum total pipe capacity of a process, in bytes; the limit of users that are exempt from the kernel's quota.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Kernel setting with the pipe quota of an unprivileged user in pages, and its default.
const QUOTA_FILE: &str = "/proc/sys/fs/pipe-user-pages-soft";
const QUOTA_PAGES: u64 = 16 * 1024;

/// A pipe, empty or not.
#[derive(Debug)]
struct Pipe {
    into: OwnedFd,
    out: OwnedFd,
    /// Capacity in bytes, which counts against the budget until the pipe is closed.
    capacity: usize,
    /// Bytes in the pipe.
    held: usize,
    budget: Arc<PipeBudget>,
}

/// Total capacity of the pipes of a process.
#[derive(Debug)]
struct PipeBudget {
    /// Total capacity of all existing pipes, in bytes.
    bytes: AtomicU64,
    bytes_max: u64,
}

/// Pipes that no worker keeps, bounded by the budget.
type Overflow = Pool<Box<Pipe>, { usize::MAX }>;

/// Pipes of a process: the budget, and the pipes that no worker keeps.
#[derive(Debug)]
pub struct SharedPipes {
    overflow: Mutex<Overflow>,
    budget: Arc<PipeBudget>,
}

/// Pipes of a worker.
#[derive(Debug)]
pub struct PipePool {
    shared: Arc<SharedPipes>,
    own: Pool<Box<Pipe>, IDLE_PIPES_MAX>,
    /// Whether creating a pipe has failed since the last trim: it is not retried for each transfer.
    is_short: Cell<bool>,
}

/// Pipe in use. When dropped, it is returned to the pool, or closed if it still holds bytes.
#[derive(Debug)]
pub struct LeasedPipe {
    pipe: ManuallyDrop<Box<Pipe>>,
    pool: Rc<PipePool>,
}

impl Pipe {
    /// Creates a pipe; `None` when the budget is used up or the kernel grants too little capacity.
    ///
    /// # Cost
    /// Four system calls, some 5 µs.
    fn create(budget: &Arc<PipeBudget>) -> Option<Box<Self>> {
        if budget.bytes.load(Relaxed) + PIPE_BYTES as u64 > budget.bytes_max {
            return None;
        }
        let (out, into) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
        // Beyond the quota the kernel refuses; the capacity that the pipe has then decides.
        let _ = fcntl_setpipe_size(&into, PIPE_BYTES);
        let capacity = fcntl_getpipe_size(&into).ok().filter(|bytes| *bytes >= PIPE_BYTES_MIN)?;
        budget.bytes.fetch_add(capacity as u64, Relaxed);
        Some(Box::new(Self { into, out, capacity, held: 0, budget: Arc::clone(budget) }))
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.budget.bytes.fetch_sub(self.capacity as u64, Relaxed);
    }
}

impl Reusable for Pipe {
    /// The bytes in a pipe belong to one connection, and reading them costs more than another pipe.
    fn empty(&mut self) -> Reuse {
        if self.held == 0 { Reuse::Keep } else { Reuse::Drop }
    }
}

impl SharedPipes {
    /// Creates an empty set whose budget is half of the kernel's quota for this user, at most 256 MiB, or 256 MiB when
    /// the user is exempt from the quota.
    pub fn new() -> Self {
        let is_free = capabilities(None).is_ok_and(|sets| {
            sets.effective.intersects(CapabilitySet::SYS_RESOURCE | CapabilitySet::SYS_ADMIN)
        });
        let pages = fs::read_to_string(QUOTA_FILE).ok().and_then(|text| text.trim().parse().ok());
        // 0 means no limit.
        let quota = match pages.unwrap_or(QUOTA_PAGES) {
            0 => u64::MAX,
            pages => pages.saturating_mul(rustix::param::page_size() as u64) / 2,
        };
        Self::with_budget(if is_free { BYTES_MAX } else { quota.min(BYTES_MAX) })
    }

    /// Creates an empty set with a budget: the maximum total capacity of all pipes, in bytes.
    pub fn with_budget(bytes_max: u64) -> Self {
        let budget = PipeBudget { bytes: AtomicU64::new(0), bytes_max };
        Self { overflow: Mutex::default(), budget: Arc::new(budget) }
    }

    /// Returns the total capacity of all existing pipes, in bytes.
    pub fn bytes(&self) -> u64 {
        self.budget.bytes.load(Relaxed)
    }

    fn overflow(&self) -> MutexGuard<'_, Overflow> {
        self.overflow.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for SharedPipes {
    fn default() -> Self {
        Self::new()
    }
}

impl PipePool {
    /// Creates the pool of one worker.
    pub fn new(shared: Arc<SharedPipes>) -> Rc<Self> {
        Rc::new(Self { shared, own: Pool::new(), is_short: Cell::new(false) })
    }

    /// Returns an empty pipe; `None` when the budget is used up.
    ///
    /// # Cost
    /// Some 5 ns including its [`Drop`] when the worker has an idle pipe; a lock when the overflow has one.
    #[inline]
    pub fn take(self: &Rc<Self>) -> Option<LeasedPipe> {
        let pipe = match self.own.take_idle() {
            Some(pipe) => pipe,
            None => self.take_shared_pipe()?,
        };
        Some(LeasedPipe { pipe: ManuallyDrop::new(pipe), pool: Rc::clone(self) })
    }

    #[cold]
    fn take_shared_pipe(&self) -> Option<Box<Pipe>> {
        let pipe = self.shared.overflow().take_idle();
        if pipe.is_some() || self.is_short.get() {
            return pipe;
        }
        let pipe = Pipe::create(&self.shared.budget);
        self.is_short.set(pipe.is_none());
        pipe
    }

    #[inline]
    fn give(&self, pipe: Box<Pipe>) {
        if self.own.is_full() { self.share_pipe(pipe) } else { self.own.put(pipe) }
    }

    /// Surplus pipes go to other workers.
    #[cold]
    fn share_pipe(&self, pipe: Box<Pipe>) {
        self.shared.overflow().put(pipe);
    }

    /// Closes the worker's pipes that were not needed since the last trim, and allows creating pipes again.
    pub fn trim(&self) {
        self.is_short.set(false);
        drop(self.own.sweep());
    }

    /// Closes the shared pipes that no worker needed since the last trim.
    pub fn trim_shared(&self) {
        let unneeded = self.shared.overflow().sweep();
        // Closed without the lock.
        drop(unneeded);
    }
}

impl LeasedPipe {
    /// Returns the write end.
    pub(super) fn write_end(&self) -> &OwnedFd {
        &self.pipe.into
    }

    /// Returns the read end.
    pub(super) fn read_end(&self) -> &OwnedFd {
        &self.pipe.out
    }

    /// Returns the capacity in bytes.
    pub fn capacity(&self) -> usize {
        self.pipe.capacity
    }

    /// Returns the number of bytes in the pipe.
    pub fn held(&self) -> usize {
        self.pipe.held
    }

    /// Records that this many bytes were written to the pipe.
    pub(super) fn filled(&mut self, bytes: usize) {
        self.pipe.held += bytes;
    }

    /// Records that this many bytes were read from the pipe.
    pub(super) fn drained(&mut self, bytes: usize) {
        self.pipe.held = self.pipe.held.saturating_sub(bytes);
    }
}

impl Drop for LeasedPipe {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the pipe is taken once, here, and nothing touches it afterwards.
        let pipe = unsafe { ManuallyDrop::take(&mut self.pipe) };
        self.pool.give(pipe);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: u64 = 64 * 1024 * 1024;

    #[test]
    fn a_pipe_is_reused() {
        let pool = PipePool::new(Arc::new(SharedPipes::with_budget(MANY)));
        let first = pool.take().unwrap();
        assert_eq!(first.capacity(), PIPE_BYTES);
        drop(first);
        let _second = pool.take().unwrap();
        assert_eq!(pool.shared.bytes(), PIPE_BYTES as u64);
    }

    #[test]
    fn a_pipe_with_bytes_in_it_is_closed() {
        let pool = PipePool::new(Arc::new(SharedPipes::with_budget(MANY)));
        let mut pipe = pool.take().unwrap();
        pipe.filled(1);
        drop(pipe);
        assert_eq!((pool.own.count(), pool.shared.bytes()), (0, 0));
        let mut pipe = pool.take().unwrap();
        pipe.filled(3);
        pipe.drained(3);
        drop(pipe);
        assert_eq!((pool.own.count(), pool.shared.bytes()), (1, PIPE_BYTES as u64));
    }

    #[test]
    fn surplus_pipes_of_a_worker_are_reused_by_others() {
        let shared = Arc::new(SharedPipes::with_budget(MANY));
        let (one, other) = (PipePool::new(Arc::clone(&shared)), PipePool::new(Arc::clone(&shared)));
        let taken: Vec<_> = (0..IDLE_PIPES_MAX + 3).map(|_| one.take().unwrap()).collect();
        let bytes = shared.bytes();
        drop(taken);
        assert_eq!(one.own.count(), IDLE_PIPES_MAX);
        let taken: Vec<_> = (0..3).map(|_| other.take().unwrap()).collect();
        assert_eq!(shared.bytes(), bytes, "none of them is new");
        drop(taken);
        assert_eq!(other.own.count(), 3);
    }

    #[test]
    fn the_budget_is_respected_and_closed_pipes_are_returned_to_it() {
        let shared = Arc::new(SharedPipes::with_budget(2 * PIPE_BYTES as u64));
        let pool = PipePool::new(Arc::clone(&shared));
        let (one, two) = (pool.take().unwrap(), pool.take().unwrap());
        assert!(pool.take().is_none());
        drop(one);
        let _one = pool.take().unwrap();
        let mut two = two;
        two.filled(1);
        drop(two);
        assert!(pool.take().is_none(), "it is not tried again before the pool is trimmed");
        pool.trim();
        assert!(pool.take().is_some());
    }

    #[test]
    fn unused_pipes_are_closed_after_a_while() {
        let shared = Arc::new(SharedPipes::with_budget(MANY));
        let pool = PipePool::new(Arc::clone(&shared));
        let taken: Vec<_> = (0..IDLE_PIPES_MAX + 2).map(|_| pool.take().unwrap()).collect();
        drop(taken);
        pool.trim();
        pool.trim_shared();
        assert_eq!(
            shared.bytes(),
            (IDLE_PIPES_MAX as u64 + 2) * PIPE_BYTES as u64,
            "they were needed until now"
        );
        drop(pool.take());
        drop(pool.take());
        pool.trim();
        pool.trim_shared();
        assert_eq!(shared.bytes(), PIPE_BYTES as u64, "one at a time was in use");
        pool.trim();
        assert_eq!(shared.bytes(), 0);
    }

    #[test]
    fn a_dropped_pool_closes_its_pipes() {
        let shared = Arc::new(SharedPipes::with_budget(MANY));
        let pool = PipePool::new(Arc::clone(&shared));
        drop(pool.take());
        drop(pool);
        assert_eq!(shared.bytes(), 0);
    }
}
