//! Runs blocking hooks on the library's own threads, with a copy of the host's data.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::abi;
use crate::crossing::CallContext;
use crate::edit_log::{EditLog, OwnedLog};
use crate::fault::Fault;
use crate::guard;
use crate::library::FilterSlot;
use crate::overlay::OwnedHead;
use crate::paused::{self, FilterPosition};
use crate::phase::Phase;
use crate::view::{CallView, RawHead};

/// A hook to be called on another thread.
struct Detached {
    slot: Arc<FilterSlot>,
    place: FilterPosition,
    /// Our own reference to the state, in addition to the host's; 0 for none.
    state: u64,
    /// Edits by earlier filters of the call.
    prior: Vec<u8>,
    seen: OwnedCall,
    hook: BlockingHook,
}

/// Hook that runs on another thread, with the state's number; returns the ABI verdict and never panics.
pub(crate) type BlockingHook =
    Box<dyn FnOnce(&FilterSlot, &CallContext<'_>, FilterPosition, u64) -> u8 + Send>;

/// A copy of a call and of all data that it points to.
struct OwnedCall {
    call: abi::AbiCall,
    about: Vec<abi::AbiAbout>,
    texts: Vec<Vec<u8>>,
    heads: Vec<OwnedHead>,
    pairs: Vec<abi::AbiPair>,
}

// SAFETY: the pointers lead to memory that belongs to the copy and is not modified any more.
unsafe impl Send for OwnedCall {}

/// Threads and their queue.
struct BlockingPool {
    inner: Mutex<BlockingQueue>,
    wakes: Condvar,
}

struct BlockingQueue {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

type Job = Box<dyn FnOnce() + Send>;

static POOL: BlockingPool = BlockingPool {
    inner: Mutex::new(BlockingQueue { jobs: VecDeque::new(), threads: 0, idle: 0 }),
    wakes: Condvar::new(),
};

/// Calls a hook of the slot on another thread.
///
/// # Safety
/// As [`detach`].
pub(crate) unsafe fn enter(
    slot: Arc<FilterSlot>,
    place: FilterPosition,
    state: u64,
    crossing: &CallContext<'_>,
) -> Result<(), Fault> {
    let hook: BlockingHook = Box::new(|slot, crossing, place, mut state| {
        // SAFETY: the state is of this filter's type, and the reference of `Detached` keeps it alive. A filter with
        // state was given one before, so that none is created here.
        unsafe { slot.instance().enter(crossing, place, &mut state) }
    });
    // SAFETY: guaranteed by the caller.
    unsafe { detach(slot, place, state, crossing, hook) }
}

/// Runs a hook on another thread; its verdict is reported to the host by a resume.
///
/// # Safety
/// `state` is 0, or a reference to a state of the slot's filter type that this function takes over.
pub(crate) unsafe fn detach(
    slot: Arc<FilterSlot>,
    place: FilterPosition,
    state: u64,
    crossing: &CallContext<'_>,
    hook: BlockingHook,
) -> Result<(), Fault> {
    let seen = OwnedCall::of(&crossing.view);
    let prior = crossing.edits();
    let mut detached = Detached { slot, place, state, prior, seen, hook };
    run(Box::new(move || detached.run()))
}

/// Runs a job on one of the threads.
///
/// # Errors
/// Returns an error if there are too many jobs, or no thread can be started; the job is dropped then.
pub(crate) fn run(job: Job) -> Result<(), Fault> {
    let mut queue = POOL.lock();
    if queue.jobs.len() >= JOBS_MAX {
        return Err(Fault::new("too many hooks are waiting for a thread: the filter blocks for too long"));
    }
    if queue.idle <= queue.jobs.len() && queue.threads < THREADS_MAX {
        let started = thread::Builder::new().name("eddy-filter".to_owned()).spawn(|| POOL.work());
        match started {
            Ok(_) => queue.threads += 1,
            Err(error) if queue.threads == 0 => return Err(error.into()),
            // The existing threads will run it.
            Err(_) => {}
        }
    }
    queue.jobs.push_back(job);
    drop(queue);
    POOL.wakes.notify_one();
    Ok(())
}

impl BlockingPool {
    fn lock(&self) -> MutexGuard<'_, BlockingQueue> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let mut queue = self.lock();
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                drop(queue);
                // A hook's panic is already a fault; this keeps the thread alive for any other panic.
                let _ = guard::catch(job);
                queue = self.lock();
                continue;
            }
            queue.idle += 1;
            queue = self.wakes.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.idle -= 1;
        }
    }
}

