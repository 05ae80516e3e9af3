//! Listening sockets that a process holds, by role and address.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use super::bind::{Port, SocketBindError, SocketFile, SocketProtocol, bind_port, bind_unix};
use crate::control::{SocketKey, SocketPlace};

/// All listening sockets of this program. Others only get copies; a queue lives as long as its entry here.
#[derive(Debug, Default)]
pub(crate) struct SocketStore {
    held: BTreeMap<SocketKey, HeldSockets>,
}

/// Sockets of one address.
#[derive(Debug)]
pub(crate) struct HeldSockets {
    /// Bound address, including the port chosen by the kernel.
    pub(crate) bound: SocketPlace,
    /// One or more sockets, each with its own queue; a Unix address has one.
    pub(crate) sockets: Vec<OwnedFd>,
    /// File of a Unix socket.
    pub(crate) file: Option<SocketFile>,
}

impl SocketStore {
    /// Returns the sockets for `key`, binding missing ones: at least `wanted`, and all that are held.
    ///
    /// A holder that needs fewer must still accept from all of them, because connections wait in every queue.
    ///
    /// # Errors
    /// [`SocketBindError`]; sockets held before are kept, and no new ones.
    pub(crate) fn acquire(
        &mut self,
        key: &SocketKey,
        wanted: usize,
    ) -> Result<&HeldSockets, SocketBindError> {
        let wanted = wanted.clamp(1, eddy_io::WORKERS_MAX);
        if let Some(held) = self.held.get_mut(key) {
            if let Some((transport, bound)) = port_of(&held.bound) {
                let missing = wanted.saturating_sub(held.sockets.len());
                let (_, more) = bind_port(transport, key.role, bound, Port::Ours, missing)?;
                held.sockets.extend(more);
            }
        } else {
            let fresh = self.bind(key, wanted)?;
            self.held.insert(key.clone(), fresh);
        }
        Ok(&self.held[key])
    }

    /// Closes the newest sockets of `key` until `count` are left; with none left, the entry is removed.
    pub(crate) fn shrink(&mut self, key: &SocketKey, count: usize) {
        if count == 0 {
            self.release(key);
        } else if let Some(held) = self.held.get_mut(key) {
            held.sockets.truncate(count);
        }
    }

    /// Closes the sockets of `key` and removes the file of a Unix socket.
    pub(crate) fn release(&mut self, key: &SocketKey) {
        if let Some(held) = self.held.remove(key) {
            held.remove_file();
        }
    }

    /// Closes all sockets for which `is_used` is false, and returns where they were bound.
    pub(crate) fn retain(&mut self, is_used: impl Fn(&SocketKey) -> bool) -> Vec<SocketPlace> {
        self.held
            .extract_if(.., |key, _| !is_used(key))
            .map(|(_, held)| {
                held.remove_file();
                held.bound
            })
            .collect()
    }

    /// Adds an entry that another image of this program bound.
    pub(crate) fn adopt(&mut self, key: SocketKey, held: HeldSockets) {
        self.held.insert(key, held);
    }

    /// Adds sockets lent by a gateway process without a parent. The file of a Unix socket belongs to that process until
    /// [`Self::keep_inherited`]: the process may have to keep serving.
    pub(crate) fn inherit(&mut self, key: SocketKey, bound: SocketPlace, sockets: Vec<OwnedFd>) {
        let held =
            self.held.entry(key).or_insert_with(|| HeldSockets { bound, sockets: Vec::new(), file: None });
        let room = eddy_io::WORKERS_MAX.saturating_sub(held.sockets.len());
        held.sockets.extend(sockets.into_iter().take(room));
    }

    /// Takes ownership of the files of inherited Unix sockets, to remove them with their sockets.
    pub(crate) fn keep_inherited(&mut self) {
        for held in self.held.values_mut() {
            if let (SocketPlace::Unix(path), None) = (&held.bound, held.file) {
                held.file = SocketFile::at(path);
            }
        }
    }

    /// Returns all entries.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&SocketKey, &HeldSockets)> {
        self.held.iter()
    }

    fn bind(&self, key: &SocketKey, wanted: usize) -> Result<HeldSockets, SocketBindError> {
        if let SocketPlace::Unix(path) = &key.place {
            let (socket, file) = bind_unix(path)?;
            return Ok(HeldSockets { bound: key.place.clone(), sockets: vec![socket], file });
        }
        let (transport, address) = port_of(&key.place).expect("only Unix sockets have no port");
        let is_ours = |held: &HeldSockets| {
            port_of(&held.bound)
                .is_some_and(|(other, bound)| other == transport && bound.port() == address.port())
        };
        let port = if self.held.values().any(is_ours) { Port::Ours } else { Port::Unknown };
        let (bound, sockets) = bind_port(transport, key.role, address, port, wanted)?;
        Ok(HeldSockets { bound: transport.place(bound), sockets, file: None })
    }
}

/// Returns protocol and address of a place that has a port.
fn port_of(place: &SocketPlace) -> Option<(SocketProtocol, SocketAddr)> {
    match place {
        SocketPlace::Tcp(address) => Some((SocketProtocol::Tcp, *address)),
        SocketPlace::Udp(address) => Some((SocketProtocol::Udp, *address)),
        SocketPlace::Unix(_) => None,
    }
}

impl HeldSockets {
    /// Wraps sockets that another image of this program bound at `bound`.
    pub(crate) fn bound_before(bound: SocketPlace, sockets: Vec<OwnedFd>) -> Self {
        let file = match &bound {
            SocketPlace::Unix(path) => SocketFile::at(path),
            SocketPlace::Tcp(_) | SocketPlace::Udp(_) => None,
        };
        Self { bound, sockets, file }
    }

    /// Removes the file of a Unix socket if it is still the one that was bound.
    fn remove_file(&self) {
        if let (SocketPlace::Unix(path), Some(file)) = (&self.bound, self.file)
            && SocketFile::at(path) == Some(file)
        {
            // If this fails, the next process to bind there finds the file stale.
            let _ = std::fs::remove_file(path);
        }
    }
}
