//! The orphaned side of a takeover: answers gateway processes that want to replace this one, one of them at a time.
//!
//! The successor gets copies of the sockets. This process serves until the successor reports that it serves as well,
//! and then drains, as after a hand-over. A successor that ends before that has no effect.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use crate::control::{
    Channel, GatewayPeer, Received, Rendezvous, SUCCESSION_PROTOCOL, ServingState, SocketKey, ToPredecessor,
    ToSuccessor, memory_file,
};

/// Gateway processes that have connected to this one.
#[derive(Debug)]
pub(super) struct Succession {
    rendezvous: Option<Rendezvous>,
    successors: Vec<Successor>,
    /// Whether a connection could not be accepted for lack of descriptors.
    is_short: bool,
}

/// Connected gateway process.
#[derive(Debug)]
struct Successor {
    pid: i32,
    channel: Arc<Channel>,
    claim: TakeoverClaim,
}

/// Progress of a successor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TakeoverClaim {
    /// Has not asked to replace this process.
    None,
    /// Waits because another successor holds the claim.
    Awaited,
    /// Is the successor, as long as it is connected.
    Held,
}

/// Request of a successor.
#[derive(Debug)]
pub(super) enum SuccessorRequest {
    /// Send copies of the sockets of an address.
    Sockets { successor: Arc<Channel>, key: SocketKey },
    /// Drain, because the successor serves.
    Drain { pid: i32 },
}

impl Succession {
    /// Opens the socket at which successors find this process.
    pub(super) fn open() -> Self {
        let rendezvous = Rendezvous::open().map_err(|error| {
            tracing::warn!(%error, "if the parent process ends, no other process can take over from this one");
        });
        Self { rendezvous: rendezvous.ok(), ..Self::none() }
    }

    /// Returns an empty set, for a process that cannot be replaced.
    pub(super) fn none() -> Self {
        Self { rendezvous: None, successors: Vec::new(), is_short: false }
    }

    /// Returns the descriptors to poll.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let successors = self.successors.iter().map(|successor| (*successor.channel).as_fd());
        // Without descriptors a pending connection would make every poll return at once.
        self.rendezvous.iter().filter(|_| !self.is_short).map(AsFd::as_fd).chain(successors)
    }

    /// Returns the maximum time until the next check, if limited.
    pub(super) fn wait_max(&self) -> Option<Duration> {
        self.is_short.then_some(SHORTAGE_PAUSE)
    }

    /// Accepts the next connection, if one waits.
    fn accept(&mut self) -> Option<GatewayPeer> {
        let accepted = self.rendezvous.as_ref()?.accept();
        self.is_short = accepted.is_err();
        accepted.ok().flatten()
    }

    /// Closes all connections: this process has a parent, or starts or drains.
    pub(super) fn refuse(&mut self) {
        self.successors.clear();
        while self.accept().is_some() {}
    }

    /// Accepts connections, reads messages and returns the requests among them.
    pub(super) fn handle(&mut self, state: impl Fn() -> ServingState) -> Vec<SuccessorRequest> {
        while let Some(peer) = self.accept() {
            if self.successors.len() >= SUCCESSORS_MAX {
                continue;
            }
            if let Ok(successor) = Successor::greeted(peer, &state()) {
                self.successors.push(successor);
            }
        }
        let mut requests = Vec::new();
        self.successors.retain_mut(|successor| successor.handle(&mut requests));
        self.grant();
        requests
    }

    /// Gives the claim to the first successor that waits, unless another one holds it.
    fn grant(&mut self) {
        if self.successors.iter().any(|successor| successor.claim == TakeoverClaim::Held) {
            return;
        }
        if let Some(successor) =
            self.successors.iter_mut().find(|successor| successor.claim == TakeoverClaim::Awaited)
            && successor.channel.send(&ToSuccessor::Claimed, &[]).is_ok()
        {
            successor.claim = TakeoverClaim::Held;
            tracing::info!(
                successor = successor.pid,
                "a successor is starting; this process keeps serving until the successor is ready"
            );
        }
    }
}

impl Successor {
    fn greeted(peer: GatewayPeer, state: &ServingState) -> std::io::Result<Self> {
        let GatewayPeer { pid, channel } = peer;
        let state = memory_file("eddy-serving", &serde_json::to_vec(state)?)?;
        channel.send(&ToSuccessor::Orphaned { protocol: SUCCESSION_PROTOCOL }, &[state.as_fd()])?;
        Ok(Self { pid, channel: Arc::new(channel), claim: TakeoverClaim::None })
    }

    /// Reads the successor's messages; returns whether it is still connected.
    fn handle(&mut self, requests: &mut Vec<SuccessorRequest>) -> bool {
        for _ in 0..MESSAGES_PER_ROUND {
            match self.channel.receive() {
                Ok(Received::Nothing) => return true,
                Ok(Received::Message(ToPredecessor::Claim, _)) => {
                    if self.claim == TakeoverClaim::None {
                        self.claim = TakeoverClaim::Awaited;
                    }
                }
                Ok(Received::Message(ToPredecessor::Lend { key }, _))
                    if self.claim == TakeoverClaim::Held =>
                {
                    requests.push(SuccessorRequest::Sockets { successor: Arc::clone(&self.channel), key });
                }
                Ok(Received::Message(ToPredecessor::Succeeded, _)) if self.claim == TakeoverClaim::Held => {
                    requests.push(SuccessorRequest::Drain { pid: self.pid });
                    return false;
                }
                // Any other message, or one sent without the claim, violates the protocol.
                Ok(Received::Message(..) | Received::Unknown(_) | Received::Closed) | Err(_) => {
                    if self.claim == TakeoverClaim::Held {
                        tracing::warn!(
                            successor = self.pid,
                            "the successor ended before it was ready; this process keeps serving"
                        );
                    }
                    return false;
                }
            }
        }
        true
    }
}

/// Pause before accepting again when descriptors are short.
const SHORTAGE_PAUSE: Duration = Duration::from_millis(100);
/// Maximum connected successors.
const SUCCESSORS_MAX: usize = 8;
/// Messages read from one successor before the next one has its turn.
const MESSAGES_PER_ROUND: usize = 64;
