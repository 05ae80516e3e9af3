//! Part of a client's address that decides its endpoint.

use std::net::SocketAddr;

use eddy_io::PeerAddress;

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
