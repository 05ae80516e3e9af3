//! New connections to endpoints.

use std::io;
use std::rc::Rc;
use std::sync::Arc;

use eddy_io::{FirstRead, HandshakeFaultKind, Stream};
use eddy_model::LimitKind;
use eddy_tls::ClientTls;
use eddy_upstream::{Link, LinkPermit, ResolvedAddress, connect, http_version, perform_handshake};
use rustix::io::Errno;
use tokio::time::timeout;

use crate::fault::Fault;
use crate::runtime::WorkerServices;
use crate::stats::{HandshakeFailure, HandshakeSeries};
use crate::upstream::channel::UpstreamChannel;
use crate::upstream::cluster::WorkerCluster;
use crate::upstream::guard::{EndpointGuard, LinkRequirement, ObtainedLink};
use crate::upstream::open::open;

impl WorkerServices {
    /// Obtains the channel for a request to the endpoint of a guard: a pooled link, a stream of a shared link, or a new
    /// link, established within the cluster's connect timeout.
    ///
    /// # Errors
    /// [`Fault::LinksExhausted`], [`Fault::Limit`], or the reason why there is no link, which has been counted.
    ///
    /// # Cost
    /// That of [`EndpointGuard::take_link`] when it returns a link.
    pub(crate) async fn obtain(
        self: &Rc<Self>,
        guard: &EndpointGuard,
        wanted: LinkRequirement,
    ) -> Result<UpstreamChannel, Fault> {
        let taken = match guard.take_link(wanted, self.timers.now())? {
            ObtainedLink::Kept(link) => return Ok(UpstreamChannel::Link(link)),
            ObtainedLink::Stream(stream) => return Ok(UpstreamChannel::Stream(stream)),
            later @ (ObtainedLink::OpenPermit(_)
            | ObtainedLink::Opening(_)
            | ObtainedLink::SharedPermit(_)) => later,
        };
        let _pending = guard.cluster.take(LimitKind::Pending)?;
        // Boxed: most exchanges need no space for it.
        Box::pin(self.wait_for_link(guard, wanted, taken)).await
    }

    /// As [`Self::obtain`], but queues when the endpoint has its maximum number of HTTP/1 links: for as long as the
    /// cluster's connect timeout.
    pub(crate) async fn obtain_queued(
        self: &Rc<Self>,
        guard: &EndpointGuard,
        wanted: LinkRequirement,
    ) -> Result<UpstreamChannel, Fault> {
        if !guard.has_queue() {
            match self.obtain(guard, wanted).await {
                Err(Fault::LinksExhausted) if !guard.cluster.shares_links() => {}
                obtained => return obtained,
            }
        }
        // Boxed: most exchanges need no space for it.
        Box::pin(self.queue_for_link(guard, wanted)).await
    }

    async fn queue_for_link(
        self: &Rc<Self>,
        guard: &EndpointGuard,
        wanted: LinkRequirement,
    ) -> Result<UpstreamChannel, Fault> {
        let _pending = guard.cluster.take(LimitKind::Pending)?;
        let turn = async {
            let queue = guard.queue();
            loop {
                queue.called().await;
                match guard.take_link(wanted, self.timers.now()) {
                    Err(Fault::LinksExhausted) => {}
                    taken => return taken,
                }
            }
        };
        let taken = timeout(guard.cluster.config.connect_timeout, turn).await;
        self.wait_for_link(guard, wanted, taken.unwrap_or(Err(Fault::LinksExhausted))?).await
    }

    /// Waits for a link that is being established or will be; for another one when other requests have used up its
    /// capacity.
    async fn wait_for_link(
        self: &Rc<Self>,
        guard: &EndpointGuard,
        wanted: LinkRequirement,
        mut taken: ObtainedLink,
    ) -> Result<UpstreamChannel, Fault> {
        loop {
            let opening = match taken {
                ObtainedLink::Kept(link) => return Ok(UpstreamChannel::Link(link)),
                ObtainedLink::Stream(stream) => return Ok(UpstreamChannel::Stream(stream)),
                ObtainedLink::OpenPermit(place) => {
                    return self.open(guard, place).await.map(UpstreamChannel::Link);
                }
                ObtainedLink::Opening(opening) => opening,
                ObtainedLink::SharedPermit(place) => open(self, guard, place),
            };
            opening.wait().await?;
            taken = guard.take_link(wanted, self.timers.now())?;
        }
    }

