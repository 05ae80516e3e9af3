//! Name resolution for the endpoints of all clusters.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use eddy_config::ClusterSlots;
use eddy_ids::Shared;
use eddy_model::{ClusterConfig, DnsConfig, EndpointConfig};
use eddy_upstream::EndpointSet;
use eddy_upstream::resolve::{Resolution, Resolver};
use tokio::runtime::Handle;
use tokio::sync::watch;

/// Time that a start or a reload waits for names that are looked up for the first time.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(2);

/// Resolves the names of the clusters of the current plan.
pub(crate) struct ClusterResolver {
    resolver: Resolver,
    handle: Handle,
    followed: HashMap<Shared<str>, Followed>,
}

struct Followed {
    endpoints: Vec<EndpointConfig>,
    dns: DnsConfig,
    name_servers: Shared<[SocketAddr]>,
    resolution: Arc<Resolution>,
}

impl Followed {
    /// Whether `cluster` is resolved in the same way.
    fn is_for(&self, cluster: &ClusterConfig) -> bool {
        self.endpoints == cluster.endpoints
            && self.dns == cluster.dns
            && self.name_servers == cluster.name_servers
    }
}

impl ClusterResolver {
    /// Creates a resolver without clusters; look-ups run on `handle`.
    pub(crate) fn new(resolver: Resolver, handle: Handle) -> Self {
        Self { resolver, handle, followed: HashMap::new() }
    }

    /// Resolves the names of `clusters` and no others; returns a watch on each cluster's endpoints.
    ///
    /// Waits a while for new names. A name that is not resolved by then has no endpoint until it is.
    pub(crate) fn follow(&mut self, clusters: &ClusterSlots) -> Vec<watch::Receiver<Arc<EndpointSet>>> {
        let mut before = std::mem::take(&mut self.followed);
        let mut fresh = Vec::new();
        for cluster in clusters.values() {
            let known = before.remove(&cluster.name).filter(|known| known.is_for(cluster));
            let followed = known.unwrap_or_else(|| {
                let resolution = Arc::new(self.resolver.follow(cluster, &self.handle));
                fresh.push(Arc::clone(&resolution));
                Followed {
                    endpoints: cluster.endpoints.clone(),
                    dns: cluster.dns,
                    name_servers: Shared::clone(&cluster.name_servers),
                    resolution,
                }
            });
            followed.resolution.set_balance(cluster.balance);
            self.followed.insert(Shared::clone(&cluster.name), followed);
        }
        self.settle(fresh);
        clusters
            .values()
            .filter_map(|cluster| self.followed.get(&cluster.name))
            .map(|followed| followed.resolution.subscribe())
            .collect()
    }

    /// Waits until all of `fresh` have been looked up once, or a common timeout has passed.
    fn settle(&self, fresh: Vec<Arc<Resolution>>) {
        let (done, settled) = std::sync::mpsc::channel::<()>();
        self.handle.spawn(async move {
            let all = async {
                for resolution in &fresh {
                    resolution.settled(LOOKUP_TIMEOUT).await;
                }
            };
            // In both cases the caller continues with the results so far.
            let _ = tokio::time::timeout(LOOKUP_TIMEOUT, all).await;
            drop(done);
        });
        let _ = settled.recv_timeout(LOOKUP_TIMEOUT * 2);
    }
}
