//! Events from other threads to the main one, which waits on descriptors.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use rustix::event::{EventfdFlags, eventfd};

/// Where other threads put their events.
#[derive(Debug)]
pub(super) struct Mailbox<E> {
    sender: Sender<E>,
    bell: Arc<OwnedFd>,
}

/// Where the main thread finds them.
#[derive(Debug)]
pub(super) struct Events<E> {
    receiver: Receiver<E>,
    bell: Arc<OwnedFd>,
}

/// A mailbox and its other side.
///
/// # Errors
/// When there is no descriptor left.
pub(super) fn mailbox<E>() -> io::Result<(Mailbox<E>, Events<E>)> {
    let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
    let (sender, receiver) = channel();
    Ok((Mailbox { sender, bell: Arc::clone(&bell) }, Events { receiver, bell }))
}

impl<E> Mailbox<E> {
    /// Puts an event there and wakes the main thread.
    pub(super) fn post(&self, event: E) {
        // Without a receiver the process is ending.
        let _ = self.sender.send(event);
        // A bell that is full has been rung often enough.
        let _ = rustix::io::write(&*self.bell, &1_u64.to_ne_bytes());
    }
}

impl<E> Clone for Mailbox<E> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), bell: Arc::clone(&self.bell) }
    }
}

impl<E> Events<E> {
    /// The next event, if there is one.
    pub(super) fn next(&self) -> Option<E> {
        // Silence the bell before looking, so that an event posted meanwhile rings it again.
        let _ = rustix::io::read(&*self.bell, &mut [0_u8; 8]);
        self.receiver.try_recv().ok()
    }
}

impl<E> AsFd for Events<E> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}
