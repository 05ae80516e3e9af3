//! Establishment of an HTTP/2 link, and its task.

use std::rc::Rc;

use eddy_http::{Http2, Http2Limits, Version};
use eddy_io::Stream;
use eddy_model::UpstreamHttp2Config;
use eddy_upstream::{Link, LinkPermit, ResolvedAddress, http_version};
use tokio::time::timeout;

use crate::fault::Fault;
use crate::runtime::WorkerServices;
use crate::upstream::cluster::WorkerCluster;
use crate::upstream::guard::EndpointGuard;
use crate::upstream::registry::{EndpointKey, Opening};
use crate::upstream::serve::{LinkDriver, UpstreamLinkEnd};
use crate::upstream::shared::SharedLink;

/// Begins to establish a link with this permit; it continues even when no exchange waits for it any more.
pub(super) fn open(worker: &Rc<WorkerServices>, guard: &EndpointGuard, place: LinkPermit) -> Rc<Opening> {
    let key = guard.key();
    let streams_max = guard.cluster.config.http2.streams_max;
    let opening = Opening::new(streams_max);
    let cluster = Rc::clone(&guard.cluster);
    cluster.shared().borrow_mut().begin(key, &opening);
    let task = LinkTask {
        worker: Rc::clone(worker),
        cluster,
        address: Rc::clone(&guard.address),
        own_name: guard.own_name(),
        key,
        opening: Rc::clone(&opening),
    };
    tokio::task::spawn_local(task.run(place));
    opening
}

/// Task of a link, from before it is established.
struct LinkTask {
    worker: Rc<WorkerServices>,
    cluster: Rc<WorkerCluster>,
    address: Rc<ResolvedAddress>,
    own_name: Option<String>,
    key: EndpointKey,
    opening: Rc<Opening>,
}

impl LinkTask {
    async fn run(self, place: LinkPermit) {
        let established = timeout(self.cluster.config.connect_timeout, self.establish()).await;
        let Self { worker, cluster, address, key, opening, .. } = self;
        let now = worker.timers.now();
        match established.unwrap_or(Err(Fault::ConnectTimeout)) {
            Err(fault) => {
                cluster.series.connects_failed.increment();
                cluster.shared().borrow_mut().fail(key, &opening);
                opening.end(Err(fault));
            }
            Ok(Established::Http1(stream)) => {
                cluster.series.connects.increment();
                cluster.shared().borrow_mut().decline(key, &opening, now);
                cluster.pools().borrow_mut().at(key.id).put_new(Link::new(stream, place), now);
                opening.end(Ok(()));
            }
            Ok(Established::Http2(link, mut serving)) => {
                cluster.series.connects.increment();
                cluster.series.http2_links.increment();
                cluster.shared().borrow_mut().establish(key, &opening, &link);
                opening.end(Ok(()));
                // The waiting exchanges no longer need it.
                drop(opening);
                if let UpstreamLinkEnd::Broken(fault) = serving.run().await {
                    cluster.series.http2_links_broken.increment();
                    let why = format_args!("an HTTP/2 connection to an endpoint failed: {fault}");
                    cluster.tell(&address, worker.timers.now(), why);
                }
                serving.close();
            }
        }
    }

    /// Connects, and for HTTP/2 waits for the endpoint's SETTINGS.
    async fn establish(&self) -> Result<Established, Fault> {
        let Self { worker, cluster, address, own_name, .. } = self;
        let stream = worker.connect_to(cluster, address, || own_name.clone()).await?;
        if http_version(cluster.config.protocol, stream.tls_facts().as_ref()) != Some(Version::Http2) {
            return Ok(Established::Http1(stream));
        }
        let scheme = if cluster.tls.is_some() { "https" } else { "http" };
        let now = worker.timers.now();
        let state = Http2::client(scheme, limits(cluster.config.http2), now);
        let link = Rc::new(SharedLink::new(state, cluster.config.pool.requests_max, now));
        let mut serving = Box::new(LinkDriver::new(&link, worker, &cluster.config, stream));
        match serving.settle().await {
            Ok(()) => Ok(Established::Http2(link, serving)),
            Err(ended) => {
                serving.close();
                let now = worker.timers.now();
                if let UpstreamLinkEnd::Alert(alert) = ended {
                    return Err(cluster.fault_of_alert(address, alert, now));
                }
                cluster.log_not_http2(address, now);
                Err(Fault::LinkProtocol)
            }
        }
    }
}

/// Result of establishing a link.
enum Established {
    /// The endpoint has chosen HTTP/1.
    Http1(Stream),
    Http2(Rc<SharedLink>, Box<LinkDriver>),
}

/// Returns the limits of a link. The connection window is the sum of those of all streams, also as they grow, so that a
/// stream with a slow client never blocks another one.
fn limits(config: UpstreamHttp2Config) -> Http2Limits {
    let UpstreamHttp2Config { streams_max, stream_window, stream_window_max } = config;
    Http2Limits {
        streams_max,
        stream_window,
        stream_window_max,
        connection_window: streams_max.saturating_mul(stream_window).min(CONNECTION_WINDOW_MAX),
        growth_max: 2 * stream_window_max,
        ..Http2Limits::default()
    }
}

/// Largest window of a link before it grows, bytes: far enough below the protocol's 2^31 - 1 (RFC 9113 §6.9.1).
const CONNECTION_WINDOW_MAX: u32 = 1 << 30;
