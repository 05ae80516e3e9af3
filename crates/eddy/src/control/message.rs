//! Messages between the parent and a gateway process.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Protocol version of these messages; a child that does not know its parent's version reports that and exits.
pub(crate) const PROTOCOL: u32 = 1;

/// Format version of the state that a parent passes to the image it executes in its own place.
pub(crate) const STATE_FORMAT: u32 = 1;

/// Message from the parent to a gateway process.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToChild {
    /// First message. Its descriptors are the shared page and, if `has_last_good`, the last good configuration.
    #[serde(rename = "welcome")]
    Start {
        /// [`PROTOCOL`] of the parent.
        protocol: u32,
        /// Number of processes that the parent has started.
        generation: u64,
        /// Why the process was started.
        reason: StartReason,
        /// Whether there is a second descriptor.
        has_last_good: bool,
        /// Quarantined filters, which must not be called.
        #[serde(default)]
        quarantined: Vec<Quarantined>,
    },
    /// Requested sockets, as descriptors; possibly in several messages.
    Sockets {
        /// Request that is answered.
        request: u64,
        /// Bound address, including the port chosen by the kernel.
        bound: SocketPlace,
        /// Whether this is the last message of the reply.
        is_last: bool,
    },
    /// The address cannot be bound.
    NotBound {
        /// Request that is answered.
        request: u64,
        /// Reason, for people.
        problem: String,
        /// Whether another program uses the address, so that looking for that program makes sense.
        is_in_use: bool,
    },
    /// Reload the configuration.
    Reload,
    /// Replace the set of quarantined filters; filters that are no longer listed may be called again.
    Quarantine {
        /// All quarantined filters.
        quarantined: Vec<Quarantined>,
    },
    /// Reopen log files.
    ReopenLogs,
    /// Drain: stop accepting, finish open exchanges, exit.
    Drain {
        /// Whether another process already serves the same sockets.
        has_successor: bool,
    },
    /// Exit now.
    Stop,
}

/// Message from a gateway process to its parent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ToParent {
    /// Requests listening sockets; answered by `Sockets` or `NotBound`.
    Listen {
        /// Request number chosen by the child; repeated in the reply.
        request: u64,
        /// Role and address.
        key: SocketKey,
        /// Minimum number of sockets with their own queue.
        sockets: usize,
    },
    /// Sockets of an address taken over from an orphaned gateway process, as descriptors; possibly in several messages.
    /// The parent owns them from now on, and `Listen` requests them like others.
    Inherited {
        /// Role and address, as configured in this process.
        key: SocketKey,
        /// Bound address.
        bound: SocketPlace,
    },
    /// Releases sockets that are no longer used and whose queues are empty.
    Release {
        /// Roles and addresses.
        keys: Vec<SocketKey>,
    },
    /// The gateway serves.
    Ready {
        /// Settings of the configuration that the parent needs.
        settings: ChildSettings,
        /// Addresses for clients.
        listening: Vec<SocketPlace>,
        /// Address of the admin listener.
        admin: Option<SocketPlace>,
        /// Version of eddy that the child runs.
        version: String,
        /// [`STATE_FORMAT`] of the child.
        state_format: u32,
    },
    /// Configuration that is now in force, as a memory file, kept for a process that replaces this one.
    LastGood,
    /// A reload begins.
    Reloading,
    /// A reload has ended, successfully or not.
    Reloaded {
        /// Settings of the configuration in force that the parent needs.
        settings: ChildSettings,
    },
    /// Names of the filter numbers that may appear in the shared page from now on.
    Filters {
        /// Numbers and names.
        names: Vec<(u32, String)>,
    },
    /// Details of some of these filters.
    #[serde(rename = "filters_made")]
    FilterDetails {
        /// Details of each filter.
        filters: Vec<FilterAbout>,
    },
    /// Standard error of this process from now on, as a memory file, to be read when the process has died.
    #[serde(rename = "last_words")]
    CrashMessage,
    /// Requests a new process for the configuration on disk, because filter libraries have changed.
    Renew,
}

/// Settings of its configuration that a gateway process sends to the parent, which reads no configuration itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChildSettings {
    /// Maximum duration of a drain, in milliseconds.
    pub(crate) drain_timeout_ms: u64,
    /// Number of workers whose heartbeats are supervised.
    pub(crate) workers: usize,
    /// Level of eddy's own log.
    pub(crate) log_level: String,
    /// Whether log entries are written as JSON.
    pub(crate) is_log_json: bool,
    /// Limits for the quarantine of filters.
    #[serde(default)]
    pub(crate) quarantine: QuarantineLimits,
}

/// Limits for the quarantine of filters that crash the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QuarantineLimits {
    /// Crashes until a filter is quarantined; 0 for never.
    pub(crate) deaths: u32,
    /// Period in which crashes are counted, in milliseconds.
    pub(crate) within_ms: u64,
    /// Duration of the quarantine, in milliseconds.
    pub(crate) time_ms: u64,
}

/// Details of a filter by which the parent attributes a crash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FilterAbout {
    /// Filter name in the configuration.
    pub(crate) name: String,
    /// Version, which changes with the filter's configuration and library.
    pub(crate) version: String,
    /// Folder of its sources, if known: the crash output of a Go program names its source files.
    pub(crate) folder: Option<PathBuf>,
}

/// Quarantined filter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Quarantined {
    /// Filter name in the configuration.
    pub(crate) name: String,
    /// [`FilterAbout::version`] of the quarantined filter; another version under this name may be called.
    pub(crate) version: String,
    /// Crashes counted.
    pub(crate) deaths: u32,
    /// End of the quarantine, in milliseconds of the monotonic clock.
    pub(crate) until_ms: u64,
}

/// Why a gateway process was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StartReason {
    /// First process; its failure is the failure of `eddy run`.
    First,
    /// Replacement of a process that died.
    Replacement,
    /// Hand-over from a serving process.
    HandOver,
    /// Hand-over requested by the serving process itself; the program stays the same.
    Renewal,
}

/// Key of a set of listening sockets held by the parent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct SocketKey {
    /// Role of the sockets.
    pub(crate) role: SocketRole,
    /// Configured address: a port 0 stays 0 here.
    pub(crate) place: SocketPlace,
}

/// Role of a listening socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SocketRole {
    /// Traffic.
    Listener,
    /// Admin listener.
    Admin,
}

/// Address of a socket.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SocketPlace {
    /// TCP address.
    Tcp(SocketAddr),
    /// Unix socket path.
    Unix(PathBuf),
    /// UDP address.
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
