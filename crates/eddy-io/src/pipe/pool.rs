//! Pipes kept from one use to the next: a few by each worker, the rest by all of them together.
//!
//! Making a pipe costs more than moving 64 KiB through it. The workers share nothing while they take and give back:
//! only a worker that has none, or too many, asks the overflow, and only making and closing count against the budget.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, fs};

use rustix::pipe::{PipeFlags, fcntl_getpipe_size, fcntl_setpipe_size, pipe_with};
use rustix::thread::{CapabilitySet, capabilities};

/// What a pipe should hold, bytes: nearly all that one of 1 MiB gives, and four times as many within the quota.
pub const PIPE_BYTES: usize = 256 * 1024;
/// A pipe that holds less is slower than copying, and is not used: what a user gets whose quota is used up.
pub const PIPE_BYTES_LEAST: usize = 64 * 1024;

/// Most idle pipes that a worker keeps for itself.
const OWN_MAX: usize = 10;
/// Most bytes of pipes of a process that the quota of its user does not bind.
const BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Where the kernel says how many pages of pipes a user without privileges can have, and what it says by default.
const QUOTA_FILE: &str = "/proc/sys/fs/pipe-user-pages-soft";
const QUOTA_PAGES: u64 = 16 * 1024;

/// A pipe, empty or not.
#[derive(Debug)]
struct Pipe {
    into: OwnedFd,
    out: OwnedFd,
    /// What it can hold, bytes.
    capacity: usize,
    /// What it holds, bytes.
    held: usize,
}

/// The pipes of a process: what it may have, and those that no worker keeps.
#[derive(Debug)]
pub struct SharedPipes {
    overflow: Mutex<Overflow>,
    /// What all pipes that there are can hold, bytes.
    bytes: AtomicU64,
    bytes_max: u64,
}

#[derive(Debug, Default)]
struct Overflow {
    #[expect(clippy::vec_box, reason = "they move between here and the places of workers, as pointers")]
    pipes: Vec<Box<Pipe>>,
    /// The fewest there were since they were last trimmed.
    least: usize,
}

/// The pipes of a worker.
#[derive(Debug)]
pub struct PipePool {
    shared: Arc<SharedPipes>,
    own: Stack,
    /// The fewest of its own there were since they were last trimmed.
    least: Cell<usize>,
    /// Whether none could be made since then: it is not tried for each transfer.
    is_short: Cell<bool>,
}

/// The pipes that a worker keeps for itself, the last one given back on top.
///
/// Places with a pointer each: what goes in and comes out of memory again at once is then so small that a pipe is taken and
/// given back in a few nanoseconds.
#[derive(Default)]
struct Stack {
    places: [Cell<Option<Box<Pipe>>>; OWN_MAX],
    /// Places in use, from the first on.
    len: Cell<usize>,
}

/// A pipe in use; given back, or closed where bytes are left in it, when it is dropped.
#[derive(Debug)]
pub struct LeasedPipe {
    pipe: ManuallyDrop<Box<Pipe>>,
    pool: Rc<PipePool>,
}

impl SharedPipes {
    /// No pipes yet, and a budget of half of what the kernel lets this user have, or of 256 MiB where it sets no limit.
    pub fn new() -> Self {
        let is_free = capabilities(None).is_ok_and(|sets| {
            sets.effective.intersects(CapabilitySet::SYS_RESOURCE | CapabilitySet::SYS_ADMIN)
        });
        let pages = fs::read_to_string(QUOTA_FILE).ok().and_then(|text| text.trim().parse().ok());
        // 0 stands for no limit.
        let quota = match pages.unwrap_or(QUOTA_PAGES) {
            0 => u64::MAX,
            pages => pages.saturating_mul(rustix::param::page_size() as u64) / 2,
        };
        Self::with_budget(if is_free { BYTES_MAX } else { quota.min(BYTES_MAX) })
    }

    /// No pipes yet, and a budget: what all of them together may hold, bytes.
    pub fn with_budget(bytes_max: u64) -> Self {
        Self { overflow: Mutex::default(), bytes: AtomicU64::new(0), bytes_max }
    }

