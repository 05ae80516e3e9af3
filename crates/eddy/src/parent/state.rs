//! What one image of the parent tells the next, beside the descriptors, when it is executed in its place.

use serde::{Deserialize, Serialize};

use crate::control::{ChildSettings, FilterAbout, Quarantined, SocketKey, SocketPlace};

/// The parent's state. The descriptors follow in the order of these lists.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ParentState {
    /// [`crate::control::STATE_FORMAT`] of the image that wrote it.
    pub(super) format: u32,
    /// Where the program lies on disk, as bytes.
    pub(super) path: Vec<u8>,
    /// Processes started so far.
    pub(super) generation: u64,
    /// For each address: as many descriptors as it has sockets.
    pub(super) sockets: Vec<SocketState>,
    /// For each process three descriptors: control socket, shared page, image.
    pub(super) processes: Vec<ProcessState>,
    /// Whether one more descriptor follows, of the configuration in force.
    pub(super) has_last_good: bool,
    /// Filters that must not be entered.
    #[serde(default)]
    pub(super) quarantined: Vec<Quarantined>,
}

/// The sockets of one address.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SocketState {
    /// What they are for and where, as configured.
    pub(super) key: SocketKey,
    /// Where they are bound.
    pub(super) bound: SocketPlace,
    /// How many there are.
    pub(super) count: usize,
}

/// One gateway process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProcessState {
    /// Its process id.
    pub(super) pid: i32,
    /// Its number.
    pub(super) generation: u64,
    /// For a draining process the time it still has; nothing for the one that serves.
    pub(super) drain_left_ms: Option<u64>,
    /// The sockets it was given.
    pub(super) granted: Vec<(SocketKey, usize)>,
    /// What it told of its configuration.
    pub(super) settings: ChildSettings,
    /// The names of its filters.
    #[serde(default)]
    pub(super) filters: Vec<(u32, String)>,
    /// What else is known of them.
    #[serde(default)]
    pub(super) about: Vec<FilterAbout>,
    /// Whether, behind all other descriptors, one follows of what it writes to standard error.
    #[serde(default)]
    pub(super) has_last_words: bool,
}
