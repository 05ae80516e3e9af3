//! An action with the clusters that it sends requests to.

use std::rc::Rc;

use eddy_config::{Action, Redirect, Respond};
use eddy_ids::Shared;
use eddy_upstream::Rng;

use crate::upstream::WorkerCluster;

/// An action of a rule on one worker.
#[derive(Debug)]
pub(crate) struct ActionPlan {
    pub(crate) config: Shared<Action>,
    pub(crate) to: Destination,
    /// Clusters of [`Action::failover`], in its order.
    pub(crate) failover: Box<[Rc<WorkerCluster>]>,
    /// Clusters of [`Action::mirrors`], in its order.
    pub(crate) mirrors: Box<[Rc<WorkerCluster>]>,
}

/// Where an action sends requests, or what eddy responds.
#[derive(Debug)]
pub(crate) enum Destination {
    /// One cluster.
    Cluster(Rc<WorkerCluster>),
    /// One of several clusters, by weight.
    Weighted(Box<[Share<WorkerCluster>]>),
    /// Another action, by weight. None of them is itself a split.
    Split(Box<[Share<ActionPlan>]>),
    /// Nowhere: eddy responds itself.
    Respond(Respond),
    /// Nowhere: eddy redirects the client.
    Redirect(Redirect),
    /// To the NGINX place that the walk has found, which has an action of its own.
    Sites,
}

/// A destination and its share of the requests.
#[derive(Debug)]
pub(crate) struct Share<T> {
    pub(crate) to: Rc<T>,
    /// Share relative to the others.
    pub(crate) weight: u32,
}

/// Draws one of several destinations by weight; `None` when no weight is positive.
pub(crate) fn draw<'s, T>(shares: &'s [Share<T>], rng: &mut Rng) -> Option<&'s Rc<T>> {
    let total: u64 = shares.iter().map(|share| u64::from(share.weight)).sum();
    if total == 0 {
        return None;
    }
    let mut left = rng.below(total);
    for share in shares {
        let weight = u64::from(share.weight);
        if left < weight {
            return Some(&share.to);
        }
        left -= weight;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn destinations_are_selected_by_weight() {
        let shares = [(0, 3), (1, 0), (2, 1)].map(|(to, weight)| Share { to: Rc::new(to), weight });
        let mut rng = Rng::new(7);
        let mut counts = [0; 3];
        (0..4000).for_each(|_| counts[**draw(&shares, &mut rng).unwrap()] += 1);
        assert!((2800..=3200).contains(&counts[0]) && counts[1] == 0, "{counts:?}");
        assert_eq!(draw(&shares[1..2], &mut rng), None);
    }
}
