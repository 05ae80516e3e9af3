//! Report of cluster state, summed over all workers.

use std::collections::{BTreeMap, HashMap};

use eddy_ids::WorkerTime;
use eddy_model::LimitKind;
use serde::Serialize;

use crate::upstream::WorkerCluster;

/// State of all clusters of a gateway, summed over all workers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClusterReport {
    /// Clusters, in the order of the configuration.
    pub clusters: Vec<ClusterView>,
}

/// State of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClusterView {
    /// Cluster name.
    pub name: String,
    /// Idle upstream connections.
    pub connections_idle: u64,
    /// All upstream connections.
    pub connections: u64,
    /// Limits by configuration key. Each limit applies to all workers together.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<&'static str, LimitView>,
    /// Endpoints. Empty until the cluster's host names are resolved.
    pub endpoints: Vec<EndpointView>,
}

/// Usage of a cluster limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LimitView {
    /// Maximum in use at the same time.
    pub max: u32,
    /// Current use.
    pub now: u32,
    /// Number of times that the limit was reached.
    pub refused: u64,
}

/// State of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndpointView {
    /// Address of the endpoint.
    pub address: String,
    /// Share of the requests, relative to the other endpoints.
    pub weight: u32,
    /// Priority. Omitted when it is 0, the highest.
    #[serde(skip_serializing_if = "is_zero")]
    pub priority: u8,
    /// Zone, if configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Whether the endpoint is disabled by configuration (`down`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_down: bool,
    /// Percentage of its share that the endpoint gets during slow start. The lowest value of any worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warming_percent: Option<u64>,
    /// Remaining ejection time in milliseconds. The highest value of any worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ejected_for_ms: Option<u64>,
    /// Reason why health checks consider the endpoint unhealthy. Such an endpoint gets no requests, except in panic mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unhealthy: Option<String>,
    /// Whether the endpoint gets requests although it is unhealthy, because too few endpoints are healthy (panic mode).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_used_anyway: bool,
    /// Exchanges in progress.
    pub active: u64,
    /// Number of workers that have ejected the endpoint.
    pub ejected_by: u64,
    /// Number of times that the endpoint was selected.
    pub selections: u64,
    /// Number of successful attempts.
    pub successes: u64,
    /// Number of failed attempts.
    pub failures: u64,
}

impl ClusterReport {
    /// Sums up the views of all workers.
    pub(crate) fn merge(workers: impl IntoIterator<Item = Vec<ClusterView>>) -> Self {
        let mut merged: Vec<ClusterView> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for view in workers.into_iter().flatten() {
            match places.get(&view.name).and_then(|place| merged.get_mut(*place)) {
                Some(known) => known.add(view),
                None => {
                    places.insert(view.name.clone(), merged.len());
                    merged.push(view);
                }
            }
        }
        Self { clusters: merged }
    }
}

impl ClusterView {
    fn add(&mut self, other: Self) {
        self.connections_idle += other.connections_idle;
        self.connections += other.connections;
        for endpoint in other.endpoints {
            match self.endpoints.iter_mut().find(|known| known.address == endpoint.address) {
                Some(known) => {
                    known.warming_percent =
                        [known.warming_percent, endpoint.warming_percent].into_iter().flatten().min();
                    known.ejected_for_ms = known.ejected_for_ms.max(endpoint.ejected_for_ms);
                    known.is_used_anyway |= endpoint.is_used_anyway;
                    known.active += endpoint.active;
                    known.ejected_by += endpoint.ejected_by;
                    known.selections += endpoint.selections;
                    known.successes += endpoint.successes;
                    known.failures += endpoint.failures;
                }
                None => self.endpoints.push(endpoint),
            }
        }
    }
}

/// Returns the state of a cluster as one worker sees it.
pub(crate) fn view(cluster: &WorkerCluster, now: WorkerTime) -> ClusterView {
    let window = cluster.config.slow_start.unwrap_or_default();
    let count = cluster.pools().borrow().count();
    let state = cluster.state().borrow();
    let endpoints = state.endpoints().iter().map(|endpoint| EndpointView {
        address: endpoint.address().to_string(),
        weight: endpoint.weight(),
        priority: endpoint.terms().tier,
        zone: endpoint.terms().zone.as_deref().map(str::to_owned),
        is_down: endpoint.terms().is_down,
        warming_percent: Some(endpoint.warmth(window, now)).filter(|percent| *percent < 100),
        ejected_for_ms: endpoint.ejected_until().map(|until| (until - now).get()),
        unhealthy: endpoint.unhealthy().map(|why| why.to_string()),
        is_used_anyway: endpoint.unhealthy().is_some() && !endpoint.is_excluded(),
        active: endpoint.active().into(),
        ejected_by: endpoint.is_ejected().into(),
        selections: endpoint.stats().selections,
        successes: endpoint.stats().successes,
        failures: endpoint.stats().failures,
    });
    ClusterView {
        name: cluster.config.name.as_ref().into(),
        connections_idle: count.idle,
        connections: count.open,
        limits: limits(cluster),
        endpoints: endpoints.collect(),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u8) -> bool {
    *number == 0
}

fn limits(cluster: &WorkerCluster) -> BTreeMap<&'static str, LimitView> {
    let Some(in_use) = cluster.in_use.as_deref() else { return BTreeMap::new() };
    let limits = LimitKind::ALL.into_iter().filter_map(|kind| {
        let max = cluster.config.limits.of(kind)?;
        Some((kind.name(), LimitView { max, now: in_use.now(kind), refused: in_use.refused(kind) }))
    });
    limits.collect()
}
