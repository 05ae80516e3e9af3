//! Orphaned gateway processes that this one replaces, and the listening sockets that they lend.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

use crate::control::{
    Channel, GatewayPeer, Received, SUCCESSION_PROTOCOL, ServedAddress, ServingState, SocketKey, SocketPlace,
    SocketRole, ToPredecessor, ToSuccessor, gateway_peers, read_memory_file,
};

/// Orphaned gateway processes that this one replaces.
#[derive(Debug)]
pub(super) struct Predecessors {
    configs: Vec<String>,
    /// Addresses that this process is about to listen at.
    keys: Vec<SocketKey>,
    orphans: Vec<Orphan>,
    /// Whether a gateway process closed the connection or did not answer: it has a parent, or has not noticed yet that
    /// its parent is gone.
    has_silent: bool,
}

/// An orphaned process that has accepted this one as its successor.
#[derive(Debug)]
struct Orphan {
    peer: GatewayPeer,
    state: ServingState,
    reason: SuccessionReason,
}

/// Reason to replace an orphaned process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SuccessionReason {
    /// Both have the same configuration files.
    SameFiles,
    /// This process is about to listen at all addresses of the other.
    SameAddresses,
}

/// Sockets of one address, lent by an orphaned process or by the parent.
#[derive(Debug)]
pub(super) struct BoundSockets {
    /// Bound address, including the port chosen by the kernel.
    pub(super) bound: SocketPlace,
    /// One or more sockets.
    pub(super) sockets: Vec<OwnedFd>,
}

impl Predecessors {
    /// Creates an empty set for a process with these configuration files.
    pub(super) fn new(configs: &[PathBuf]) -> Self {
        Self { configs: absolute(configs), keys: Vec::new(), orphans: Vec::new(), has_silent: false }
    }

    /// Finds the orphaned processes that this one replaces when it listens at `keys`: those with the same configuration
    /// files, and those whose listeners are all among `keys`.
    pub(super) fn find_orphans(&mut self, keys: &[SocketKey]) {
        self.keys = keys.to_vec();
        self.look();
    }

    /// Requests the sockets for `key` from an orphaned process, if one has them.
    pub(super) fn take(&mut self, key: &SocketKey) -> Option<anyhow::Result<BoundSockets>> {
        self.orphans.iter().find_map(|orphan| orphan.lend(key))
    }

    /// As [`Self::take`], for an address in use: waits for a gateway process that may not have noticed yet that its
    /// parent is gone.
    pub(super) fn wait_and_take(&mut self, key: &SocketKey) -> Option<anyhow::Result<BoundSockets>> {
        let deadline = Instant::now() + NOTICE_TIME_MAX;
        while self.has_silent && Instant::now() < deadline {
            std::thread::park_timeout(SEARCH_PAUSE);
            self.look();
            if let Some(inherited) = self.take(key) {
                return Some(inherited);
            }
        }
        None
    }

    /// Reports to the orphaned processes that this one serves, so that they drain.
    pub(super) fn handle_serving(&mut self) {
        for Orphan { peer, .. } in self.orphans.drain(..) {
            match peer.channel.send(&ToPredecessor::Succeeded, &[]) {
                Ok(()) => tracing::info!(
                    predecessor = peer.pid,
                    "took over from a gateway process without a parent; that process drains"
                ),
                Err(error) => {
                    tracing::warn!(predecessor = peer.pid, %error, "cannot tell the predecessor to drain");
                }
            }
        }
    }

    fn look(&mut self) {
        self.has_silent = false;
        // All connections are open by now, so their greetings are awaited together.
        let connected = gateway_peers();
        let deadline = Instant::now() + GREETING_TIME_MAX;
        for peer in connected {
            if self.orphans.iter().any(|orphan| orphan.peer.pid == peer.pid) {
                continue;
            }
            match greeting(&peer.channel, deadline) {
                Ok(state) => {
                    let Some(reason) = self.reason(&state) else { continue };
                    if let Err(error) = claim(&peer.channel) {
                        let gateway = peer.pid;
                        tracing::info!(gateway, error = %format!("{error:#}"), "this orphaned process has another successor");
                        continue;
                    }
                    self.orphans.push(Orphan { peer, state, reason });
                }
                Err(_) => self.has_silent = true,
            }
        }
    }

