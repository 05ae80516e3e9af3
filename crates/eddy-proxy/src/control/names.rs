//! The endpoints of every cluster, as names resolve to them.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use eddy_upstream::resolve::{Resolution, Resolver};
use eddy_upstream::{ClusterConfig, DnsConfig, EndpointConfig, EndpointSet};
use tokio::runtime::Handle;
use tokio::sync::watch;

/// How long a start or a reload waits for names that are looked up for the first time.
const PATIENCE: Duration = Duration::from_secs(2);

/// Follows the names of the clusters of the current plan.
pub(crate) struct ClusterResolver {
    resolver: Resolver,
    handle: Handle,
    followed: HashMap<Arc<str>, Followed>,
}

struct Followed {
    endpoints: Vec<EndpointConfig>,
    dns: DnsConfig,
    name_servers: Arc<[SocketAddr]>,
    resolution: Arc<Resolution>,
}

impl Followed {
    /// Whether following `cluster` would be the same.
    fn is_for(&self, cluster: &ClusterConfig) -> bool {
        self.endpoints == cluster.endpoints
            && self.dns == cluster.dns
            && self.name_servers == cluster.name_servers
    }
}

impl ClusterResolver {
    /// Follows nothing yet; look-ups run on `handle`.
    pub(crate) fn new(resolver: Resolver, handle: Handle) -> Self {
        Self { resolver, handle, followed: HashMap::new() }
    }

    /// Follows the names of `clusters` and no others; returns where each cluster's endpoints can be watched.
    ///
    /// Waits a while for names that are new. One that is not answered by then has no endpoint until it is.
    pub(crate) fn follow(
        &mut self,
        clusters: &[Arc<ClusterConfig>],
    ) -> Vec<watch::Receiver<Arc<EndpointSet>>> {
        let mut before = std::mem::take(&mut self.followed);
        let mut fresh = Vec::new();
        for cluster in clusters {
            let known = before.remove(&cluster.name).filter(|known| known.is_for(cluster));
            let followed = known.unwrap_or_else(|| {
                let resolution = Arc::new(self.resolver.follow(cluster, &self.handle));
                fresh.push(Arc::clone(&resolution));
                Followed {
                    endpoints: cluster.endpoints.clone(),
                    dns: cluster.dns,
                    name_servers: Arc::clone(&cluster.name_servers),
                    resolution,
                }
            });
            self.followed.insert(Arc::clone(&cluster.name), followed);
        }
        self.settle(fresh);
        clusters
            .iter()
            .filter_map(|cluster| self.followed.get(&cluster.name))
            .map(|followed| followed.resolution.subscribe())
            .collect()
    }

    /// Waits until all of `fresh` have been looked up once, or the patience for all of them together is over.
    fn settle(&self, fresh: Vec<Arc<Resolution>>) {
        let (done, settled) = std::sync::mpsc::channel::<()>();
        self.handle.spawn(async move {
            let all = async {
                for resolution in &fresh {
                    resolution.settled(PATIENCE).await;
                }
            };
            // Either way the caller goes on, with what is known by then.
            let _ = tokio::time::timeout(PATIENCE, all).await;
            drop(done);
        });
        let _ = settled.recv_timeout(PATIENCE * 2);
    }
}
