//! Connecting to an endpoint.

use std::future::poll_fn;
use std::io;

use eddy_io::{HandshakeFault, Stream, TlsStream};
use eddy_tls::ClientTls;

use crate::endpoint::ResolvedAddress;

/// Connects to an address.
///
/// # Errors
/// The error of the system call.
pub async fn connect(address: &ResolvedAddress) -> io::Result<Stream> {
    match address {
        ResolvedAddress::Tcp(address) => Stream::connect_tcp(*address).await,
        ResolvedAddress::Unix(path) => Stream::connect_unix(path).await,
    }
}

/// Performs the TLS client handshake with an endpoint whose own name is `own_name`.
///
/// # Errors
/// A [`HandshakeFault`].
///
/// # Cost
/// That of [`TlsStream::poll_handshake`].
pub async fn shake_hands(
    under: Stream,
    tls: &ClientTls,
    own_name: Option<&str>,
) -> Result<TlsStream, HandshakeFault> {
    let name = tls.name_for(own_name).ok_or_else(HandshakeFault::nameless)?;
    let mut stream = TlsStream::connect(under, tls.config(), name).map_err(HandshakeFault::Protocol)?;
    poll_fn(|cx| stream.poll_handshake(cx)).await?;
    Ok(stream)
}
