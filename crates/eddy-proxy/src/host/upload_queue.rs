//! Body of a streamed request of a filter, from the filter's thread to the worker that sends it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use eddy_filter::{HostError, StreamData};

/// Data that a filter has given and that has not been sent. The lock is held to move bytes.
#[derive(Debug, Default)]
pub(crate) struct UploadQueue {
    state: Mutex<QueueState>,
}

#[derive(Debug, Default)]
struct QueueState {
    bytes: Vec<u8>,
    is_ended: bool,
    /// Waker of the task that sends the data, if it waits for some.
    waker: Option<Waker>,
}

impl UploadQueue {
    /// Adds data.
    ///
    /// # Errors
    /// [`HostError::Full`] if too much waits, [`HostError::Invalid`] behind the end.
    pub(crate) fn push(&self, data: StreamData<'_>) -> Result<(), HostError> {
        let mut state = self.lock();
        if state.is_ended {
            return Err(HostError::Invalid);
        }
        if state.bytes.len() + data.bytes.len() > QUEUE_BYTES_MAX {
            return Err(HostError::Full);
        }
        state.bytes.extend_from_slice(data.bytes);
        state.is_ended = data.is_end;
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
        Ok(())
    }

    /// Moves all data into `into`, which is empty; returns whether it is the end.
    pub(crate) fn poll_take(&self, cx: &Context<'_>, into: &mut Vec<u8>) -> Poll<bool> {
        let mut state = self.lock();
        if state.bytes.is_empty() && !state.is_ended {
            state.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        std::mem::swap(&mut state.bytes, into);
        Poll::Ready(state.is_ended)
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Maximum number of bytes that wait.
const QUEUE_BYTES_MAX: usize = 4 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_taken_once_and_within_limits() {
        let queue = UploadQueue::default();
        let cx = Context::from_waker(Waker::noop());
        let mut taken = Vec::new();
        assert_eq!(queue.poll_take(&cx, &mut taken), Poll::Pending);
        queue.push(StreamData { bytes: b"ab", is_end: false }).unwrap();
        queue.push(StreamData { bytes: b"c", is_end: false }).unwrap();
        assert_eq!((queue.poll_take(&cx, &mut taken), &*taken), (Poll::Ready(false), &b"abc"[..]));
        taken.clear();
        let large = vec![0; QUEUE_BYTES_MAX];
        queue.push(StreamData { bytes: &large, is_end: false }).unwrap();
        assert_eq!(queue.push(StreamData { bytes: b"d", is_end: true }), Err(HostError::Full));
        assert_eq!((queue.poll_take(&cx, &mut taken), taken.len()), (Poll::Ready(false), QUEUE_BYTES_MAX));
        taken.clear();
        queue.push(StreamData { bytes: b"", is_end: true }).unwrap();
        assert_eq!((queue.poll_take(&cx, &mut taken), taken.len()), (Poll::Ready(true), 0));
        assert_eq!(queue.push(StreamData { bytes: b"e", is_end: false }), Err(HostError::Invalid));
    }
}
