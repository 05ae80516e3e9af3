//! Health checks of the clusters of the plan in force.

use std::collections::HashMap;
use std::sync::Arc;

use eddy_ids::Shared;
use eddy_model::{ClusterConfig, HealthConfig, LinkProtocol};
use eddy_tls::ClientTls;
use eddy_upstream::EndpointSet;
use eddy_upstream::health::{Checks, UnhealthySet};
use tokio::runtime::Handle;
use tokio::sync::watch;

/// Runs the health checks of clusters, once for all workers.
pub(crate) struct HealthChecks {
    handle: Handle,
    checked: HashMap<Shared<str>, Checked>,
}

struct Checked {
    config: HealthConfig,
    protocol: LinkProtocol,
    tls: Option<ClientTls>,
    sets: watch::Receiver<Arc<EndpointSet>>,
    checks: Checks,
}

/// A cluster and the parameters of its health check.
pub(crate) struct CheckedCluster<'c> {
    pub(crate) cluster: &'c ClusterConfig,
    pub(crate) tls: Option<&'c ClientTls>,
    pub(crate) sets: &'c watch::Receiver<Arc<EndpointSet>>,
}

impl HealthChecks {
    /// Creates the set without any checks; checks run on `handle`.
    pub(crate) fn new(handle: Handle) -> Self {
        Self { handle, checked: HashMap::new() }
    }

    /// Checks the endpoints of these clusters, if they have health checks, and no others. Returns a watch on each
    /// cluster's unhealthy endpoints. Endpoints without checks count as healthy.
    pub(crate) fn follow<'c>(
        &mut self,
        clusters: impl Iterator<Item = CheckedCluster<'c>>,
    ) -> Vec<watch::Receiver<Arc<UnhealthySet>>> {
        let mut before = std::mem::take(&mut self.checked);
        clusters
            .map(|wanted| {
                let name = &wanted.cluster.name;
                let Some(config) = &wanted.cluster.health else {
                    // The sender is dropped: the set never changes.
                    return watch::channel(Arc::default()).1;
                };
                let known = before.remove(name);
                let checked = match known {
                    Some(known) if known.is_for(config, &wanted) => known,
                    known => self.start(config, &wanted, known.as_ref()),
                };
                let unhealthy = checked.checks.subscribe();
                self.checked.insert(Shared::clone(name), checked);
                unhealthy
            })
            .collect()
    }

    fn start(&self, config: &HealthConfig, wanted: &CheckedCluster<'_>, before: Option<&Checked>) -> Checked {
        let known = before.map(|before| Arc::clone(&before.checks.subscribe().borrow())).unwrap_or_default();
        let (tls, sets) = (wanted.tls.cloned(), wanted.sets.clone());
        let checks = Checks::start(wanted.cluster, config, tls.clone(), sets.clone(), known, &self.handle);
        Checked { config: config.clone(), protocol: wanted.cluster.protocol, tls, sets, checks }
    }
}

impl Checked {
    fn is_for(&self, config: &HealthConfig, wanted: &CheckedCluster<'_>) -> bool {
        let is_same_tls = self.tls.is_some() == wanted.tls.is_some()
            && self.tls.as_ref().zip(wanted.tls).is_none_or(|(one, other)| one.is_same(other));
        self.config == *config
            && self.protocol == wanted.cluster.protocol
            && is_same_tls
            && self.sets.same_channel(wanted.sets)
    }
}
