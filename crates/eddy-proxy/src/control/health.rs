//! Health checks of the clusters of the plan in force.

use std::collections::HashMap;
use std::sync::Arc;

use eddy_tls::ClientTls;
use eddy_upstream::health::{Checks, HealthConfig, UnhealthySet};
use eddy_upstream::{ClusterConfig, EndpointSet, LinkProtocol};
use tokio::runtime::Handle;
use tokio::sync::watch;

/// Asks the endpoints of clusters how they are, once for all workers.
pub(crate) struct HealthChecks {
    handle: Handle,
    checked: HashMap<Arc<str>, Checked>,
}

struct Checked {
    config: HealthConfig,
    protocol: LinkProtocol,
    tls: Option<ClientTls>,
    sets: watch::Receiver<Arc<EndpointSet>>,
    checks: Checks,
}

/// A cluster and what it takes to check it.
pub(crate) struct ToCheck<'c> {
    pub(crate) cluster: &'c ClusterConfig,
    pub(crate) tls: Option<&'c ClientTls>,
    pub(crate) sets: &'c watch::Receiver<Arc<EndpointSet>>,
}

impl HealthChecks {
    /// Asks nobody yet; questions are asked on `handle`.
    pub(crate) fn new(handle: Handle) -> Self {
        Self { handle, checked: HashMap::new() }
    }

    /// Asks the endpoints of these clusters, as far as they have checks, and no others; returns where it can be watched
    /// which of each cluster's are not well. What is not asked is well.
    pub(crate) fn follow<'c>(
        &mut self,
        clusters: impl Iterator<Item = ToCheck<'c>>,
    ) -> Vec<watch::Receiver<Arc<UnhealthySet>>> {
        let mut before = std::mem::take(&mut self.checked);
        clusters
            .map(|wanted| {
                let name = &wanted.cluster.name;
                let Some(config) = &wanted.cluster.health else {
                    // Its sender is gone: it never changes.
                    return watch::channel(Arc::default()).1;
                };
                let known = before.remove(name);
                let checked = match known {
                    Some(known) if known.is_for(config, &wanted) => known,
                    known => self.start(config, &wanted, known.as_ref()),
                };
                let unwell = checked.checks.subscribe();
                self.checked.insert(Arc::clone(name), checked);
                unwell
            })
            .collect()
    }

    fn start(&self, config: &HealthConfig, wanted: &ToCheck<'_>, before: Option<&Checked>) -> Checked {
        let known = before.map(|before| Arc::clone(&before.checks.subscribe().borrow())).unwrap_or_default();
        let (tls, sets) = (wanted.tls.cloned(), wanted.sets.clone());
        let checks = Checks::start(wanted.cluster, config, tls.clone(), sets.clone(), known, &self.handle);
        Checked { config: config.clone(), protocol: wanted.cluster.protocol, tls, sets, checks }
    }
}

impl Checked {
    fn is_for(&self, config: &HealthConfig, wanted: &ToCheck<'_>) -> bool {
        let is_same_tls = match (&self.tls, wanted.tls) {
            (None, None) => true,
            (Some(one), Some(other)) => one.is_same(other),
            (None, Some(_)) | (Some(_), None) => false,
        };
        self.config == *config
            && self.protocol == wanted.cluster.protocol
            && is_same_tls
            && self.sets.same_channel(wanted.sets)
    }
}
