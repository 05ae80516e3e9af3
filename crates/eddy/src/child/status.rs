//! What the gateway process knows of itself, for the admin listener to show.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use eddy_config::GatewayConfig;

use crate::control::{Quarantined, SocketKey, SocketPlace};

/// The state of a gateway process.
#[derive(Debug)]
pub(super) struct Status {
    /// Counts the processes of one parent.
    pub(super) generation: u64,
    /// Set once the parent has been told that the process serves.
    pub(super) reported: OnceLock<()>,
    /// Whether the process is letting its exchanges end.
    pub(super) is_draining: AtomicBool,
    /// Reloads that were accepted.
    pub(super) reloads_accepted: AtomicU64,
    /// Reloads that were rejected.
    pub(super) reloads_rejected: AtomicU64,
    /// Whether what was read last is not what is in force.
    pub(super) is_config_rejected: AtomicBool,
    force: Mutex<InForce>,
}

/// The configuration in force and where it made the process listen.
#[derive(Clone, Debug)]
pub(super) struct InForce {
    /// The configuration.
    pub(super) config: Arc<GatewayConfig>,
    /// Where the sockets are, by what was configured.
    pub(super) bound: BTreeMap<SocketKey, SocketPlace>,
    /// The listeners that are not served because their addresses can't be had, and why.
    pub(super) unbound: BTreeMap<SocketKey, String>,
    /// Its filters that are not entered.
    pub(super) quarantined: Vec<Quarantined>,
}

impl Status {
    /// The state of a process that begins to serve.
    pub(super) fn new(generation: u64, force: InForce) -> Self {
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

    /// What is in force now.
    pub(super) fn force(&self) -> InForce {
        self.force.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes note of a reload that was accepted; a reload that changed nothing leaves `force` as it is.
    pub(super) fn handle_accepted(&self, force: Option<InForce>) {
        if let Some(force) = force {
            *self.force.lock().unwrap_or_else(PoisonError::into_inner) = force;
        }
        self.reloads_accepted.fetch_add(1, Ordering::Relaxed);
        self.is_config_rejected.store(false, Ordering::Relaxed);
    }

    /// Takes note of a listener that is served now.
    pub(super) fn handle_bound(&self, key: SocketKey, place: SocketPlace) {
        let mut force = self.force.lock().unwrap_or_else(PoisonError::into_inner);
        force.unbound.remove(&key);
        force.bound.insert(key, place);
    }

    /// Takes note of a reload that was rejected.
    pub(super) fn handle_rejected(&self) {
        self.reloads_rejected.fetch_add(1, Ordering::Relaxed);
        self.is_config_rejected.store(true, Ordering::Relaxed);
    }
}
