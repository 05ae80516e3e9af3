//! Sends copies of listening sockets to the successor of an orphaned gateway process.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use eddy_proxy::Gateway;

use super::taken::listen_address;
use crate::admin::AdminServer;
use crate::control::{Channel, DESCRIPTORS_PER_MESSAGE, SocketKey, SocketRole, ToSuccessor};

/// Sends copies of the sockets of an address; none if this process does not listen there.
pub(super) fn lend(successor: &Channel, key: &SocketKey, gateway: &Gateway, admin: Option<&AdminServer>) {
    let sockets = copies(key, gateway, admin).unwrap_or_else(|error| {
        tracing::error!(address = %key.place, %error, "cannot pass listening sockets to a successor");
        Vec::new()
    });
    let descriptors: Vec<BorrowedFd<'_>> = sockets.iter().map(AsFd::as_fd).collect();
    let mut batches = descriptors.chunks(DESCRIPTORS_PER_MESSAGE).peekable();
    loop {
        let batch = batches.next().unwrap_or_default();
        let is_last = batches.peek().is_none();
        // A successor that cannot receive is gone or will give up.
        if successor.send(&ToSuccessor::Lent { is_last }, batch).is_err() || is_last {
            return;
        }
    }
}

fn copies(key: &SocketKey, gateway: &Gateway, admin: Option<&AdminServer>) -> io::Result<Vec<OwnedFd>> {
    match key.role {
        SocketRole::Listener => gateway.sockets(&listen_address(&key.place)).map_err(io::Error::other),
        SocketRole::Admin => admin.map(|admin| eddy_io::duplicate(admin.socket())).into_iter().collect(),
    }
}
