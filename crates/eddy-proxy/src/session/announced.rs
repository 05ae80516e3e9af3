//! What a proxy in front says of a connection before its first byte.

use std::future::poll_fn;
use std::net::SocketAddr;
use std::task::{Poll, ready};

use eddy_io::{
    PROXY_HEADER_BYTES_MAX, PeerAddress, ProxyHeader, ProxyHeaderFault, Stream, Timer, read_proxy_header,
};

/// Why a connection that has to begin with a header is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unannounced {
    /// What it begins with is no header.
    #[error(transparent)]
    Refused(ProxyHeaderFault),
    /// It did not come in time.
    #[error("the PROXY header did not come in time")]
    Late,
    /// The proxy has gone.
    #[error("the proxy left before it had sent a PROXY header")]
    Gone,
}

/// Takes the header off the stream; the client as it says, or the proxy itself where it speaks of nobody.
///
/// Not a byte behind the header is taken, so whoever reads next finds the beginning of what the client says.
///
/// # Errors
/// [`Unannounced`].
pub(crate) async fn announced(
    stream: &mut Stream,
    peer: PeerAddress,
    timer: &Timer,
    timeout_ms: u64,
) -> Result<PeerAddress, Unannounced> {
    let mut bytes = [0; PROXY_HEADER_BYTES_MAX];
    let mut taken = 0;
    timer.arm(timeout_ms);
    let header = poll_fn(|cx| {
        timer.register(cx);
        loop {
            if timer.is_expired() {
                return Poll::Ready(Err(Unannounced::Late));
            }
            let room = bytes.get_mut(taken..).unwrap_or_default();
            let Ok(seen @ 1..) = ready!(stream.poll_peek(cx, room)) else {
                return Poll::Ready(Err(Unannounced::Gone));
            };
            let known = bytes.get(..taken + seen).unwrap_or_default();
            let header = match read_proxy_header(known) {
                Ok(header) => header,
                Err(fault) => return Poll::Ready(Err(Unannounced::Refused(fault))),
            };
            // What belongs to it is taken; a header that is not whole needs all that has come.
            let wanted = header.map_or(seen, |(_, len)| len.saturating_sub(taken));
            let room = bytes.get_mut(taken..taken + wanted).unwrap_or_default();
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
