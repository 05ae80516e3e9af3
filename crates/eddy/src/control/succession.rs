//! Messages between an orphaned gateway process and its successor.

use serde::{Deserialize, Serialize};

use super::{SocketKey, SocketPlace};

/// Protocol version of these messages.
pub(crate) const SUCCESSION_PROTOCOL: u32 = 1;

/// Message from a starting gateway process to an orphaned one.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToPredecessor {
    /// Asks to be the only successor; answered by `Claimed` as soon as there is no other.
    Claim,
    /// Requests the sockets of an address; answered by `Lent`.
    Lend {
        /// Role and address, as named by the orphaned process.
        key: SocketKey,
    },
    /// The successor serves: the orphaned process may drain.
    Succeeded,
}

/// Message from an orphaned gateway process to a starting one.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToSuccessor {
    /// First message, with a [`ServingState`] as a memory file.
    Orphaned {
        /// [`SUCCESSION_PROTOCOL`] of the orphaned process.
        protocol: u32,
    },
    /// The receiver is the successor, as long as it is connected.
    Claimed,
    /// Requested sockets, as descriptors; possibly in several messages.
    Lent {
        /// Whether this is the last message of the reply.
        is_last: bool,
    },
}

/// Configuration files and addresses of an orphaned gateway process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServingState {
    /// Absolute paths of its configuration files.
    pub(crate) configs: Vec<String>,
    /// Addresses that it listens at.
    pub(crate) addresses: Vec<ServedAddress>,
}

/// Address that an orphaned gateway process listens at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServedAddress {
    /// Role and address, as configured.
    pub(crate) key: SocketKey,
    /// Bound address, including the port chosen by the kernel.
    pub(crate) bound: SocketPlace,
}
