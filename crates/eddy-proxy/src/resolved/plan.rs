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
        let (clusters, by_name) = self.clusters.take();
        self.retirement.take([
            RetiredPart::Plan(Arc::clone(&self.plan)),
            RetiredPart::list(clusters),
            RetiredPart::map(by_name),
            RetiredPart::list(std::mem::take(&mut self.listeners).into()),
        ]);
    }
}

impl ReleaseIdle for WorkerPlan {
    fn release_idle(&self) {
        self.clusters.iter().for_each(|cluster| cluster.clear_idle());
    }
}
