//! The clusters of one worker under a plan.

use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use eddy_ids::Shared;
use eddy_upstream::{EndpointSet, Rng};
use tokio::sync::{Notify, watch};

use crate::plan::GatewayPlan;
use crate::stats::PlanSeries;
use crate::upstream::cluster::{ClusterParts, WorkerCluster};

/// The clusters of one worker, in the order of the configuration.
#[derive(Debug)]
pub(crate) struct WorkerClusters {
    all: Vec<Rc<WorkerCluster>>,
    by_name: ClustersByName,
}

/// Clusters by name.
pub(crate) type ClustersByName = HashMap<Shared<str>, Rc<WorkerCluster>>;

/// Endpoints of each cluster, with updates.
pub(crate) type EndpointSets = Vec<watch::Receiver<Arc<EndpointSet>>>;

impl WorkerClusters {
    /// Returns no clusters yet, with room for `count`.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self { all: Vec::with_capacity(count), by_name: HashMap::with_capacity(count) }
    }

    /// Adds the next cluster of a plan: the one that `previous` has under the name, or its successor, or a new one.
    /// Returns false when the plan has no more.
    pub(crate) fn push_next(
        &mut self,
        plan: &GatewayPlan,
        series: &PlanSeries,
        endpoints: &EndpointSets,
        previous: Option<&Self>,
        idle_watch: &Arc<Notify>,
        rng: &mut Rng,
    ) -> bool {
        let index = self.all.len();
        let Some(config) = plan.clusters.get(index) else { return false };
        let parts = ClusterParts {
            config: Arc::clone(config),
            tls: plan.cluster_tls[index].clone(),
            series: Arc::clone(&series.clusters[index]),
            in_use: series.in_use[index].clone(),
        };
        let set = || Arc::clone(&endpoints[index].borrow());
        let cluster = match previous.and_then(|previous| previous.named(&config.name)) {
            Some(known) if known.is_alike(&parts) => Rc::clone(known),
            Some(known) => {
                let is_other_set =
                    known.config.endpoints != config.endpoints || known.config.balance != config.balance;
                let set = is_other_set.then(set);
                Rc::new(known.succeed(parts, set))
            }
            None => Rc::new(WorkerCluster::new(parts, set(), Arc::clone(idle_watch), rng)),
        };
        self.by_name.insert(cluster.config.name.clone(), Rc::clone(&cluster));
        self.all.push(cluster);
        true
    }

    /// Returns the cluster with this name.
    pub(crate) fn named(&self, name: &str) -> Option<&Rc<WorkerCluster>> {
        self.by_name.get(name)
    }

    /// Takes the clusters out, as a list and by name.
    pub(crate) fn take(&mut self) -> (Vec<Rc<WorkerCluster>>, ClustersByName) {
        (std::mem::take(&mut self.all), std::mem::take(&mut self.by_name))
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
