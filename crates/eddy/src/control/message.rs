//! The messages between parent and gateway process.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The version of these messages; a child that does not know its parent's says so and exits.
pub(crate) const PROTOCOL: u32 = 1;

/// The version of what a parent hands to the image it executes in its own place.
pub(crate) const STATE_FORMAT: u32 = 1;

/// From the parent to a gateway process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToChild {
    /// The first message. With it come the shared page and, if `has_last_good`, the last good configuration.
    Welcome {
        /// The parent's [`PROTOCOL`].
        protocol: u32,
        /// Counts the processes the parent has started.
        generation: u64,
        /// Why the process was started.
        reason: StartReason,
        /// Whether a second descriptor came along.
        has_last_good: bool,
        /// Filters that must not be entered.
        #[serde(default)]
        quarantined: Vec<Quarantined>,
    },
    /// Sockets that were asked for, as descriptors; perhaps in several messages.
    Sockets {
        /// The request answered.
        request: u64,
        /// Where they are bound, the port filled in.
        bound: SocketPlace,
        /// Whether no more will follow.
        is_last: bool,
    },
    /// There is no socket at that address.
    NotBound {
        /// The request answered.
        request: u64,
        /// Why, for people.
        problem: String,
        /// Whether another program has the address, so that it is worth to look for it.
        is_in_use: bool,
    },
    /// Read the configuration again.
    Reload,
    /// The filters that must not be entered from now on; those that were and are not named may be again.
    Quarantine {
        /// All of them.
        quarantined: Vec<Quarantined>,
    },
    /// Open log files again.
    ReopenLogs,
    /// Stop accepting, let exchanges end, exit.
    Drain {
        /// Whether another process already serves the same sockets.
        has_successor: bool,
    },
    /// Exit now.
    Stop,
}

/// From a gateway process to its parent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToParent {
    /// Asks for listening sockets; answered by `Sockets` or `NotBound`.
    Listen {
        /// Chosen by the child; comes back in the answer.
        request: u64,
        /// What and where.
        key: SocketKey,
        /// How many sockets of their own queue there should be at least.
        sockets: usize,
    },
    /// Sockets of an address that an orphaned gateway process has lent, as descriptors; perhaps in several messages. They
    /// are the parent's from now on, and `Listen` asks for them as for others.
    Inherited {
        /// What they are for and where, as this process's configuration says.
        key: SocketKey,
        /// Where they are bound.
        bound: SocketPlace,
    },
    /// These sockets are no longer used and their queues are empty.
    Release {
        /// What and where.
        keys: Vec<SocketKey>,
    },
    /// The gateway serves.
    Ready {
        /// What a parent needs to know of the configuration.
        settings: ChildSettings,
        /// Where clients can connect.
        listening: Vec<SocketPlace>,
        /// Where the admin listener is.
        admin: Option<SocketPlace>,
        /// The child's version of eddy.
        version: String,
        /// The child's [`STATE_FORMAT`].
        state_format: u32,
    },
    /// The configuration that is now in force, as a memory file, kept for a process that replaces this one.
    LastGood,
    /// A reload begins.
    Reloading,
    /// A reload ended; with it, if it was accepted, the new settings.
    Reloaded {
        /// What the parent needs to know of the configuration in force.
        settings: ChildSettings,
    },
    /// Names of filters by number, those that the shared page will show from now on.
    Filters {
        /// Number and name.
        names: Vec<(u32, String)>,
    },
    /// More of some of these filters.
    FiltersMade {
        /// What there is to know of each.
        filters: Vec<FilterAbout>,
    },
    /// What this process's standard error is from now on, as a memory file, to be read when it has died.
    LastWords,
    /// The configuration on disk needs a new process, which this one asks for: libraries of filters have changed.
    Renew,
}

/// What of its configuration a gateway process tells the parent, which reads none itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChildSettings {
    /// Longest a drain takes.
    pub(crate) drain_timeout_ms: u64,
    /// Workers whose heartbeats count.
    pub(crate) workers: usize,
    /// Level of eddy's own messages.
    pub(crate) log_level: String,
    /// Whether messages are written as JSON.
    pub(crate) is_log_json: bool,
    /// When filters are quarantined.
    #[serde(default)]
    pub(crate) quarantine: QuarantineLimits,
}

/// When a filter that the process dies in is not entered any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QuarantineLimits {
    /// Deaths that it takes; 0 for never.
    pub(crate) deaths: u32,
    /// The time in which they are counted.
    pub(crate) within_ms: u64,
    /// How long it is not entered.
    pub(crate) time_ms: u64,
}

/// What a parent needs to know of a filter to say whose fault a death was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FilterAbout {
    /// Its name in the configuration.
    pub(crate) name: String,
    /// Changes with its configuration and its library.
    pub(crate) version: String,
    /// Where its sources lie, if that is known: a Go program that dies names its files.
    pub(crate) folder: Option<PathBuf>,
}

/// A filter that must not be entered, as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Quarantined {
    /// Its name in the configuration.
    pub(crate) name: String,
    /// [`FilterAbout::version`] of the one that is meant; another one under this name may be entered.
    pub(crate) version: String,
    /// Deaths that were counted.
    pub(crate) deaths: u32,
    /// When it may be entered again, in milliseconds of the monotonic clock.
    pub(crate) until_ms: u64,
}

/// Why a gateway process was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StartReason {
    /// The first one; its failure is the failure of `eddy run`.
    First,
    /// The one before it died.
    Replacement,
    /// It is to take over from one that serves.
    HandOver,
    /// It is to take over from one that serves and asked for it; the program stays the same.
    Renewal,
}

/// Names a set of listening sockets among those the parent holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct SocketKey {
    /// What they are for.
    pub(crate) role: SocketRole,
    /// Where, as configured: a port 0 stays 0 here.
    pub(crate) place: SocketPlace,
}

/// What a listening socket is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SocketRole {
    /// Traffic.
    Listener,
    /// The admin listener.
    Admin,
}

/// Where a socket is bound.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SocketPlace {
    /// A TCP address.
    Tcp(SocketAddr),
    /// A path in the file system.
    Unix(PathBuf),
    /// A UDP address.
    Udp(SocketAddr),
}

impl fmt::Display for SocketPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Udp(address) => write!(f, "udp:{address}"),
        }
    }
}
