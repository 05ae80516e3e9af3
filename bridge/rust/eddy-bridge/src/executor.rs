//! Executor of the futures that Go waits for.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::task::{Context, Wake, Waker};
use std::thread;

/// Task of a call from Go that is running in Rust.
pub type CallTask = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs tasks, for example on an async runtime of the program.
///
/// For tokio: `eddy_bridge::set_executor(move |task| drop(handle.spawn(task)))`.
pub trait Executor: Send + Sync {
    /// Runs a task to its end, on any thread.
    fn spawn(&self, task: CallTask);
}

impl<F: Fn(CallTask) + Send + Sync> Executor for F {
    fn spawn(&self, task: CallTask) {
        self(task);
    }
}

/// Sets the executor of async methods that Go calls. The default is [`Threads`], one per processor.
///
/// # Errors
///
/// The executor was already set, or a method was already called.
pub fn set_executor(executor: impl Executor + 'static) -> Result<(), ExecutorIsSet> {
    EXECUTOR.set(Box::new(executor)).map_err(|_| ExecutorIsSet)
}

/// The executor was already set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutorIsSet;

impl std::fmt::Display for ExecutorIsSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the executor is already set; set it before Go calls an async method")
    }
}

impl std::error::Error for ExecutorIsSet {}

/// Runs a task on the executor set by [`set_executor`], or on the default [`Threads`].
///
/// # Panics
///
/// If it is the first task, no executor was set, and no thread can be started.
pub fn spawn(task: CallTask) {
    let executor = EXECUTOR.get_or_init(|| {
        let count = thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Box::new(Threads::start(count).expect("a process that Go runs in can start threads"))
    });
    executor.spawn(task);
}

static EXECUTOR: OnceLock<Box<dyn Executor>> = OnceLock::new();

/// Threads that only run tasks: sufficient for futures that wait for each other, without timers or sockets.
#[derive(Clone, Debug)]
pub struct Threads {
    queue: Arc<TaskQueue>,
}

#[derive(Default)]
struct TaskQueue {
    ready: Mutex<VecDeque<Arc<QueuedTask>>>,
    filled: Condvar,
}

struct QueuedTask {
    /// `None` while a thread polls it, and when it has ended.
    task: Mutex<Option<CallTask>>,
    queue: Arc<TaskQueue>,
}

impl Threads {
    /// Starts `count` threads, which run until the process ends.
    ///
    /// # Errors
    ///
    /// The system cannot start another thread.
    pub fn start(count: usize) -> io::Result<Self> {
        let queue = Arc::new(TaskQueue::default());
        for index in 0..count.max(1) {
            let queue = Arc::clone(&queue);
            thread::Builder::new().name(format!("bridge-{index}")).spawn(move || queue.run())?;
        }
        Ok(Self { queue })
    }
}

impl Executor for Threads {
    fn spawn(&self, task: CallTask) {
        let running = QueuedTask { task: Mutex::new(Some(task)), queue: Arc::clone(&self.queue) };
        self.queue.push(Arc::new(running));
    }
}

impl TaskQueue {
    fn push(&self, running: Arc<QueuedTask>) {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).push_back(running);
        self.filled.notify_one();
    }

    fn run(&self) {
        loop {
            let next = {
                let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
                loop {
                    match ready.pop_front() {
                        Some(next) => break next,
                        None => ready = self.filled.wait(ready).unwrap_or_else(PoisonError::into_inner),
                    }
                }
            };
            next.poll();
        }
    }
}

impl QueuedTask {
    fn poll(self: Arc<Self>) {
        let waker = Waker::from(Arc::clone(&self));
        // Held while polling: if the task is woken meanwhile and popped by another thread, that thread waits here.
        let mut task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = &mut *task
            && running.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
        {
            *task = None;
        }
    }
}

impl Wake for QueuedTask {
    fn wake(self: Arc<Self>) {
        let queue = Arc::clone(&self.queue);
        queue.push(self);
    }
}

impl std::fmt::Debug for TaskQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a queue of tasks")
    }
}
