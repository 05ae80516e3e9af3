//! The messages between an orphaned gateway process and its successor.

use serde::{Deserialize, Serialize};

use super::{SocketKey, SocketPlace};

/// The version of these messages.
pub(crate) const SUCCESSION_PROTOCOL: u32 = 1;

/// From a gateway process that starts to an orphaned one.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToPredecessor {
    /// Wants to be the one successor; answered by `Claimed` as soon as no other is.
    Claim,
    /// Wants the sockets of an address; answered by `Lent`.
    Lend {
        /// What they are for and where, as the orphan calls it.
        key: SocketKey,
    },
    /// Serves: the orphan may drain.
    Succeeded,
}

/// From an orphaned gateway process to one that starts.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToSuccessor {
    /// The first message; with it comes an [`ServingState`] as a memory file.
    Orphaned {
        /// The orphan's [`SUCCESSION_PROTOCOL`].
        protocol: u32,
    },
    /// The receiver is the successor, as long as it is connected.
    Claimed,
    /// Sockets that were asked for, as descriptors; perhaps in several messages.
    Lent {
        /// Whether no more will follow.
        is_last: bool,
    },
}

/// Configuration files and addresses of an orphaned gateway process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServingState {
    /// Absolute paths of its configuration.
    pub(crate) configs: Vec<String>,
    /// Addresses that it listens at.
    pub(crate) addresses: Vec<ServedAddress>,
}

/// An address that an orphaned gateway process listens at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServedAddress {
    /// What it is for and where, as configured.
    pub(crate) key: SocketKey,
    /// Where it is bound, the port filled in.
    pub(crate) bound: SocketPlace,
}
