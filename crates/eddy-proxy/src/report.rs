//! What clusters look like from the workers, for people.

use std::collections::BTreeMap;

use eddy_upstream::LimitKind;
use serde::Serialize;

use crate::worker::{WorkerCluster, millis, now};

/// The clusters of a gateway, with what each worker knows of them added up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClusterReport {
    /// By name, as configured.
    pub clusters: Vec<ClusterView>,
}

/// A cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClusterView {
    /// Its name.
    pub name: String,
    /// Links that wait for an exchange.
    pub links_idle: u64,
    /// All links.
    pub links: u64,
    /// Its limits, by their keys; each counts for all workers together.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<&'static str, LimitView>,
    /// Its endpoints; none while its names are not resolved.
    pub endpoints: Vec<EndpointView>,
}

/// A limit of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LimitView {
    /// The most that may be in use.
    pub max: u32,
    /// What is in use.
    pub now: u32,
    /// Times that it was reached.
    pub refused: u64,
}

/// An endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndpointView {
    /// Where it is.
    pub address: String,
    /// Its share of the requests relative to the others.
    pub weight: u32,
    /// Its place in the order of groups, where that is not the first.
    #[serde(skip_serializing_if = "is_zero")]
    pub priority: u8,
    /// Where it stands, where that is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// Whether it is never asked, as configured.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_down: bool,
    /// How much of its share it gets while it warms up, percent; the least of any worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warming_percent: Option<u64>,
    /// For how long it is still left out because it failed, milliseconds; the longest of any worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ejected_for_ms: Option<u64>,
    /// Why health checks find it not well, so that it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unwell: Option<String>,
    /// Exchanges going on.
    pub active: u64,
    /// Workers that leave it out because it failed.
    pub ejected_by: u64,
    /// Times it was chosen.
    pub selections: u64,
    /// Times it served.
    pub successes: u64,
    /// Times it failed.
    pub failures: u64,
}

impl ClusterReport {
    /// Adds up what workers tell.
    pub(crate) fn merge(workers: impl IntoIterator<Item = Vec<ClusterView>>) -> Self {
        let mut merged: Vec<ClusterView> = Vec::new();
        for view in workers.into_iter().flatten() {
            match merged.iter_mut().find(|known| known.name == view.name) {
                Some(known) => known.add(view),
                None => merged.push(view),
            }
        }
        Self { clusters: merged }
    }
}

impl ClusterView {
    fn add(&mut self, other: Self) {
        self.links_idle += other.links_idle;
        self.links += other.links;
        for endpoint in other.endpoints {
            match self.endpoints.iter_mut().find(|known| known.address == endpoint.address) {
                Some(known) => {
                    known.warming_percent = least(known.warming_percent, endpoint.warming_percent);
                    known.ejected_for_ms = known.ejected_for_ms.max(endpoint.ejected_for_ms);
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

/// A cluster as one worker sees it.
pub(crate) fn view(cluster: &WorkerCluster, now_ms: u64) -> ClusterView {
    let window = cluster.config.slow_start.unwrap_or_default();
    let count = cluster.pools().borrow().count();
    let state = cluster.state().borrow();
    let endpoints = state.endpoints().iter().map(|endpoint| EndpointView {
        address: endpoint.address().to_string(),
        weight: endpoint.weight(),
        priority: endpoint.terms().tier,
        zone: endpoint.terms().zone.as_deref().map(str::to_owned),
        is_down: endpoint.terms().is_down,
        warming_percent: Some(endpoint.warmth(window, now(now_ms))).filter(|percent| *percent < 100),
        ejected_for_ms: endpoint.ejected_until().map(|until| millis(until.saturating_sub(now(now_ms)))),
        unwell: endpoint.unwell().map(|why| why.to_string()),
        active: endpoint.active().into(),
        ejected_by: endpoint.is_ejected().into(),
        selections: endpoint.stats().selections,
        successes: endpoint.stats().successes,
        failures: endpoint.stats().failures,
    });
    ClusterView {
        name: cluster.config.name.as_ref().into(),
        links_idle: count.idle,
        links: count.open,
        limits: limits(cluster),
        endpoints: endpoints.collect(),
    }
}

fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    [one, other].into_iter().flatten().min()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u8) -> bool {
    *number == 0
}

fn limits(cluster: &WorkerCluster) -> BTreeMap<&'static str, LimitView> {
    let Some(in_use) = cluster.in_use() else { return BTreeMap::new() };
    let limits = LimitKind::ALL.into_iter().filter_map(|kind| {
        let max = cluster.config.limits.of(kind)?;
        Some((kind.name(), LimitView { max, now: in_use.now(kind), refused: in_use.refused(kind) }))
    });
    limits.collect()
}
