//! Threads that resume paused exchanges in any order, too often and too late.

use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use eddy_filter::{EditLog, Handle, HostApi, Phase, Verdict};
use eddy_proxy::FilterHost;
use eddy_upstream::Rng;

use super::book::{Book, POISON, word_of};
use super::script::RandomHook;

const THREADS: u64 = 4;

/// A pause to be ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PauseHandle {
    pub(crate) exchange: Handle,
    pub(crate) turn: u32,
    pub(crate) phase: Phase,
    pub(crate) word: u64,
}

#[derive(Default)]
pub(crate) struct PausePool {
    held: Mutex<PausePoolState>,
    arrived: Condvar,
}

#[derive(Default)]
struct PausePoolState {
    paused: Vec<PauseHandle>,
    is_closed: bool,
    /// Exchange and turn of finished pauses, which must not be resumed again.
    done: HashSet<(u64, u32)>,
}

impl PausePool {
    pub(crate) fn put(&self, paused: PauseHandle) {
        self.held.lock().unwrap().paused.push(paused);
        self.arrived.notify_one();
    }

    pub(crate) fn close(&self) {
        self.held.lock().unwrap().is_closed = true;
        self.arrived.notify_all();
    }

    /// Returns a random pause; `None` once the pool is closed and empty.
    fn draw(&self, rng: &mut Rng) -> Option<PauseHandle> {
        let mut held = self.held.lock().unwrap();
        loop {
            let few = held.paused.len() < 3 && rng.below(4) > 0;
            if !held.paused.is_empty() && !few {
                let index = rng.index(held.paused.len());
                return Some(held.paused.swap_remove(index));
            }
            if held.is_closed && held.paused.is_empty() {
                return None;
            }
            // A few more make the order more random; they may never come.
            held = self.arrived.wait_timeout(held, Duration::from_millis(1)).unwrap().0;
        }
    }
}

/// Starts the threads; they end when the pool is closed.
pub(crate) fn resumers(
    seed: u64,
    host: &Arc<FilterHost>,
    book: &Arc<Book>,
    pool: &Arc<PausePool>,
) -> Vec<JoinHandle<()>> {
    let start = |thread: u64| {
        let (host, book, pool) = (Arc::clone(host), Arc::clone(book), Arc::clone(pool));
        std::thread::spawn(move || {
            let rng = Rng::new(seed ^ thread << 50);
            Resumer { rng, host, book, pool, old: Vec::new() }.run();
        })
    };
    (0..THREADS).map(start).collect()
}

struct Resumer {
    rng: Rng,
    host: Arc<FilterHost>,
    book: Arc<Book>,
    pool: Arc<PausePool>,
    /// Pauses that were resumed.
    old: Vec<PauseHandle>,
}

impl Resumer {
    fn run(mut self) {
        let pool = Arc::clone(&self.pool);
        while let Some(paused) = pool.draw(&mut self.rng) {
            if self.rng.below(32) == 0 {
                // Forgotten: the gateway goes on without it.
                continue;
            }
            if self.resume(paused) {
                self.old.push(paused);
            }
            if self.rng.below(3) == 0 && !self.old.is_empty() {
                let index = self.rng.index(self.old.len());
                self.poison(self.old[index]);
            }
            if self.old.len() > 64 {
                self.old.swap_remove(0);
            }
        }
    }

    /// Resumes; returns whether that was accepted. At most one attempt per pause may be.
    fn resume(&mut self, paused: PauseHandle) -> bool {
        let mut edits = EditLog::new();
        let draw = self.rng.bits();
        let mut hook = RandomHook { rng: Rng::new(draw), word: word_of(paused.word), phase: paused.phase };
        hook.edit(0, &mut edits);
        let verdict = match self.rng.below(60) {
            0..=1 => hook.reply(0, &mut edits),
            2 => Verdict::Fault,
            3 => Verdict::Reset,
            4..=6 => Verdict::Buffer,
            _ => Verdict::Continue,
        };
        let is_accepted = self.host.resume(paused.exchange, paused.turn, verdict, edits.bytes_mut()).is_ok();
        let tally = &self.book.tally;
        (if is_accepted { &tally.resumed } else { &tally.refused }).fetch_add(1, Relaxed);
        if is_accepted && !self.pool.held.lock().unwrap().done.insert((paused.exchange.number(), paused.turn))
        {
            self.book.complain(format!("{paused:?} was resumed twice"));
        }
        is_accepted
    }

    /// Resumes a pause that was resumed before, with another exchange's word.
    fn poison(&mut self, old: PauseHandle) {
        let mut edits = EditLog::new();
        let hook = RandomHook { rng: Rng::new(1), word: word_of(POISON), phase: old.phase };
        let verdict = hook.reply(0, &mut edits);
        self.book.tally.refused.fetch_add(1, Relaxed);
        if self.host.resume(old.exchange, old.turn, verdict, edits.bytes_mut()).is_ok() {
            self.book.complain(format!("{old:?} was resumed long after"));
        }
    }
}