    /// What all pipes that there are can hold, bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// A new pipe; `None` where there must not be one, or the kernel gives none that is worth its while.
    ///
    /// # Cost
    /// Four system calls, some 5 us.
    fn make(&self) -> Option<Box<Pipe>> {
        if self.bytes() + PIPE_BYTES as u64 > self.bytes_max {
            return None;
        }
        let (out, into) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
        // Beyond the quota the kernel refuses, and what the pipe has then decides.
        let _ = fcntl_setpipe_size(&into, PIPE_BYTES);
        let capacity = fcntl_getpipe_size(&into).ok().filter(|bytes| *bytes >= PIPE_BYTES_LEAST)?;
        self.bytes.fetch_add(capacity as u64, Relaxed);
        Some(Box::new(Pipe { into, out, capacity, held: 0 }))
    }

    fn close(&self, pipe: Box<Pipe>) {
        self.bytes.fetch_sub(pipe.capacity as u64, Relaxed);
        drop(pipe);
    }

    fn take(&self) -> Option<Box<Pipe>> {
        let mut overflow = self.overflow.lock().unwrap_or_else(PoisonError::into_inner);
        let pipe = overflow.pipes.pop();
        overflow.least = overflow.least.min(overflow.pipes.len());
        pipe
    }

    fn give(&self, pipe: Box<Pipe>) {
        self.overflow.lock().unwrap_or_else(PoisonError::into_inner).pipes.push(pipe);
    }

    /// Closes those that nobody has needed since the last time.
    fn trim(&self) {
        let mut overflow = self.overflow.lock().unwrap_or_else(PoisonError::into_inner);
        let unneeded = overflow.least.min(overflow.pipes.len());
        let unneeded: Vec<Box<Pipe>> = overflow.pipes.drain(..unneeded).collect();
        overflow.least = overflow.pipes.len();
        drop(overflow);
        unneeded.into_iter().for_each(|pipe| self.close(pipe));
    }
}

impl Default for SharedPipes {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stack").field("len", &self.len).finish_non_exhaustive()
    }
}

impl Stack {
    #[inline]
    fn pop(&self) -> Option<Box<Pipe>> {
        let len = self.len.get().checked_sub(1)?;
        let pipe = self.places.get(len)?.take();
        self.len.set(len);
        pipe
    }

    /// Puts a pipe on top, or gives it back where there is no place left.
    #[inline]
    fn push(&self, pipe: Box<Pipe>) -> Option<Box<Pipe>> {
        let len = self.len.get();
        let Some(place) = self.places.get(len) else { return Some(pipe) };
        place.set(Some(pipe));
        self.len.set(len + 1);
        None
    }
}

impl PipePool {
    /// The pool of one worker.
    pub fn new(shared: Arc<SharedPipes>) -> Rc<Self> {
        Rc::new(Self { shared, own: Stack::default(), least: Cell::new(0), is_short: Cell::new(false) })
    }

    /// An empty pipe; `None` when there must not be another.
    ///
    /// # Cost
    /// Some 5 ns with its [`Drop`] where the worker keeps one; a lock where the overflow does.
    #[inline]
    pub fn take(self: &Rc<Self>) -> Option<LeasedPipe> {
        let pipe = self.own.pop();
        self.least.set(self.least.get().min(self.own.len.get()));
        let pipe = match pipe {
            Some(pipe) => pipe,
            None => self.take_elsewhere()?,
        };
        Some(LeasedPipe { pipe: ManuallyDrop::new(pipe), pool: Rc::clone(self) })
    }

    #[cold]
    fn take_elsewhere(&self) -> Option<Box<Pipe>> {
        if let Some(pipe) = self.shared.take() {
            return Some(pipe);
        }
        if self.is_short.get() {
            return None;
        }
        let pipe = self.shared.make();
        self.is_short.set(pipe.is_none());
        pipe
    }

    #[inline]
    fn give(&self, pipe: Box<Pipe>) {
        let rest = if pipe.held == 0 { self.own.push(pipe) } else { Some(pipe) };
        if let Some(pipe) = rest {
            self.give_elsewhere(pipe);
        }
    }

