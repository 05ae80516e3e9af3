//! Commands to the configuration engine, and the handles of a gateway that it started.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use eddy_acme::Agent;
use eddy_proxy::{FilterHost, Gateway};
use eddy_source::Rejected;

use super::status::Status;
use crate::control::{Channel, Quarantined, SocketKey};
use crate::filters::FilterNames;

/// Handles of a serving gateway, for the main thread.
#[derive(Clone)]
pub(super) struct GatewayHandles {
    pub(super) gateway: Arc<Gateway>,
    pub(super) status: Arc<Status>,
    pub(super) host: Arc<FilterHost>,
    pub(super) names: FilterNames,
    pub(super) acme: Arc<Agent>,
}

/// Command of the main thread to the engine.
#[derive(Clone, Debug)]
pub(super) enum EngineCommand {
    /// Reload the configuration.
    Reload,
    /// The files have changed: reload the configuration if it differs from the one read last.
    FollowFiles,
    /// Replace the set of quarantined filters.
    Quarantine(Vec<Quarantined>),
    /// Stop the admin listener: a successor serves it.
    StopAdmin,
    /// The parent process is gone.
    ParentGone,
    /// Send the sockets of an address to the process that replaces this one.
    SendSockets(Arc<Channel>, SocketKey),
    /// Free filter objects that no plan uses any more.
    Reclaim,
    /// The process ends: stop the guests, close the sockets, and confirm.
    End(Sender<()>),
}

/// Why a configuration cannot be put in force.
#[derive(Debug)]
pub(super) enum ActivationError {
    /// It is invalid.
    Config(Rejected),
    /// A resource that the configuration needs is unavailable.
    Other(anyhow::Error),
}
