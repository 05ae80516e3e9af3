//! Worker threads that answer calls.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::fault::CallFailure;
use crate::handler::CallHandler;
use crate::incoming::Incoming;

/// A handler whose own threads answer the calls, for calls that block or take longer than microseconds.
///
/// Calls wait in a queue of bounded length; if it is full, the caller gets the failure [`CallFailure::BUSY`]. The
/// threads end with the link.
#[derive(Debug)]
pub struct Workers {
    queue: SyncSender<Incoming>,
}

impl Workers {
    /// Starts threads that answer calls with the result of a function. Its panics become failures.
    ///
    /// # Errors
    /// Returns an error if no thread can be started.
    pub fn start<F>(threads: usize, queue_max: usize, function: F) -> io::Result<Self>
    where
        F: Fn(&Incoming) -> Result<Vec<u8>, CallFailure> + Send + Sync + 'static,
    {
        let (queue, waiting) = sync_channel(queue_max);
        let waiting = Arc::new(Mutex::new(waiting));
        let function = Arc::new(function);
        for index in 0..threads {
            let (waiting, function) = (Arc::clone(&waiting), Arc::clone(&function));
            thread::Builder::new()
                .name(format!("ring-worker-{index}"))
                .spawn(move || work(&waiting, &*function))?;
        }
        Ok(Self { queue })
    }
}

impl CallHandler for Workers {
    fn handle(&self, call: Incoming) {
        match self.queue.try_send(call) {
            Ok(()) => {}
            Err(TrySendError::Full(call) | TrySendError::Disconnected(call)) => {
                call.fail(CallFailure::new(
                    CallFailure::BUSY,
                    "all workers are busy, and their queue is full",
                ));
            }
        }
    }
}

fn work(waiting: &Mutex<Receiver<Incoming>>, function: &impl Fn(&Incoming) -> Result<Vec<u8>, CallFailure>) {
    loop {
        let next = waiting.lock().expect("nothing panics while the queue is locked").recv();
        let Ok(call) = next else { return };
        if !call.cancellation().is_cancelled() {
            call.answer_with(function);
        }
    }
}
