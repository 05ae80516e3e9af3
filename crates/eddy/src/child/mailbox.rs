//! Event queue from other threads to the main thread, which polls descriptors.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use rustix::event::{EventfdFlags, eventfd};

/// Sending side, for other threads.
#[derive(Debug)]
pub(super) struct Mailbox<E> {
    sender: Sender<E>,
    bell: Arc<OwnedFd>,
}

/// Receiving side, for the main thread.
#[derive(Debug)]
pub(super) struct Events<E> {
    receiver: Receiver<E>,
    bell: Arc<OwnedFd>,
}

/// Creates both sides of a mailbox.
///
/// # Errors
/// When no descriptor is left.
pub(super) fn mailbox<E>() -> io::Result<(Mailbox<E>, Events<E>)> {
    let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
    let (sender, receiver) = channel();
    Ok((Mailbox { sender, bell: Arc::clone(&bell) }, Events { receiver, bell }))
}

impl<E> Mailbox<E> {
    /// Queues an event and wakes the main thread.
    pub(super) fn post(&self, event: E) {
        // Without a receiver the process is ending.
        let _ = self.sender.send(event);
        // The write fails only if the counter is full; the main thread is awake then.
        let _ = rustix::io::write(&*self.bell, &1_u64.to_ne_bytes());
    }
}

impl<E> Clone for Mailbox<E> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), bell: Arc::clone(&self.bell) }
    }
}

impl<E> Events<E> {
    /// Returns the next event, if there is one.
    pub(super) fn next(&self) -> Option<E> {
        // The counter is reset before looking, so that an event posted meanwhile sets it again.
        let _ = rustix::io::read(&*self.bell, &mut [0_u8; 8]);
        self.receiver.try_recv().ok()
    }
}

impl<E> AsFd for Events<E> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}
