//! New connections to endpoints.

use std::io;
use std::rc::Rc;

use eddy_io::{HandshakeFaultKind, Stream};
use eddy_tls::ClientTls;
use eddy_upstream::{Link, LinkPlace, LinkProtocol, ResolvedAddress, connect, shake_hands};
use rustix::io::Errno;
use tokio::time::timeout;

use crate::fault::Fault;
use crate::link::{Opening, Upstream};
use crate::stats::HandshakeFailure;
use crate::worker::cluster::{LinkWanted, Stay, TakenLink, WorkerCluster};
use crate::worker::state::Worker;

impl Worker {
    /// Obtains what a request goes to the endpoint of a stay by: a link that was kept, a stream of one that is shared, or a new
    /// link, made in the time that the cluster has for that.
    ///
    /// # Errors
    /// [`Fault::LinksExhausted`], or why there is no link, which has been counted.
    ///
    /// # Cost
    /// That of [`Stay::take_link`] where there is one.
    pub(crate) async fn obtain(self: &Rc<Self>, stay: &Stay, wanted: LinkWanted) -> Result<Upstream, Fault> {
        match stay.take_link(wanted, self.timers.now_ms()) {
            Some(TakenLink::Kept(link)) => Ok(Upstream::Link(link)),
            Some(TakenLink::Stream(stream)) => Ok(Upstream::Stream(stream)),
            Some(TakenLink::Place(place)) => self.open(stay, place).await.map(Upstream::Link),
            // In a box: most exchanges need no room for it.
            Some(TakenLink::Opening(opening)) => Box::pin(self.join(stay, wanted, opening)).await,
            Some(TakenLink::SharedPlace(place)) => {
                let opening = Opening::begin(self, stay, place);
                Box::pin(self.join(stay, wanted, opening)).await
            }
            None => Err(Fault::LinksExhausted),
        }
    }

    /// Waits for a link that is being established; or for another one, where others have taken what it has room for.
    async fn join(
        self: &Rc<Self>,
        stay: &Stay,
        wanted: LinkWanted,
        mut opening: Rc<Opening>,
    ) -> Result<Upstream, Fault> {
        loop {
            opening.wait().await?;
            opening = match stay.take_link(wanted, self.timers.now_ms()) {
                Some(TakenLink::Kept(link)) => return Ok(Upstream::Link(link)),
                Some(TakenLink::Stream(stream)) => return Ok(Upstream::Stream(stream)),
                Some(TakenLink::Place(place)) => return self.open(stay, place).await.map(Upstream::Link),
                Some(TakenLink::Opening(opening)) => opening,
                Some(TakenLink::SharedPlace(place)) => Opening::begin(self, stay, place),
                None => return Err(Fault::LinksExhausted),
            };
        }
    }

    /// Makes a link that nothing but this request goes by.
    ///
    /// # Errors
    /// As [`Self::obtain`].
    pub(crate) async fn obtain_alone(&self, stay: &Stay) -> Result<Upstream, Fault> {
        let place = stay.take_place().ok_or(Fault::LinksExhausted)?;
        self.open(stay, place).await.map(Upstream::Link)
    }

    /// Makes a link to the endpoint of a stay in this place, in the time that the cluster has for that, and counts it.
    ///
    /// # Errors
    /// [`Fault::ConnectTimeout`], and as [`Self::connect_to`].
    ///
    /// # Cost
    /// That of [`Self::connect_to`], and an allocation.
    pub(crate) async fn open(&self, stay: &Stay, place: LinkPlace) -> Result<Link, Fault> {
        let cluster = stay.cluster();
        let connecting = self.connect_to(cluster, &stay.address, || stay.own_name());
        // In a box: most exchanges need no room for it.
        let connected = Box::pin(timeout(cluster.config.connect_timeout, connecting)).await;
        match connected.unwrap_or(Err(Fault::ConnectTimeout)) {
            Ok(stream) => {
                cluster.series.connects.increment();
                Ok(Link::new(stream, place))
            }
            Err(fault) => {
                cluster.series.connects_failed.increment();
                Err(fault)
            }
        }
    }

    /// Connects to an endpoint of a cluster, which calls itself what `own_name` says, and shakes hands where the cluster
    /// speaks TLS. How long that may take is the caller's to say.
    ///
    /// # Errors
    /// [`Fault::ConnectFailed`], or [`Fault::Handshake`] for an endpoint that doesn't show what is asked of it.
    ///
    /// # Cost
    /// System calls; with TLS that of [`shake_hands`].
    pub(crate) async fn connect_to(
        &self,
        cluster: &WorkerCluster,
        address: &ResolvedAddress,
        own_name: impl FnOnce() -> Option<String>,
    ) -> Result<Stream, Fault> {
        let stream = self.reach(address).await.map_err(|_| Fault::ConnectFailed)?;
        match &cluster.tls {
            None => Ok(stream),
            // In a box: most exchanges need no room for it.
            Some(tls) => Box::pin(self.secure(stream, tls, cluster, address, own_name())).await,
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
    async fn secure(
        &self,
        under: Stream,
        tls: &ClientTls,
        cluster: &WorkerCluster,
        address: &ResolvedAddress,
        own_name: Option<String>,
    ) -> Result<Stream, Fault> {
        let series = &cluster.series.handshakes;
        match shake_hands(under, tls, own_name.as_deref()).await {
            // It takes the handshake, and has no word for what is to be spoken inside.
            Ok(stream)
                if cluster.config.protocol == LinkProtocol::Http2
                    && stream.facts().protocol.as_deref() != Some(b"h2") =>
            {
                let kind = HandshakeFaultKind::Incompatible;
                series.failed[HandshakeFailure::of_endpoint(kind) as usize].increment();
                cluster.tell_strange(address, self.timers.now_ms());
                Err(Fault::Handshake(kind))
            }
            Ok(stream) => {
                if stream.is_resumed() { &series.resumed } else { &series.full }.increment();
                Ok(Stream::Tls(Box::new(stream)))
            }
            Err(fault) => {
                let kind = fault.kind();
                series.failed[HandshakeFailure::of_endpoint(kind) as usize].increment();
                cluster.tell_handshake(address, &fault, self.timers.now_ms());
                Err(Fault::Handshake(kind))
            }
        }
    }
}

fn is_out_of_descriptors(error: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
