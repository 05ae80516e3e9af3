//! Client of a session.

use std::cell::OnceCell;
use std::net::SocketAddr;

use eddy_io::{PeerAddress, TlsFacts};
use eddy_tls::ClientCertificate;

use crate::host::WorkerFilterState;

/// The client of a session, as all of its exchanges see it.
#[derive(Debug)]
pub(crate) struct DownstreamClient {
    pub(crate) peer: PeerAddress,
    /// Peer address as text, for forwarding headers and access log entries.
    pub(crate) peer_text: String,
    /// Result of the TLS handshake, if the client uses TLS. Boxed, so that the others reserve no space for it.
    secure: OnceCell<Box<SecureClient>>,
    named: OnceCell<ClientConnectionId>,
}

/// Identity of a client connection for filters.
#[derive(Debug)]
struct ClientConnectionId {
    /// Number of the connection in its worker.
    number: u64,
    /// Peer address and port as text.
    address: String,
}

impl DownstreamClient {
    /// Creates the client of a connection that was just accepted.
    pub(crate) fn new(peer: PeerAddress) -> Self {
        Self { peer, peer_text: peer.ip().to_string(), secure: OnceCell::new(), named: OnceCell::new() }
    }

    /// Records the result of the TLS handshake; there is at most one.
    pub(crate) fn secured(&self, secure: SecureClient) {
        let is_first = self.secure.set(Box::new(secure)).is_ok();
        debug_assert!(is_first, "a connection has one handshake");
    }

    /// Returns the result of the TLS handshake, if the client uses TLS.
    pub(crate) fn secure(&self) -> Option<&SecureClient> {
        self.secure.get().map(|secure| &**secure)
    }

    /// Whether the handshake has negotiated this protocol (ALPN).
    pub(crate) fn has_negotiated(&self, protocol: &[u8]) -> bool {
        self.secure().is_some_and(|secure| secure.facts.protocol.as_deref() == Some(protocol))
    }

    /// Returns the scheme of the client's requests.
    pub(crate) fn scheme(&self) -> &'static str {
        if self.secure.get().is_some() { "https" } else { "http" }
    }

    /// Assigns the connection the address text and number by which filters identify it.
    pub(crate) fn name(&self, crossing: &WorkerFilterState) {
        self.named.get_or_init(|| ClientConnectionId {
            number: crossing.number_connection(),
            address: self.peer.to_string(),
        });
    }

    /// Returns the number of the connection in its worker; 0 before it was assigned.
    pub(crate) fn number(&self) -> u64 {
        self.named.get().map_or(0, |named| named.number)
    }

    /// Returns the peer address and port as text; empty before they were assigned.
    pub(crate) fn address(&self) -> &str {
        self.named.get().map_or("", |named| &named.address)
    }
}

/// Part of a client address that hashing uses: the /24 network of an IPv4 address, so that a client behind many
/// addresses keeps its endpoint; the whole IPv6 address.
pub(crate) enum AddressKey {
    V4([u8; 3]),
    V6([u8; 16]),
}

impl AddressKey {
    pub(crate) fn of(peer: PeerAddress) -> Self {
        match peer {
            PeerAddress::Tcp(SocketAddr::V4(address)) => {
                let [a, b, c, _] = address.ip().octets();
                Self::V4([a, b, c])
            }
            PeerAddress::Tcp(SocketAddr::V6(address)) => Self::V6(address.ip().octets()),
            PeerAddress::Unix => Self::V4([0; 3]),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::V4(bytes) => bytes,
            Self::V6(bytes) => bytes,
        }
    }
}

/// TLS properties of a client.
#[derive(Debug)]
pub(crate) struct SecureClient {
    pub(crate) facts: TlsFacts,
    /// The client's verified certificate, if it has sent one.
    pub(crate) certificate: Option<ClientCertificate>,
}

impl SecureClient {
    /// Returns the client certificate in the form forwarded to upstreams; empty without a certificate.
    pub(crate) fn forwarded(&self) -> &str {
        self.certificate.as_ref().map_or("", |certificate| &certificate.forwarded)
    }
}