    /// Others may have what this worker has too many of; nobody may have what another's bytes are in.
    #[cold]
    fn give_elsewhere(&self, pipe: Box<Pipe>) {
        if pipe.held == 0 { self.shared.give(pipe) } else { self.shared.close(pipe) }
    }

    /// Closes as many pipes of the worker as it has not needed since the last time, and tries to make some again.
    pub fn trim(&self) {
        self.is_short.set(false);
        for _ in 0..self.least.get() {
            let Some(pipe) = self.own.pop() else { break };
            self.shared.close(pipe);
        }
        self.least.set(self.own.len.get());
    }

    /// Closes the pipes of nobody that no worker has needed since the last time.
    pub fn trim_shared(&self) {
        self.shared.trim();
    }
}

impl Drop for PipePool {
    fn drop(&mut self) {
        while let Some(pipe) = self.own.pop() {
            self.shared.close(pipe);
        }
    }
}

impl LeasedPipe {
    /// The end that is written to.
    pub(super) fn write_end(&self) -> &OwnedFd {
        &self.pipe.into
    }

    /// The end that is read from.
    pub(super) fn read_end(&self) -> &OwnedFd {
        &self.pipe.out
    }

    /// What it can hold, bytes.
    pub fn capacity(&self) -> usize {
        self.pipe.capacity
    }

    /// What it holds, bytes.
    pub fn held(&self) -> usize {
        self.pipe.held
    }

    /// Notes that so many bytes have come in.
    pub(super) fn filled(&mut self, bytes: usize) {
        self.pipe.held += bytes;
    }

    /// Notes that so many bytes have gone out.
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
    fn a_pipe_is_used_again() {
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
        assert_eq!((pool.own.len.get(), pool.shared.bytes()), (0, 0));
        let mut pipe = pool.take().unwrap();
        pipe.filled(3);
        pipe.drained(3);
        drop(pipe);
        assert_eq!((pool.own.len.get(), pool.shared.bytes()), (1, PIPE_BYTES as u64));
    }

    #[test]
    fn what_a_worker_has_too_many_of_others_take() {
        let shared = Arc::new(SharedPipes::with_budget(MANY));
        let (one, other) = (PipePool::new(Arc::clone(&shared)), PipePool::new(Arc::clone(&shared)));
        let taken: Vec<_> = (0..OWN_MAX + 3).map(|_| one.take().unwrap()).collect();
        let bytes = shared.bytes();
        drop(taken);
        assert_eq!(one.own.len.get(), OWN_MAX);
        let taken: Vec<_> = (0..3).map(|_| other.take().unwrap()).collect();
        assert_eq!(shared.bytes(), bytes, "none of them is new");
        drop(taken);
        assert_eq!(other.own.len.get(), 3);
    }

    #[test]
    fn the_budget_holds_and_what_is_closed_is_given_back_to_it() {
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
    fn what_is_not_needed_for_a_while_is_closed() {
        let shared = Arc::new(SharedPipes::with_budget(MANY));
        let pool = PipePool::new(Arc::clone(&shared));
        let taken: Vec<_> = (0..OWN_MAX + 2).map(|_| pool.take().unwrap()).collect();
        drop(taken);
        pool.trim();
        shared.trim();
        assert_eq!(shared.bytes(), (OWN_MAX as u64 + 2) * PIPE_BYTES as u64, "they were needed until now");
        drop(pool.take());
        drop(pool.take());
        pool.trim();
        shared.trim();
        assert_eq!(shared.bytes(), PIPE_BYTES as u64, "one at a time was in use");
        pool.trim();
        assert_eq!(shared.bytes(), 0);
    }

    #[test]
    fn a_pool_that_ends_closes_its_pipes() {
        let shared = Arc::new(SharedPipes::with_budget(MANY));
        let pool = PipePool::new(Arc::clone(&shared));
        drop(pool.take());
        drop(pool);
        assert_eq!(shared.bytes(), 0);
    }
}
