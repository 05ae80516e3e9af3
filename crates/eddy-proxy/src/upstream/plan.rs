//! Plan of one worker: the compiled configuration with the worker's counters and clusters.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use eddy_io::monotonic_ms;
use eddy_upstream::{EndpointSet, Rng};
use tokio::sync::{Notify, watch};

use crate::plan::{FilterChain, GatewayPlan, ListenerPlan};
use crate::runtime::ReleaseIdle;
use crate::stats::PlanSeries;
use crate::upstream::cluster::{ClusterParts, WorkerCluster};

/// A plan with this worker's counters and clusters.
#[derive(Debug)]
pub(crate) struct WorkerPlan {
    pub(crate) plan: Arc<GatewayPlan>,
    pub(crate) series: PlanSeries,
    pub(crate) clusters: Vec<Rc<WorkerCluster>>,
    clusters_by_name: HashMap<Arc<str>, Rc<WorkerCluster>>,
}

impl WorkerPlan {
    /// Creates a worker's first plan, or the successor of `previous`, whose clusters are carried over by name.
    pub(crate) fn new(
        plan: Arc<GatewayPlan>,
        series: PlanSeries,
        endpoints: &[watch::Receiver<Arc<EndpointSet>>],
        previous: Option<&Self>,
        idle_watch: &Arc<Notify>,
        rng: &mut Rng,
    ) -> Self {
        let now_ms = monotonic_ms();
        let tls = plan.cluster_tls.iter().cloned();
        let parts = plan.clusters.iter().zip(tls).zip(&series.clusters).zip(&series.in_use).zip(endpoints);
        let clusters = parts.map(|((((config, tls), series), in_use), endpoints)| {
            let known = previous.and_then(|previous| previous.cluster_named(&config.name));
            let (series, in_use) = (Arc::clone(series), in_use.clone());
            let parts = ClusterParts { config: Arc::clone(config), tls, series, in_use };
            Rc::new(match known {
                Some(cluster) => {
                    let next = cluster.succeed(parts, now_ms, rng);
                    if cluster.config.endpoints != config.endpoints {
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
        let clusters: Vec<_> = clusters.collect();
        let named = |cluster: &Rc<WorkerCluster>| (Arc::clone(&cluster.config.name), Rc::clone(cluster));
        let clusters_by_name = clusters.iter().map(named).collect();
        Self { plan, series, clusters, clusters_by_name }
    }

    /// Returns the cluster with this name.
    pub(crate) fn cluster_named(&self, name: &str) -> Option<&Rc<WorkerCluster>> {
        self.clusters_by_name.get(name)
    }

    /// Returns the listener with this index.
    pub(crate) fn listener(&self, index: usize) -> Option<&ListenerPlan> {
        self.plan.listeners.get(index)
    }

    /// Returns a filter chain of a listener; `None` when `chain` is `None`.
    #[inline]
    pub(crate) fn chain(&self, listener: usize, chain: Option<usize>) -> Option<&FilterChain> {
        self.listener(listener)?.chains.get(chain?)
    }
}

impl ReleaseIdle for WorkerPlan {
    fn release_idle(&self) {
        self.clusters.iter().for_each(|cluster| cluster.clear_idle());
    }
}
