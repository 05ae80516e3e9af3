//! TLS handshake of a downstream connection.

use std::future::poll_fn;
use std::task::Poll;

use eddy_ids::Millis;
use eddy_io::Stream;
use eddy_tls::{CHALLENGE_PROTOCOL, ClientCertificate};

use crate::downstream::{Downstream, SecureClient, Wire};
use crate::stats::{HandshakeFailure, HandshakeSeries};
use crate::worker::Worker;

/// Performs the server side of a TLS handshake; returns whether the client may send requests.
///
/// # Cost
/// See [`eddy_io::TlsStream::poll_handshake`]. While requests are queued for admission, handshakes are queued too, and
/// one that has waited too long is not begun.
pub(crate) async fn perform_handshake(
    down: &mut Downstream,
    timeout: Millis,
    worker: &Worker,
    series: &HandshakeSeries,
) -> bool {
    if !down.wait_for_admission(worker).await {
        series.failed[HandshakeFailure::Overload as usize].increment();
        return false;
    }
    let Downstream { wire: Wire::Connection(Stream::Tls(stream)), timer, client, .. } = down else {
        return true;
    };
    timer.arm(timeout);
    let shaken = poll_fn(|cx| {
        timer.register(cx);
        match stream.poll_handshake(cx) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if timer.is_expired() => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    });
    let failure = match shaken.await {
        Some(Ok(())) => {
            let facts = stream.facts();
            if facts.is_resumed { &series.resumed } else { &series.full }.increment();
            if facts.protocol.as_deref() == Some(CHALLENGE_PROTOCOL) {
                // An ACME authority, which has completed its validation (TLS-ALPN-01).
                return false;
            }
            let certificate = facts.peer_certificate.as_deref().map(ClientCertificate::of);
            client.secured(SecureClient { facts, certificate });
            return true;
        }
        Some(Err(fault)) => {
            tracing::debug!(client = &*client.peer_text, "a TLS handshake failed: {fault}");
            HandshakeFailure::of_client(&fault)
        }
        None => HandshakeFailure::Timeout,
    };
    series.failed[failure as usize].increment();
    false
}