    /// Returns why this process replaces one in `state`; `None` for an unrelated process.
    fn reason(&self, state: &ServingState) -> Option<SuccessionReason> {
        if state.configs == self.configs {
            return Some(SuccessionReason::SameFiles);
        }
        let mut listeners =
            state.addresses.iter().filter(|it| it.key.role == SocketRole::Listener).peekable();
        listeners.peek()?;
        let is_wanted =
            |it: &ServedAddress| self.keys.iter().any(|key| it.is_at(key, SuccessionReason::SameAddresses));
        listeners.all(is_wanted).then_some(SuccessionReason::SameAddresses)
    }
}

impl Orphan {
    fn lend(&self, key: &SocketKey) -> Option<anyhow::Result<BoundSockets>> {
        let address = self.state.addresses.iter().find(|address| address.is_at(key, self.reason))?;
        let ask = || {
            self.peer.channel.send(&ToPredecessor::Lend { key: address.key.clone() }, &[])?;
            let mut all = Vec::new();
            loop {
                let (message, sockets) = hear(&self.peer.channel, Instant::now() + ANSWER_TIME_MAX)?;
                let ToSuccessor::Lent { is_last } = message else { bail!("it sent an unexpected reply") };
                all.extend(sockets);
                if is_last {
                    return Ok(all);
                }
            }
        };
        let lent = ask().with_context(|| {
            format!(
                "gateway process {}, whose parent is gone, does not pass on the sockets of {}",
                self.peer.pid, key.place
            )
        });
        match lent {
            Ok(sockets) if sockets.is_empty() => None,
            other => Some(other.map(|sockets| BoundSockets { bound: address.bound.clone(), sockets })),
        }
    }
}

impl ServedAddress {
    /// Whether this is the address of `key`. A process with another configuration does not share ports chosen by the
    /// kernel or relative paths, which depend on the working directory.
    fn is_at(&self, key: &SocketKey, reason: SuccessionReason) -> bool {
        let is_bound_there = self.key.role == key.role && self.bound == key.place;
        match (reason, &key.place) {
            (SuccessionReason::SameFiles, _) => is_bound_there || self.key == *key,
            (SuccessionReason::SameAddresses, SocketPlace::Unix(path)) => {
                is_bound_there && path.is_absolute()
            }
            (SuccessionReason::SameAddresses, SocketPlace::Tcp(_) | SocketPlace::Udp(_)) => is_bound_there,
        }
    }
}

/// Reads the first message of an orphaned process; a process with a parent closes the connection instead.
fn greeting(channel: &Channel, deadline: Instant) -> anyhow::Result<ServingState> {
    let (message, files) = hear(channel, deadline)?;
    let file = files.into_iter().next();
    match (message, file) {
        (ToSuccessor::Orphaned { protocol: SUCCESSION_PROTOCOL }, Some(file)) => {
            Ok(serde_json::from_slice(&read_memory_file(&file)?)?)
        }
        _ => bail!("it has another protocol version"),
    }
}

/// Waits until this process is the only successor.
fn claim(channel: &Channel) -> anyhow::Result<()> {
    channel.send(&ToPredecessor::Claim, &[])?;
    match hear(channel, Instant::now() + CLAIM_TIME_MAX)? {
        (ToSuccessor::Claimed, _) => Ok(()),
        _ => bail!("it sent an unexpected reply"),
    }
}

fn hear(channel: &Channel, deadline: Instant) -> anyhow::Result<(ToSuccessor, Vec<OwnedFd>)> {
    loop {
        match channel.receive()? {
            Received::Message(message, descriptors) => return Ok((message, descriptors)),
            Received::Unknown(_) => bail!("it sent an unknown message"),
            Received::Closed => bail!("it closed the connection"),
            Received::Nothing => ensure!(channel.wait(deadline), "it does not respond"),
        }
    }
}

/// Returns absolute paths, so that processes started in different folders agree.
pub(super) fn absolute(paths: &[PathBuf]) -> Vec<String> {
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    paths.iter().map(|path| Path::display(&absolute(path)).to_string()).collect()
}

/// Maximum time until a process notices that its parent is gone.
const NOTICE_TIME_MAX: Duration = Duration::from_secs(1);
const SEARCH_PAUSE: Duration = Duration::from_millis(20);
const GREETING_TIME_MAX: Duration = Duration::from_secs(1);
const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);
/// Maximum wait for another successor to become ready or to fail.
const CLAIM_TIME_MAX: Duration = Duration::from_secs(20);
