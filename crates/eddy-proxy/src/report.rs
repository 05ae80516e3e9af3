//! What clusters look like from the workers, for people.

use serde::Serialize;

use crate::worker::WorkerCluster;

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
    /// Its endpoints; none while its names are not resolved.
    pub endpoints: Vec<EndpointView>,
}

/// An endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndpointView {
    /// Where it is.
    pub address: String,
    /// Its share of the requests relative to the others.
    pub weight: u32,
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
pub(crate) fn view(cluster: &WorkerCluster) -> ClusterView {
    let count = cluster.pools().borrow().count();
    let state = cluster.state().borrow();
    let endpoints = state.endpoints().iter().map(|endpoint| EndpointView {
        address: endpoint.address().to_string(),
        weight: endpoint.weight(),
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
        endpoints: endpoints.collect(),
    }
}
