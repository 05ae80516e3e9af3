//! Messages to a worker from any thread.

use std::sync::{Mutex, PoisonError};

use eddy_filter::{Direction, Handle, HostError, Verdict, Wake};
use tokio::sync::Notify;

use crate::host::order::OutboundOrder;

/// Message to a worker on behalf of filters.
#[derive(Debug)]
pub(crate) enum WorkerMessage {
    /// A paused exchange resumes.
    Resumed(FilterResume),
    /// A filter sends a request to a cluster.
    Ordered(OutboundOrder),
    /// A library asks to be woken.
    Wake(Wake),
}

/// Resumption of a paused exchange.
#[derive(Debug)]
pub(crate) struct FilterResume {
    pub(crate) exchange: Handle,
    pub(crate) direction: Direction,
    pub(crate) turn: u32,
    pub(crate) verdict: Verdict,
    pub(crate) edits: Vec<u8>,
}

/// Messages that a worker has not processed yet.
///
/// The lock is held only for a push or a swap of vectors, and only filters that pause or send requests use it.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    held: Mutex<InboxQueue>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct InboxQueue {
    messages: Vec<WorkerMessage>,
    bytes: usize,
}

impl Inbox {
    /// Adds the message that `make` returns, of this many bytes, if there is capacity for it.
    ///
    /// # Errors
    /// [`HostError::Full`], or the error of `make`.
    pub(crate) fn leave(
        &self,
        bytes: usize,
        make: impl FnOnce() -> Result<WorkerMessage, HostError>,
    ) -> Result<(), HostError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.messages.len() >= MESSAGES_MAX || held.bytes + bytes > BYTES_MAX {
            return Err(HostError::Full);
        }
        let message = make()?;
        held.messages.push(message);
        held.bytes += bytes;
        drop(held);
        self.arrived.notify_one();
        Ok(())
    }

    /// Waits until there are messages and moves all of them, in order, into `messages`.
    pub(crate) async fn take(&self, messages: &mut Vec<WorkerMessage>) {
        loop {
            {
                let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
                if !held.messages.is_empty() {
                    messages.append(&mut held.messages);
                    held.bytes = 0;
                    return;
                }
            }
            self.arrived.notified().await;
        }
    }
}

/// Maximum number of queued messages per worker: more than it can have paused exchanges.
const MESSAGES_MAX: usize = 128 * 1024;
/// Maximum bytes of queued edits per worker.
const BYTES_MAX: usize = 128 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn message(turn: u32) -> WorkerMessage {
        WorkerMessage::Resumed(FilterResume {
            exchange: Handle::from_number(1),
            direction: Direction::Request,
            turn,
            verdict: Verdict::Continue,
            edits: Vec::new(),
        })
    }

    #[test]
    fn messages_are_taken_in_order_and_within_limits() {
        let inbox = Inbox::default();
        (0..3).for_each(|turn| inbox.leave(BYTES_MAX / 3, || Ok(message(turn))).unwrap());
        assert_eq!(inbox.leave(3, || Ok(message(9))), Err(HostError::Full));
        assert_eq!(inbox.leave(0, || Err(HostError::Gone)), Err(HostError::Gone));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut taken = Vec::new();
        runtime.block_on(inbox.take(&mut taken));
        let turn = |message: &WorkerMessage| match message {
            WorkerMessage::Resumed(resumed) => resumed.turn,
            WorkerMessage::Ordered(_) | WorkerMessage::Wake(_) => u32::MAX,
        };
        let turns: Vec<u32> = taken.iter().map(turn).collect();
        assert_eq!(turns, [0, 1, 2]);
        inbox.leave(3, || Ok(message(9))).unwrap();
    }
}
