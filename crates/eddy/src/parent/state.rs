//! State that one image of the parent passes to the next one besides descriptors, when it executes that one in its own
//! place.

use serde::{Deserialize, Serialize};

use crate::control::{ChildSettings, FilterAbout, Quarantined, SocketKey, SocketPlace};

/// State of the parent. The descriptors follow in the order of these lists.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ParentState {
    /// [`crate::control::STATE_FORMAT`] of the image that wrote it.
    pub(super) format: u32,
    /// Path of the program, as bytes.
    pub(super) path: Vec<u8>,
    /// Processes started so far.
    pub(super) generation: u64,
    /// Addresses; each has as many descriptors as sockets.
    pub(super) sockets: Vec<SocketState>,
    /// Processes; each has three descriptors: control socket, shared page, image.
    pub(super) processes: Vec<ProcessState>,
    /// Whether one more descriptor follows, of the configuration in force.
    pub(super) has_last_good: bool,
    /// Quarantined filters, which must not be called.
    #[serde(default)]
    pub(super) quarantined: Vec<Quarantined>,
}

/// Sockets of one address.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SocketState {
    /// Role and address, as configured.
    pub(super) key: SocketKey,
    /// Bound address.
    pub(super) bound: SocketPlace,
    /// Number of sockets.
    pub(super) count: usize,
}

/// One gateway process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProcessState {
    /// Process ID.
    pub(super) pid: i32,
    /// Number of this process among those started.
    pub(super) generation: u64,
    /// Remaining time of a draining process; `None` for the one that serves.
    pub(super) drain_left_ms: Option<u64>,
    /// Granted sockets.
    pub(super) granted: Vec<(SocketKey, usize)>,
    /// Settings that the process reported.
    pub(super) settings: ChildSettings,
    /// Names of its filters.
    #[serde(default)]
    pub(super) filters: Vec<(u32, String)>,
    /// Details of its filters.
    #[serde(default)]
    pub(super) about: Vec<FilterAbout>,
    /// Whether one more descriptor of its standard error follows, behind all others.
    #[serde(default)]
    pub(super) has_last_words: bool,
}
