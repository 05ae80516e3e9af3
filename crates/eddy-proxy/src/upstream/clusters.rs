//! The clusters of one worker under a plan.

use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use eddy_ids::{BySlot, ClusterId};
use eddy_upstream::{EndpointSet, Rng};
use tokio::sync::{Notify, watch};

use crate::plan::GatewayPlan;
use crate::stats::PlanSeries;
use crate::upstream::cluster::{ClusterParts, WorkerCluster};

/// The clusters of one worker, in the order of the configuration.
#[derive(Debug, Default)]
pub(crate) struct WorkerClusters {
    all: Vec<Rc<WorkerCluster>>,
    /// Positions in `all`.
    positions: BySlot<ClusterId, usize>,
}

/// Endpoints of each cluster, with updates.
pub(crate) type EndpointSets = Vec<watch::Receiver<Arc<EndpointSet>>>;

impl WorkerClusters {
    /// Adds the next cluster of a plan: the one that `known` finds by name, or its successor, or a new one.
    /// Returns false when the plan has no more.
    pub(crate) fn push_next(
        &mut self,
        plan: &GatewayPlan,
        series: &PlanSeries,
        endpoints: &EndpointSets,
        known: impl FnOnce(&str) -> Option<Rc<WorkerCluster>>,
        idle_watch: &Arc<Notify>,
        rng: &mut Rng,
    ) -> bool {
        let index = self.all.len();
        let Some((id, config)) = plan.config.clusters.nth(index) else { return false };
        let parts = ClusterParts {
            config: config.clone(),
            tls: plan.cluster_tls.get(id).cloned(),
            series: Arc::clone(&series.clusters[index]),
            in_use: series.in_use[index].clone(),
        };
        let set = || Arc::clone(&endpoints[index].borrow());
        let cluster = match known(&config.name) {
            Some(known) if known.has_same_settings(&parts) => known,
            Some(known) => {
                let is_other_set =
                    known.config.endpoints != config.endpoints || known.config.balance != config.balance;
                let set = is_other_set.then(set);
                Rc::new(known.succeed(parts, set))
            }
            None => Rc::new(WorkerCluster::new(parts, set(), Arc::clone(idle_watch), rng)),
        };
        self.positions.insert(id, index);
        self.all.push(cluster);
        true
    }

    /// Takes the clusters out.
    pub(crate) fn take(&mut self) -> Vec<Rc<WorkerCluster>> {
        std::mem::take(&mut self.all)
    }

    /// Returns a cluster of the configuration.
    ///
    /// # Panics
    /// When the identifier is of another configuration.
    pub(crate) fn at(&self, id: ClusterId) -> &Rc<WorkerCluster> {
        let position = self.positions.get(id).expect("every cluster of the configuration was resolved");
        &self.all[*position]
    }
}

impl Deref for WorkerClusters {
    type Target = [Rc<WorkerCluster>];

    fn deref(&self) -> &[Rc<WorkerCluster>] {
        &self.all
    }
}
