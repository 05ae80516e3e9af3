//! Listening sockets that a configuration needs, and those acquired for it.

use std::collections::{BTreeMap, HashMap};
use std::os::fd::OwnedFd;

use eddy_config::{GatewayConfig, ListenAddress};
use eddy_proxy::Sockets;

use super::socket_source::SocketSource;
use crate::control::{SocketKey, SocketPlace, SocketRole};

/// Sockets acquired for a configuration.
pub(super) struct AcquiredSockets {
    /// Sockets of listeners.
    pub(super) sockets: Sockets,
    /// Socket of the admin listener.
    pub(super) admin: Option<OwnedFd>,
    /// Bound addresses.
    pub(super) bound: BTreeMap<SocketKey, SocketPlace>,
    /// Optional addresses that are unavailable, with the reason.
    pub(super) unbound: BTreeMap<SocketKey, String>,
}

/// Address that a configuration needs sockets for.
#[derive(Clone, Debug)]
pub(super) struct SocketRequirement {
    /// Address and role.
    pub(super) key: SocketKey,
    /// Whether the configuration is rejected without it.
    pub(super) is_required: bool,
}

impl AcquiredSockets {
    /// Acquires the sockets for all wanted addresses except optional ones that are unavailable. At least one listener
    /// must be available, unless others are `served` already.
    ///
    /// # Errors
    /// Why sockets are unavailable; nothing is acquired then.
    pub(super) fn acquire(
        source: &mut dyn SocketSource,
        wanted: &[SocketRequirement],
        workers: usize,
        served: usize,
    ) -> anyhow::Result<Self> {
        let sockets = Sockets { by_address: HashMap::new() };
        let mut taken = Self { sockets, admin: None, bound: BTreeMap::new(), unbound: BTreeMap::new() };
        let mut first_error = None;
        for SocketRequirement { key, is_required } in wanted {
            let count = if key.role == SocketRole::Listener { workers } else { 1 };
            match source.acquire(key, count) {
                Ok(lent) => taken.add(key, lent.bound, lent.sockets),
                Err(error) => {
                    let error = error.explained();
                    if *is_required {
                        return Err(taken.return_sockets(source, error));
                    }
                    taken.unbound.insert(key.clone(), format!("{error:#}"));
                    first_error.get_or_insert(error);
                }
            }
        }
        match first_error {
            Some(error) if served + taken.sockets.by_address.len() == 0 => {
                Err(taken.return_sockets(source, error))
            }
            Some(_) | None => Ok(taken),
        }
    }

    fn return_sockets(self, source: &mut dyn SocketSource, error: anyhow::Error) -> anyhow::Error {
        source.release(self.bound.into_keys().collect());
        error
    }

    /// Adds the sockets for a key.
    fn add(&mut self, key: &SocketKey, bound: SocketPlace, sockets: Vec<OwnedFd>) {
        self.bound.insert(key.clone(), bound);
        match key.role {
            SocketRole::Listener => {
                self.sockets.by_address.insert(listen_address(&key.place), sockets);
            }
            SocketRole::Admin => self.admin = sockets.into_iter().next(),
        }
    }
}

/// Returns the addresses that a configuration needs sockets for.
pub(super) fn required_sockets(config: &GatewayConfig) -> Vec<SocketRequirement> {
    let listeners = config.listeners.iter().map(|listener| {
        let place = match &listener.address {
            ListenAddress::Tcp(address) => SocketPlace::Tcp(*address),
            ListenAddress::Unix(path) => SocketPlace::Unix(path.clone()),
            ListenAddress::Udp(address) => SocketPlace::Udp(*address),
        };
        let key = SocketKey { role: SocketRole::Listener, place };
        SocketRequirement { key, is_required: listener.is_required }
    });
    let admin = config.settings.admin.iter().map(|admin| {
        let key = SocketKey { role: SocketRole::Admin, place: SocketPlace::Tcp(admin.address) };
        SocketRequirement { key, is_required: true }
    });
    listeners.chain(admin).collect()
}

/// Returns the address of a socket in the form of the configuration.
pub(super) fn listen_address(place: &SocketPlace) -> ListenAddress {
    match place {
        SocketPlace::Tcp(address) => ListenAddress::Tcp(*address),
        SocketPlace::Unix(path) => ListenAddress::Unix(path.clone()),
        SocketPlace::Udp(address) => ListenAddress::Udp(*address),
    }
}

/// Returns the name of a role in log entries.
pub(super) fn role_name(role: SocketRole) -> &'static str {
    match role {
        SocketRole::Listener => "listener",
        SocketRole::Admin => "admin",
    }
}
