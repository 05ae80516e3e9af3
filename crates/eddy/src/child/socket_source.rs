//! Where a gateway process gets its listening sockets: from its parent, or from itself when it has none.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

use crate::control::{Channel, SocketKey, SocketPlace, ToParent};
use crate::sockets::{BindError, SocketStore, explain_in_use};

/// Gives out listening sockets.
pub(super) trait SocketSource: Send {
    /// At least `count` sockets for `key`, or the one of a Unix address; more when more are held.
    ///
    /// # Errors
    /// Why there are none.
    fn acquire(&mut self, key: &SocketKey, count: usize) -> Result<BoundSockets, NotBound>;

    /// Says that sockets are no longer used and their queues are empty.
    fn release(&mut self, keys: Vec<SocketKey>);
}

/// The sockets of one address.
#[derive(Debug)]
pub(super) struct BoundSockets {
    /// Where they are bound, the port filled in.
    pub(super) bound: SocketPlace,
    /// One or more.
    pub(super) sockets: Vec<OwnedFd>,
}

/// Why there are no sockets for an address.
#[derive(Debug)]
pub(super) enum NotBound {
    /// Another program listens there.
    InUse(SocketPlace),
    /// Something else.
    Other(anyhow::Error),
}

impl NotBound {
    /// The same for people.
    ///
    /// # Cost
    /// That of [`explain_in_use`].
    pub(super) fn explained(self) -> anyhow::Error {
        match self {
            Self::InUse(place) => anyhow!(explain_in_use(&place)),
            Self::Other(error) => error,
        }
    }
}

impl From<anyhow::Error> for NotBound {
    fn from(error: anyhow::Error) -> Self {
        Self::Other(error)
    }
}

/// An answer of the parent, as the main thread passes it on.
#[derive(Debug)]
pub(super) enum Lent {
    /// Some sockets, perhaps more to come.
    Sockets { request: u64, bound: SocketPlace, sockets: Vec<OwnedFd>, is_last: bool },
    /// None, and why.
    Refused { request: u64, problem: String, is_in_use: bool },
}

/// Sockets held by the parent.
#[derive(Debug)]
pub(super) struct FromParent {
    parent: Arc<Channel>,
    answers: Receiver<Lent>,
    requests: u64,
}

impl FromParent {
    /// Asks at `parent`; the main thread puts what comes back into `answers`.
    pub(super) fn new(parent: Arc<Channel>, answers: Receiver<Lent>) -> Self {
        Self { parent, answers, requests: 0 }
    }
}

impl SocketSource for FromParent {
    fn acquire(&mut self, key: &SocketKey, count: usize) -> Result<BoundSockets, NotBound> {
        self.requests += 1;
        let question = ToParent::Listen { request: self.requests, key: key.clone(), sockets: count };
        self.parent
            .send(&question, &[])
            .with_context(|| format!("cannot listen at {}: the parent process is gone", key.place))?;
        let deadline = Instant::now() + ANSWER_TIME_MAX;
        let mut all = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let answer = self
                .answers
                .recv_timeout(left)
                .map_err(|_| anyhow!("cannot listen at {}: the parent process does not answer", key.place))?;
            match answer {
                Lent::Sockets { request, bound, sockets, is_last } if request == self.requests => {
                    all.extend(sockets);
                    if is_last {
                        return Ok(BoundSockets { bound, sockets: all });
                    }
                }
                Lent::Refused { request, problem, is_in_use } if request == self.requests => {
                    return Err(if is_in_use {
                        NotBound::InUse(key.place.clone())
                    } else {
                        NotBound::Other(anyhow!(problem))
                    });
                }
                // A late answer to a question that was given up.
                Lent::Sockets { .. } | Lent::Refused { .. } => {}
            }
        }
    }

    fn release(&mut self, keys: Vec<SocketKey>) {
        if !keys.is_empty() && self.parent.send(&ToParent::Release { keys }, &[]).is_err() {
            tracing::debug!("no parent to give sockets back to");
        }
    }
}

/// Sockets of this process itself.
#[derive(Debug, Default)]
pub(super) struct OwnSockets {
    store: SocketStore,
}

impl SocketSource for OwnSockets {
    fn acquire(&mut self, key: &SocketKey, count: usize) -> Result<BoundSockets, NotBound> {
        let held = self.store.acquire(key, count).map_err(|error| {
            if let BindError::InUse { place } = error {
                NotBound::InUse(place)
            } else {
                NotBound::Other(error.into())
            }
        })?;
        let sockets = held
            .sockets
            .iter()
            .map(|socket| eddy_io::duplicate(socket.as_fd()))
            .collect::<Result<_, _>>()
            .with_context(|| format!("cannot listen at {}", key.place))?;
        Ok(BoundSockets { bound: held.bound.clone(), sockets })
    }

    fn release(&mut self, keys: Vec<SocketKey>) {
        for key in keys {
            self.store.release(&key);
        }
    }
}

impl Drop for OwnSockets {
    fn drop(&mut self) {
        // Removes the files of Unix sockets.
        self.store.retain(|_| false);
    }
}

const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);
