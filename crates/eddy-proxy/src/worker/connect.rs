//! New connections to endpoints.

use std::io;

use eddy_io::Stream;
use eddy_tls::ClientTls;
use eddy_upstream::{ResolvedAddress, connect, shake_hands};
use rustix::io::Errno;

use crate::fault::Fault;
use crate::stats::HandshakeFailure;
use crate::worker::cluster::Stay;
use crate::worker::state::Worker;

impl Worker {
    /// Connects to the endpoint of a stay, and shakes hands where its cluster speaks TLS. How long that may take is the
    /// caller's to say.
    ///
    /// # Errors
    /// [`Fault::ConnectFailed`], or [`Fault::Handshake`] for an endpoint that doesn't show what is asked of it.
    ///
    /// # Cost
    /// System calls; with TLS that of [`shake_hands`].
    pub(crate) async fn connect(&self, stay: &Stay) -> Result<Stream, Fault> {
        let stream = self.reach(&stay.address).await.map_err(|_| Fault::ConnectFailed)?;
        match &stay.cluster().tls {
            None => Ok(stream),
            // In a box: most exchanges need no room for it.
            Some(tls) => Box::pin(self.secure(stream, tls, stay)).await,
        }
    }

    /// Connects; where descriptors have run out, once more after an idle connection has given its own up.
    async fn reach(&self, address: &ResolvedAddress) -> io::Result<Stream> {
        match connect(address).await {
            Err(error) if is_out_of_descriptors(&error) => {
                self.free_descriptors(1);
                // The session that is told to end needs a turn for it.
                tokio::task::yield_now().await;
                connect(address).await
            }
            connected => connected,
        }
    }

    /// Takes the client's part in a handshake.
    async fn secure(&self, under: Stream, tls: &ClientTls, stay: &Stay) -> Result<Stream, Fault> {
        let cluster = stay.cluster();
        let series = &cluster.series.handshakes;
        match shake_hands(under, tls, stay.own_name().as_deref()).await {
            Ok(stream) => {
                if stream.is_resumed() { &series.resumed } else { &series.full }.increment();
                Ok(Stream::Tls(Box::new(stream)))
            }
            Err(fault) => {
                let kind = fault.kind();
                series.failed[HandshakeFailure::of_endpoint(kind) as usize].increment();
                cluster.tell_handshake(&stay.address, &fault, self.timers.now_ms());
                Err(Fault::Handshake(kind))
            }
        }
    }
}

fn is_out_of_descriptors(error: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
