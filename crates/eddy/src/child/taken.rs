//! The sockets that a configuration needs, and those that were taken for it.

use std::collections::{BTreeMap, HashMap};
use std::os::fd::OwnedFd;

use eddy_config::{Config, ListenAddress};
use eddy_proxy::Sockets;

use crate::control::{SocketKey, SocketPlace, SocketRole};

/// Sockets that were taken for a configuration.
pub(super) struct Taken {
    /// Those of listeners.
    pub(super) sockets: Sockets,
    /// That of the admin listener.
    pub(super) admin: Option<OwnedFd>,
    /// Where they are bound.
    pub(super) bound: BTreeMap<SocketKey, SocketPlace>,
}

impl Taken {
    /// Nothing yet.
    pub(super) fn new() -> Self {
        Self { sockets: Sockets { by_address: HashMap::new() }, admin: None, bound: BTreeMap::new() }
    }

    /// Adds the sockets for a key.
    pub(super) fn add(&mut self, key: &SocketKey, bound: SocketPlace, sockets: Vec<OwnedFd>) {
        self.bound.insert(key.clone(), bound);
        match key.role {
            SocketRole::Listener => {
                self.sockets.by_address.insert(listen_address(&key.place), sockets);
            }
            SocketRole::Admin => self.admin = sockets.into_iter().next(),
        }
    }
}

/// The sockets that a configuration needs.
pub(super) fn keys_of(config: &Config) -> Vec<SocketKey> {
    let listeners = config.listeners.iter().map(|listener| SocketKey {
        role: SocketRole::Listener,
        place: match &listener.address {
            ListenAddress::Tcp(address) => SocketPlace::Tcp(*address),
            ListenAddress::Unix(path) => SocketPlace::Unix(path.clone()),
            ListenAddress::Udp(address) => SocketPlace::Udp(*address),
        },
    });
    let admin = config
        .admin
        .iter()
        .map(|admin| SocketKey { role: SocketRole::Admin, place: SocketPlace::Tcp(admin.address) });
    listeners.chain(admin).collect()
}

/// The listener's address at a place.
pub(super) fn listen_address(place: &SocketPlace) -> ListenAddress {
    match place {
        SocketPlace::Tcp(address) => ListenAddress::Tcp(*address),
        SocketPlace::Unix(path) => ListenAddress::Unix(path.clone()),
        SocketPlace::Udp(address) => ListenAddress::Udp(*address),
    }
}

/// How records name a role.
pub(super) fn role_name(role: SocketRole) -> &'static str {
    match role {
        SocketRole::Listener => "listener",
        SocketRole::Admin => "admin",
    }
}
