//! State of the gateway process, shown by the admin listener.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use eddy_config::GatewayConfig;

use crate::control::{Quarantined, SocketKey, SocketPlace};

/// State of a gateway process.
#[derive(Debug)]
pub(super) struct Status {
    /// Number of this process among those that its parent has started.
    pub(super) generation: u64,
    /// Set once the parent knows that this process serves.
    pub(super) reported: OnceLock<()>,
    /// Whether the process is draining.
    pub(super) is_draining: AtomicBool,
    /// Accepted reloads.
    pub(super) reloads_accepted: AtomicU64,
    /// Rejected reloads.
    pub(super) reloads_rejected: AtomicU64,
    /// Whether the configuration read last is not the one in force.
    pub(super) is_config_rejected: AtomicBool,
    force: Mutex<ActiveConfig>,
}

/// Configuration in force and the sockets of its listeners.
#[derive(Clone, Debug)]
pub(super) struct ActiveConfig {
    /// Configuration.
    pub(super) config: Arc<GatewayConfig>,
    /// Bound addresses by configured address.
    pub(super) bound: BTreeMap<SocketKey, SocketPlace>,
    /// Listeners that are not served because their addresses are unavailable, with the reason.
    pub(super) unbound: BTreeMap<SocketKey, String>,
    /// Quarantined filters of the configuration.
    pub(super) quarantined: Vec<Quarantined>,
}

impl Status {
    /// Returns the state of a process that starts to serve.
    pub(super) fn new(generation: u64, force: ActiveConfig) -> Self {
        Self {
            generation,
            reported: OnceLock::new(),
            is_draining: AtomicBool::new(false),
            reloads_accepted: AtomicU64::new(0),
            reloads_rejected: AtomicU64::new(0),
            is_config_rejected: AtomicBool::new(false),
            force: Mutex::new(force),
        }
    }

    /// Returns the configuration in force.
    pub(super) fn force(&self) -> ActiveConfig {
        self.force.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records an accepted reload; `force` is `None` when the configuration did not change.
    pub(super) fn handle_accepted(&self, force: Option<ActiveConfig>) {
        if let Some(force) = force {
            *self.force.lock().unwrap_or_else(PoisonError::into_inner) = force;
        }
        self.reloads_accepted.fetch_add(1, Ordering::Relaxed);
        self.is_config_rejected.store(false, Ordering::Relaxed);
    }

    /// Records a listener that is served from now on.
    pub(super) fn handle_bound(&self, key: SocketKey, place: SocketPlace) {
        let mut force = self.force.lock().unwrap_or_else(PoisonError::into_inner);
        force.unbound.remove(&key);
        force.bound.insert(key, place);
    }

    /// Records a rejected reload.
    pub(super) fn handle_rejected(&self) {
        self.reloads_rejected.fetch_add(1, Ordering::Relaxed);
        self.is_config_rejected.store(true, Ordering::Relaxed);
    }
}
