//! The clusters of one worker under a plan.

use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use eddy_ids::Shared;
use eddy_io::monotonic_ms;
use eddy_upstream::{EndpointSet, Rng};
use tokio::sync::{Notify, watch};

use crate::plan::GatewayPlan;
use crate::stats::PlanSeries;
use crate::upstream::cluster::{ClusterParts, WorkerCluster};

/// The clusters of one worker, in the order of the configuration.
#[derive(Debug)]
pub(crate) struct WorkerClusters {
    all: Vec<Rc<WorkerCluster>>,
    by_name: HashMap<Shared<str>, Rc<WorkerCluster>>,
}

impl WorkerClusters {
    /// Creates a worker's first clusters, or the successors of `previous`, which are carried over by name.
    pub(crate) fn new(
        plan: &GatewayPlan,
        series: &PlanSeries,
        endpoints: &[watch::Receiver<Arc<EndpointSet>>],
        previous: Option<&Self>,
        idle_watch: &Arc<Notify>,
        rng: &mut Rng,
    ) -> Self {
        let now_ms = monotonic_ms();
        let tls = plan.cluster_tls.iter().cloned();
        let parts = plan.clusters.iter().zip(tls).zip(&series.clusters).zip(&series.in_use).zip(endpoints);
        let clusters = parts.map(|((((config, tls), series), in_use), endpoints)| {
            let known = previous.and_then(|previous| previous.named(&config.name));
            let (series, in_use) = (Arc::clone(series), in_use.clone());
            let parts = ClusterParts { config: Arc::clone(config), tls, series, in_use };
            Rc::new(match known {
                Some(cluster) => {
                    let next = cluster.succeed(parts, now_ms, rng);
                    let is_other_set = cluster.config.endpoints != config.endpoints
                        || cluster.config.balance != config.balance;
                    if is_other_set {
                        next.update(Arc::clone(&endpoints.borrow()), now_ms, rng);
                    }
                    next
                }
                None => {
                    let set = Arc::clone(&endpoints.borrow());
                    WorkerCluster::new(parts, set, Arc::clone(idle_watch), rng)
                }
            })
        });
        let all: Vec<_> = clusters.collect();
        let named = |cluster: &Rc<WorkerCluster>| (Shared::clone(&cluster.config.name), Rc::clone(cluster));
        Self { by_name: all.iter().map(named).collect(), all }
    }

    /// Returns the cluster with this name.
    pub(crate) fn named(&self, name: &str) -> Option<&Rc<WorkerCluster>> {
        self.by_name.get(name)
    }

    /// Returns the cluster with this index in the configuration.
    ///
    /// # Panics
    /// When the configuration has fewer clusters, which its check excludes.
    pub(crate) fn at(&self, index: usize) -> Rc<WorkerCluster> {
        Rc::clone(&self.all[index])
    }
}

impl Deref for WorkerClusters {
    type Target = [Rc<WorkerCluster>];

    fn deref(&self) -> &[Rc<WorkerCluster>] {
        &self.all
    }
}
