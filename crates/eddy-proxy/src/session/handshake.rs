//! The handshake of TLS, before a session speaks HTTP.

use std::future::poll_fn;
use std::task::Poll;

use eddy_io::{Stream, TlsFacts};
use eddy_tls::{CHALLENGE_PROTOCOL, ClientCertificate};

use crate::session::downstream::Downstream;
use crate::session::wire::Wire;
use crate::stats::{HandshakeFailure, HandshakeSeries};
use crate::worker::Worker;

/// What is known of a client that came by TLS.
#[derive(Debug)]
pub(crate) struct SecureClient {
    pub(crate) facts: TlsFacts,
    /// What it has shown of itself, verified.
    pub(crate) certificate: Option<ClientCertificate>,
}

impl SecureClient {
    /// What the upstream is told of the client's certificate; empty where it has shown none.
    pub(crate) fn forwarded(&self) -> &str {
        self.certificate.as_ref().map_or("", |certificate| &certificate.forwarded)
    }
}

/// Takes the server's part in a handshake; whether the client may speak now.
///
/// # Cost
/// See [`eddy_io::TlsStream::poll_handshake`]. While requests line up, so do handshakes, and one that has waited for too
/// long is not begun.
pub(crate) async fn shake_hands(
    down: &mut Downstream,
    timeout_ms: u64,
    worker: &Worker,
    series: &HandshakeSeries,
) -> bool {
    if !down.take_turn(worker).await {
        series.failed[HandshakeFailure::Overload as usize].increment();
        return false;
    }
    let Downstream { wire: Wire::Connection(Stream::Tls(stream)), timer, client, .. } = down else {
        return true;
    };
    timer.arm(timeout_ms);
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
                // An authority, which has seen what it came for.
                return false;
            }
            let certificate = facts.peer_certificate.as_deref().map(ClientCertificate::of);
            client.secured(SecureClient { facts, certificate });
            return true;
        }
        Some(Err(fault)) => {
            tracing::debug!(client = &*client.peer_text, "a handshake failed: {fault}");
            HandshakeFailure::of_client(&fault)
        }
        None => HandshakeFailure::Timeout,
    };
    series.failed[failure as usize].increment();
    false
}
