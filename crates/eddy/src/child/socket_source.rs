//! Sources of listening sockets: the parent process, or this process itself when it has no parent.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

use super::predecessors::{BoundSockets, Predecessors};
use crate::control::{Channel, DESCRIPTORS_PER_MESSAGE, SocketKey, SocketPlace, ToParent};
use crate::sockets::{SocketBindError, SocketStore, explain_address_in_use};

/// Source of listening sockets.
pub(super) trait SocketSource: Send {
    /// Returns at least `count` sockets for `key`, or the only one of a Unix address; more when more are held.
    ///
    /// # Errors
    /// Why there are no sockets.
    fn acquire(&mut self, key: &SocketKey, count: usize) -> Result<BoundSockets, NotBound>;

    /// Releases sockets that are no longer used and whose queues are empty.
    fn release(&mut self, keys: Vec<SocketKey>);

    /// Looks for a process whose sockets can be taken over, before the sockets for `keys` are requested at the start.
    fn prepare(&mut self, _keys: &[SocketKey]) {}

    /// Reports that this process serves.
    fn handle_serving(&mut self) {}
}

/// Why there are no sockets for an address.
#[derive(Debug)]
pub(super) enum NotBound {
    /// Another program listens at this address.
    InUse(SocketPlace),
    /// Another error.
    Other(anyhow::Error),
}

impl NotBound {
    /// Returns the error as a message for people.
    ///
    /// # Cost
    /// That of [`explain_address_in_use`].
    pub(super) fn explained(self) -> anyhow::Error {
        match self {
            Self::InUse(place) => anyhow!(explain_address_in_use(&place)),
            Self::Other(error) => error,
        }
    }
}

impl From<anyhow::Error> for NotBound {
    fn from(error: anyhow::Error) -> Self {
        Self::Other(error)
    }
}

/// Reply of the parent, as passed on by the main thread.
#[derive(Debug)]
pub(super) enum Lent {
    /// Some sockets; more replies may follow.
    Sockets { request: u64, bound: SocketPlace, sockets: Vec<OwnedFd>, is_last: bool },
    /// No sockets, with the reason.
    Refused { request: u64, problem: String, is_in_use: bool },
}

/// Requests sockets from the parent, which holds them.
#[derive(Debug)]
pub(super) struct FromParent {
    parent: Arc<Channel>,
    answers: Receiver<Lent>,
    requests: u64,
    /// Orphaned processes to take sockets from; `None` once this process serves, and for a process that is not its
    /// parent's first.
    predecessors: Option<Predecessors>,
}

impl FromParent {
    /// Creates a source that asks `parent`; the main thread sends the replies to `answers`. Sockets of `predecessors`
    /// are passed to the parent.
    pub(super) fn new(
        parent: Arc<Channel>,
        answers: Receiver<Lent>,
        predecessors: Option<Predecessors>,
    ) -> Self {
        Self { parent, answers, requests: 0, predecessors }
    }

    /// Passes sockets from an orphaned process to the parent.
    fn pass_to_parent(&self, key: &SocketKey, inherited: BoundSockets) -> anyhow::Result<()> {
        let BoundSockets { bound, sockets } = inherited;
        let descriptors: Vec<BorrowedFd<'_>> = sockets.iter().map(AsFd::as_fd).collect();
        for batch in descriptors.chunks(DESCRIPTORS_PER_MESSAGE) {
            let message = ToParent::Inherited { key: key.clone(), bound: bound.clone() };
            self.parent
                .send(&message, batch)
                .with_context(|| format!("cannot pass the sockets of {bound} to the parent process"))?;
        }
        tracing::info!(address = %bound, "listening sockets inherited");
        Ok(())
    }

    /// Requests sockets; the inner error is the parent's refusal.
    fn ask(&mut self, key: &SocketKey, count: usize) -> anyhow::Result<Result<BoundSockets, NotBound>> {
        self.requests += 1;
        let question = ToParent::Listen { request: self.requests, key: key.clone(), sockets: count };
        self.parent
            .send(&question, &[])
            .with_context(|| format!("cannot listen at {}: the parent process is gone", key.place))?;
        let deadline = Instant::now() + ANSWER_TIME_MAX;
        let mut all = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let answer = self.answers.recv_timeout(left).map_err(|_| {
                anyhow!("cannot listen at {}: the parent process does not respond", key.place)
            })?;
            match answer {
                Lent::Sockets { request, bound, sockets, is_last } if request == self.requests => {
                    all.extend(sockets);
                    if is_last {
                        return Ok(Ok(BoundSockets { bound, sockets: all }));
                    }
                }
                Lent::Refused { request, is_in_use: true, .. } if request == self.requests => {
                    return Ok(Err(NotBound::InUse(key.place.clone())));
                }
                Lent::Refused { request, problem, .. } if request == self.requests => {
                    return Ok(Err(NotBound::Other(anyhow!(problem))));
                }
                // A late reply to a request that timed out.
                Lent::Sockets { .. } | Lent::Refused { .. } => {}
            }
        }
    }
}

impl SocketSource for FromParent {
    fn acquire(&mut self, key: &SocketKey, count: usize) -> Result<BoundSockets, NotBound> {
        if let Some(inherited) = self.predecessors.as_mut().and_then(|predecessors| predecessors.take(key)) {
            self.pass_to_parent(key, inherited?)?;
        }
        let answer = self.ask(key, count)?;
        if answer.is_err()
            && let Some(inherited) =
                self.predecessors.as_mut().and_then(|predecessors| predecessors.wait_and_take(key))
        {
            self.pass_to_parent(key, inherited?)?;
            return self.ask(key, count)?;
        }
        answer
    }

    fn prepare(&mut self, keys: &[SocketKey]) {
        if let Some(predecessors) = &mut self.predecessors {
            predecessors.find_orphans(keys);
        }
    }

    fn handle_serving(&mut self) {
        // Sockets of later addresses come from the parent only.
        if let Some(mut predecessors) = self.predecessors.take() {
            predecessors.handle_serving();
        }
    }

    fn release(&mut self, keys: Vec<SocketKey>) {
        if !keys.is_empty() && self.parent.send(&ToParent::Release { keys }, &[]).is_err() {
            tracing::debug!("no parent process to return sockets to");
        }
    }
}

/// Sockets held by this process itself.
#[derive(Debug, Default)]
pub(super) struct ProcessSockets {
    store: SocketStore,
}

impl SocketSource for ProcessSockets {
    fn acquire(&mut self, key: &SocketKey, count: usize) -> Result<BoundSockets, NotBound> {
        let held = self.store.acquire(key, count).map_err(|error| {
            if let SocketBindError::InUse { place } = error {
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

impl Drop for ProcessSockets {
    fn drop(&mut self) {
        // Removes the files of Unix sockets.
        self.store.retain(|_| false);
    }
}

const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);