impl Detached {
    fn run(&mut self) {
        let Some(phase) = Phase::from_number(self.seen.call.phase) else { return };
        // SAFETY: the copy lives until the end of this function and is not modified.
        let view = unsafe { CallView::new(&raw const self.seen.call) };
        let crossing = CallContext::new(view, phase, &self.prior, EditLog::Own(OwnedLog::default()));
        let hook = std::mem::replace(&mut self.hook, Box::new(|_, _, _, _| abi::PAUSE));
        let verdict = hook(&self.slot, &crossing, self.place, self.state);
        // An exchange that has ended needs no verdict.
        if phase != Phase::Log && verdict != abi::PAUSE {
            let _ = paused::resume(self.place, verdict, &crossing.own_edits());
        }
    }
}

impl Drop for Detached {
    fn drop(&mut self) {
        // SAFETY: the reference is ours, or 0, and not used any more.
        unsafe { self.slot.instance().release(self.state) };
    }
}

impl OwnedCall {
    fn of(view: &CallView<'_>) -> Self {
        let call = *view.call();
        let mut copy =
            Self { call, about: Vec::new(), texts: Vec::new(), heads: Vec::new(), pairs: Vec::new() };
        copy.call.request = copy.head(view.request());
        copy.call.response = copy.head(view.response());
        copy.call.trailers = copy.head(view.trailers());
        copy.call.method_name = copy.text(view, call.method_name);
        copy.call.target = copy.text(view, call.target);
        copy.call.authority = copy.text(view, call.authority);
        copy.call.scheme = copy.text(view, call.scheme);
        copy.call.body = copy.text(view, call.body);
        copy.call.steps = std::ptr::null_mut();
        copy.call.steps_len = 0;
        copy.call.edits = std::ptr::null_mut();
        (copy.call.edits_cap, copy.call.edits_len) = (0, 0);
        copy.call.ended = std::ptr::null();
        copy.call.ended_len = 0;
        copy.call.current = std::ptr::null_mut();
        copy.copy_about(view);
        copy
    }

    fn copy_about(&mut self, view: &CallView<'_>) {
        let Some(about) = view.about() else { return };
        for pair in view.metadata() {
            let pair = abi::AbiPair {
                space: self.text(view, pair.space),
                key: self.text(view, pair.key),
                value: self.text(view, pair.value),
            };
            self.pairs.push(pair);
        }
        let mut own = *about;
        own.peer = self.text(view, about.peer);
        own.local = self.text(view, about.local);
        own.listener = self.text(view, about.listener);
        own.rule = self.text(view, about.rule);
        own.cluster = self.text(view, about.cluster);
        own.endpoint = self.text(view, about.endpoint);
        own.request_id = self.text(view, about.request_id);
        own.details = self.text(view, about.details);
        own.metadata = self.pairs.as_ptr();
        self.about.push(own);
        self.call.about = self.about.as_ptr();
    }

    fn text(&mut self, view: &CallView<'_>, text: abi::AbiText) -> abi::AbiText {
        let bytes = view.text(text).to_vec();
        let own = abi::AbiText::of(&bytes);
        self.texts.push(bytes);
        own
    }

    fn head(&mut self, head: RawHead<'_>) -> abi::AbiHead {
        let own = OwnedHead::edited(head, std::iter::empty());
        let place = own.as_abi();
        self.heads.push(own);
        place
    }
}

/// Maximum threads; more would only wait for each other.
const THREADS_MAX: usize = 64;
/// Maximum hooks that wait for a thread.
const JOBS_MAX: usize = 1024;
