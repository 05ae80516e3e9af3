//! Connecting to an endpoint.

use std::future::poll_fn;
use std::io;

use eddy_http::Version;
use eddy_io::{HandshakeFault, Stream, TlsFacts, TlsStream};
use eddy_model::LinkProtocol;
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
pub async fn perform_handshake(
    under: Stream,
    tls: &ClientTls,
    own_name: Option<&str>,
) -> Result<TlsStream, HandshakeFault> {
    let name = tls.name_for(own_name).ok_or_else(HandshakeFault::nameless)?;
    let mut stream = TlsStream::connect(under, tls.config(), name).map_err(HandshakeFault::Protocol)?;
    poll_fn(|cx| stream.poll_handshake(cx)).await?;
    Ok(stream)
}

/// Returns the HTTP version of a new connection, where `tls` is the result of its TLS handshake: negotiated, or
/// configured without negotiation. `None` when the endpoint did not negotiate HTTP/2, which its cluster requires.
pub fn http_version(protocol: LinkProtocol, tls: Option<&TlsFacts>) -> Option<Version> {
    let has_agreed = tls.is_some_and(|facts| facts.protocol.as_deref() == Some(b"h2"));
    match protocol {
        LinkProtocol::Http2 if tls.is_some() && !has_agreed => None,
        LinkProtocol::Http2 => Some(Version::Http2),
        LinkProtocol::Auto if has_agreed => Some(Version::Http2),
        LinkProtocol::Auto | LinkProtocol::Http1 => Some(Version::Http11),
    }
}
