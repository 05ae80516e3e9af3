//! Balancer of one cluster on one worker, for every balancing kind.

use eddy_ids::WorkerTime;
use eddy_model::{Balance, UNLIMITED_OVERPROVISIONING};

use super::draw::WeightedDraw;
use super::eligible::{Ejected, Eligible};
use super::keyed::{By, Keyed};
use super::least_request;
use super::levels::Levels;
use super::round_robin::RoundRobin;
use super::tables::BalanceTables;
use crate::endpoint::{EndpointState, TriedEndpoints};
use crate::rng::Rng;

/// Endpoint selection; one per cluster and worker.
#[derive(Clone, Debug)]
pub struct Balancer {
    kind: BalancerKind,
    levels: Levels,
}

#[derive(Clone, Debug)]
enum BalancerKind {
    RoundRobin(RoundRobin),
    LeastRequest(WeightedDraw),
    Random(WeightedDraw),
    Keyed(Keyed),
}

impl Balancer {
    /// Creates a balancer of the given kind for `endpoints`; `tables` are those of their endpoint set. When the set was
    /// made for another kind, requests are spread in turn until the set for this one is in use.
    pub fn new(kind: Balance, endpoints: &[EndpointState], tables: &BalanceTables, rng: &mut Rng) -> Self {
        let kind = match kind {
            Balance::RoundRobin => BalancerKind::RoundRobin(RoundRobin::new(endpoints, rng)),
            Balance::LeastRequest => BalancerKind::LeastRequest(WeightedDraw::new(endpoints)),
            Balance::Random => BalancerKind::Random(WeightedDraw::new(endpoints)),
            Balance::Hash => BalancerKind::Keyed(Keyed::new(By::Hash, endpoints, rng)),
            Balance::Ring => BalancerKind::by_table(tables.ring().map(By::Ring), endpoints, rng),
            Balance::Maglev => BalancerKind::by_table(tables.maglev().map(By::Maglev), endpoints, rng),
            Balance::ClientAddress => BalancerKind::Keyed(Keyed::new(By::ClientAddress, endpoints, rng)),
        };
        Self { kind, levels: Levels::new(endpoints, UNLIMITED_OVERPROVISIONING) }
    }

    /// Sets the over-provisioning factor: a level takes its available share times `percent` before the next level is
    /// used, see [`crate::ClusterConfig::overprovision_percent`].
    pub fn overprovisioned(self, endpoints: &[EndpointState], percent: u32) -> Self {
        Self { levels: Levels::new(endpoints, percent), ..self }
    }

    /// Whether the endpoints form several levels and the available ones can take all requests together.
    pub fn covers_load(
        &self,
        endpoints: &[EndpointState],
        is_available: impl Fn(&EndpointState) -> bool,
    ) -> bool {
        self.levels.can_serve_all(endpoints, is_available)
    }

    /// Returns the index of the endpoint for the next request; `None` only when no endpoint has room for it.
    ///
    /// `endpoints` must be those the balancer was created for, in the same order. Ejected endpoints are skipped while
    /// there is another, and those in `avoid` while there is another that is not ejected. When all are ejected, all are
    /// used. Within each of these groups the first level that has an endpoint is used, starting at the level chosen for
    /// the request. `key` only matters for balancing by key; without a key such balancers use round robin.
    ///
    /// # Cost
    /// No allocation. Constant time when weights are equal, few endpoints are excluded and all are on one level; else
    /// linear in the endpoints.
    pub fn pick(
        &mut self,
        endpoints: &[EndpointState],
        key: &[u8],
        avoid: &TriedEndpoints,
        now: WorkerTime,
        rng: &mut Rng,
    ) -> Option<usize> {
        let Self { kind, levels } = self;
        let avoid = (!avoid.is_empty()).then_some(avoid);
        let best = Eligible { endpoints, key, now, ejected: Ejected::Skip, avoid, level: 0 };
        let tried_too = Eligible { avoid: None, ..best };
        let ejected_too = Eligible { ejected: Ejected::Include, ..best };
        let all = Eligible { ejected: Ejected::Include, avoid: None, ..best };
        let first = levels.first(endpoints, key, now, rng);
        [best, tried_too, ejected_too, all].iter().find_map(|group| {
            let mut from_first = levels.starting_at(first);
            from_first.find_map(|level| kind.pick(&Eligible { level, ..*group }, rng))
        })
    }
}

impl BalancerKind {
    fn by_table(table: Option<By>, endpoints: &[EndpointState], rng: &mut Rng) -> Self {
        match table {
            Some(by) => Self::Keyed(Keyed::new(by, endpoints, rng)),
            None => Self::RoundRobin(RoundRobin::new(endpoints, rng)),
        }
    }

    fn pick(&mut self, group: &Eligible<'_>, rng: &mut Rng) -> Option<usize> {
        match self {
            Self::RoundRobin(balancer) => balancer.pick(group),
            Self::LeastRequest(draw) => least_request::pick(draw, group, rng),
            Self::Random(draw) => draw.draw(group, None, rng),
            Self::Keyed(balancer) => balancer.pick(group),
        }
    }
}
