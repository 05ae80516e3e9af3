//! Who is at the other end of a session.

use std::cell::OnceCell;

use eddy_io::PeerAddress;

use crate::exchange::WorkerFilterState;
use crate::session::handshake::SecureClient;

/// The client of a session, as all of its exchanges know it.
#[derive(Debug)]
pub(crate) struct DownstreamClient {
    pub(crate) peer: PeerAddress,
    /// The peer's address as text, for forwarding fields and records.
    pub(crate) peer_text: String,
    /// What is known of it by its handshake, where it came by TLS.
    secure: OnceCell<SecureClient>,
    named: OnceCell<ClientConnectionId>,
}

/// By what filters know a client's connection.
#[derive(Debug)]
struct ClientConnectionId {
    /// The connection's number in its worker.
    number: u64,
    /// The peer's address and port as text.
    address: String,
}

impl DownstreamClient {
    /// The client of a connection that was just accepted.
    pub(crate) fn new(peer: PeerAddress) -> Self {
        Self { peer, peer_text: peer.ip().to_string(), secure: OnceCell::new(), named: OnceCell::new() }
    }

    /// Takes note of what the handshake brought; there is one.
    pub(crate) fn secured(&self, secure: SecureClient) {
        let is_first = self.secure.set(secure).is_ok();
        debug_assert!(is_first, "a connection has one handshake");
    }

    /// What is known of the client by its handshake, where it came by TLS.
    pub(crate) fn secure(&self) -> Option<&SecureClient> {
        self.secure.get()
    }

    /// Whether the client and we have agreed on this protocol in the handshake.
    pub(crate) fn has_agreed_on(&self, protocol: &[u8]) -> bool {
        self.secure().is_some_and(|secure| secure.facts.protocol.as_deref() == Some(protocol))
    }

    /// The scheme of what the client asks for.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.secure.get().is_some() { "https" } else { "http" }
    }

    /// Gives the connection the name and number by which filters know it.
    pub(crate) fn name(&self, crossing: &WorkerFilterState) {
        self.named.get_or_init(|| ClientConnectionId {
            number: crossing.number_connection(),
            address: self.peer.to_string(),
        });
    }

    /// The connection's number in its worker; 0 before it was named.
    pub(crate) fn number(&self) -> u64 {
        self.named.get().map_or(0, |named| named.number)
    }

    /// The peer's address and port as text; empty before the connection was named.
    pub(crate) fn address(&self) -> &str {
        self.named.get().map_or("", |named| &named.address)
    }
}
