//! Listeners that are not served because their addresses are unavailable, and further attempts to bind them.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use eddy_proxy::{Gateway, Sockets};

use super::command::EngineCommand;
use super::socket_source::SocketSource;
use super::status::Status;
use super::taken::listen_address;
use crate::control::SocketKey;

/// Returns the next command; `None` when it is time for another attempt to bind listeners.
///
/// # Errors
/// `Disconnected` when the sender of commands is dropped.
pub(super) fn next_order(
    orders: &Receiver<EngineCommand>,
    status: &Status,
) -> Result<Option<EngineCommand>, RecvTimeoutError> {
    if status.force().unbound.is_empty() {
        return orders.recv().map(Some).map_err(|_| RecvTimeoutError::Disconnected);
    }
    match orders.recv_timeout(ATTEMPT_INTERVAL) {
        Err(RecvTimeoutError::Timeout) => Ok(None),
        other => other.map(Some),
    }
}

/// Logs which listeners are not served.
pub(super) fn log_unbound(unbound: &BTreeMap<SocketKey, String>) {
    for (key, problem) in unbound {
        let address = &key.place;
        tracing::error!(%address, reason = "PortUnavailable", "a listener is not served; binding is retried every second: {problem}");
    }
}

/// Retries listeners whose addresses were unavailable.
pub(super) fn listen_again(
    gateway: &Gateway,
    status: &Status,
    source: &mut dyn SocketSource,
    workers: usize,
) {
    for key in status.force().unbound.into_keys() {
        let Ok(lent) = source.acquire(&key, workers) else { continue };
        let by_address = [(listen_address(&key.place), lent.sockets)].into();
        match gateway.listen(Sockets { by_address }) {
            Ok(()) => {
                tracing::info!(address = %lent.bound, role = "listener", "listening");
                status.handle_bound(key, lent.bound);
            }
            Err(error) => {
                tracing::error!(%error, "a listener cannot start");
                source.release(vec![key]);
            }
        }
    }
}

const ATTEMPT_INTERVAL: Duration = Duration::from_secs(1);