    /// Establishes a link for the exclusive use of this request.
    pub(crate) async fn obtain_exclusive(&self, guard: &EndpointGuard) -> Result<UpstreamChannel, Fault> {
        let place = guard.take_link_permit()?;
        let _pending = guard.cluster.take(LimitKind::Pending)?;
        self.open(guard, place).await.map(UpstreamChannel::Link)
    }

    /// Establishes a link to the endpoint of a guard with this permit, within the cluster's connect timeout, and counts
    /// it.
    ///
    /// # Errors
    /// [`Fault::ConnectTimeout`], and as [`Self::connect_to`].
    ///
    /// # Cost
    /// That of [`Self::connect_to`], and an allocation.
    pub(crate) async fn open(&self, guard: &EndpointGuard, place: LinkPermit) -> Result<Link, Fault> {
        let cluster = &guard.cluster;
        let connecting = self.connect_to(cluster, &guard.address, || guard.own_name());
        // Boxed: most exchanges need no space for it.
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

    /// Connects to an endpoint of a cluster, and performs the TLS handshake if the cluster uses TLS. `own_name` returns
    /// the endpoint's own name. The caller sets a timeout.
    ///
    /// # Errors
    /// [`Fault::ConnectFailed`], or [`Fault::Handshake`] for an endpoint that does not meet the TLS requirements.
    ///
    /// # Cost
    /// System calls; with TLS that of [`perform_handshake`].
    pub(crate) async fn connect_to(
        &self,
        cluster: &WorkerCluster,
        address: &ResolvedAddress,
        own_name: impl FnOnce() -> Option<String>,
    ) -> Result<Stream, Fault> {
        let stream = self.reach(address).await.map_err(|_| Fault::ConnectFailed)?;
        match &cluster.tls {
            None => Ok(stream),
            // Boxed: most exchanges need no space for it.
            Some(tls) => Box::pin(self.secure(stream, tls, cluster, address, own_name())).await,
        }
    }

    /// Connects; when descriptors are exhausted, closes an idle connection and tries once more.
    async fn reach(&self, address: &ResolvedAddress) -> io::Result<Stream> {
        match connect(address).await {
            Err(error) if is_out_of_descriptors(&error) => {
                self.free_descriptors(1);
                // The session that is being closed needs a turn for it.
                tokio::task::yield_now().await;
                connect(address).await
            }
            connected => connected,
        }
    }

    /// Performs the client side of a TLS handshake.
    async fn secure(
        &self,
        under: Stream,
        tls: &ClientTls,
        cluster: &WorkerCluster,
        address: &ResolvedAddress,
        own_name: Option<String>,
    ) -> Result<Stream, Fault> {
        let series = &cluster.series.handshakes;
        match perform_handshake(under, tls, own_name.as_deref()).await {
            // The handshake succeeded, but the endpoint did not negotiate HTTP/2.
            Ok(stream) if http_version(cluster.config.protocol, Some(&stream.facts())).is_none() => {
                let kind = HandshakeFaultKind::Incompatible;
                series.failed[HandshakeFailure::of_endpoint(kind) as usize].increment();
                cluster.log_not_http2(address, self.timers.now());
                Err(Fault::Handshake(kind))
            }
            Ok(mut stream) => {
                if stream.is_confirmed_later() {
                    let series = Arc::clone(&cluster.series);
                    stream.on_first_read(move |outcome| count_confirmed(&series.handshakes, outcome));
                } else {
                    if stream.is_resumed() { &series.resumed } else { &series.full }.increment();
                }
                Ok(Stream::Tls(Box::new(stream)))
            }
            Err(fault) => {
                let kind = fault.kind();
                series.failed[HandshakeFailure::of_endpoint(kind) as usize].increment();
                let why = format_args!("TLS handshake with an endpoint failed: {fault}");
                cluster.tell(address, self.timers.now(), why);
                Err(Fault::Handshake(kind))
            }
        }
    }
}

/// Counts a full handshake of TLS 1.3 once it is known whether the endpoint has accepted the client certificate.
fn count_confirmed(series: &HandshakeSeries, outcome: FirstRead) {
    let failed = HandshakeFailure::of_endpoint(HandshakeFaultKind::Alert);
    match outcome {
        FirstRead::Data | FirstRead::Nothing => series.full.increment(),
        FirstRead::Refused => series.failed[failed as usize].increment(),
    }
}

fn is_out_of_descriptors(error: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE].iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
