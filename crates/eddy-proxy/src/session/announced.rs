//! PROXY protocol header received at the beginning of a connection.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::task::{Poll, ready};

use eddy_ids::Millis;
use eddy_io::{PROXY_HEADER_BYTES_MAX, PeerAddress, ProxyHeader, ProxyHeaderFault, read_proxy_header};

use crate::downstream::{Downstream, Wire};

/// Reason to close a connection that must begin with a PROXY header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unannounced {
    /// The connection does not begin with a valid PROXY header.
    #[error(transparent)]
    Refused(ProxyHeaderFault),
    /// The header did not arrive in time.
    #[error("the PROXY header did not arrive in time")]
    Late,
    /// The proxy has closed the connection.
    #[error("the proxy closed the connection before it sent a PROXY header")]
    Gone,
}

/// Consumes the PROXY header and returns the client address in it, or the proxy's own address for a `LOCAL` header.
///
/// No byte behind the header is consumed, so that the next reader finds the beginning of the client's data.
pub(crate) async fn announced(
    down: &mut Downstream,
    peer: PeerAddress,
    timeout: Millis,
) -> Result<PeerAddress, Unannounced> {
    let Downstream { wire: Wire::Connection(stream), timer, .. } = down else { return Ok(peer) };
    let mut bytes = [0; PROXY_HEADER_BYTES_MAX];
    let mut taken = 0;
    timer.arm(timeout);
    let header = poll_fn(|cx| {
        timer.register(cx);
        loop {
            if timer.is_expired() {
                return Poll::Ready(Err(Unannounced::Late));
            }
            let room = &mut bytes[taken..];
            let Ok(seen @ 1..) = ready!(stream.poll_peek(cx, room)) else {
                return Poll::Ready(Err(Unannounced::Gone));
            };
            let known = &bytes[..taken + seen];
            let header = match read_proxy_header(known) {
                Ok(header) => header,
                Err(fault) => return Poll::Ready(Err(Unannounced::Refused(fault))),
            };
            // Consume only the bytes of the header; an incomplete header includes everything received so far.
            let wanted = header.map_or(seen, |(_, len)| len.saturating_sub(taken));
            let room = &mut bytes[taken..taken + wanted];
            match stream.take_peeked(room) {
                Ok(count) if count == wanted => taken += count,
                Ok(_) | Err(_) => return Poll::Ready(Err(Unannounced::Gone)),
            }
            if let Some((header, _)) = header {
                return Poll::Ready(Ok(header));
            }
            if taken == bytes.len() {
                return Poll::Ready(Err(Unannounced::Refused(ProxyHeaderFault::TooLong)));
            }
        }
    })
    .await?;
    Ok(match header {
        ProxyHeader::Proxied { source, .. } => {
            PeerAddress::Tcp(SocketAddr::new(source.ip().to_canonical(), source.port()))
        }
        ProxyHeader::Local => peer,
    })
}
