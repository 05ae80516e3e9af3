//! Plan of one worker.

use std::rc::Rc;
use std::sync::Arc;

use crate::plan::GatewayPlan;
use crate::resolved::listener::WorkerListener;
use crate::resolved::retire::{RetiredPart, Retirement};
use crate::runtime::ReleaseIdle;
use crate::upstream::{WorkerCluster, WorkerClusters};

/// A plan with this worker's counters and clusters.
#[derive(Debug)]
pub(crate) struct WorkerPlan {
    pub(crate) plan: Arc<GatewayPlan>,
    pub(crate) clusters: WorkerClusters,
    /// Listeners, in the order of the configuration.
    pub(crate) listeners: Box<[Rc<WorkerListener>]>,
    /// Cluster of the access log service, if one is configured.
    pub(crate) log_cluster: Option<Rc<WorkerCluster>>,
    pub(super) retirement: Retirement,
}

impl Drop for WorkerPlan {
    fn drop(&mut self) {
        self.retirement.take([
            RetiredPart::Plan(Arc::clone(&self.plan)),
            RetiredPart::list(self.clusters.take()),
            RetiredPart::list(std::mem::take(&mut self.listeners).into()),
        ]);
    }
}

impl WorkerPlan {
    /// Returns the cluster with this name.
    pub(crate) fn cluster(&self, name: &str) -> Option<&Rc<WorkerCluster>> {
        self.plan.config.clusters.id_of(name).map(|id| self.clusters.at(id))
    }
}

impl ReleaseIdle for WorkerPlan {
    fn release_idle(&self) {
        self.clusters.iter().for_each(|cluster| cluster.clear_idle());
    }
}
