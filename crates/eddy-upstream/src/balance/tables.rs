//! Balancing tables that are built with an endpoint set, for all workers.

use std::sync::Arc;

use super::maglev::MaglevTable;
use super::ring::Ring;
use crate::endpoint::ResolvedEndpoint;
use eddy_model::Balance;

/// Tables of an endpoint set for one balancing kind; they depend on kind and members alone.
#[derive(Clone, Debug, Default)]
pub struct BalanceTables {
    balance: Balance,
    maglev: Option<Arc<MaglevTable>>,
    ring: Option<Arc<Ring>>,
}

impl BalanceTables {
    /// Builds the tables that `balance` uses.
    ///
    /// # Cost
    /// One or two milliseconds for Maglev, 160 points per unit of weight for a ring; hence never on a worker.
    pub(crate) fn new(balance: Balance, members: &[ResolvedEndpoint]) -> Self {
        Self {
            balance,
            maglev: (balance == Balance::Maglev).then(|| Arc::new(MaglevTable::new(members))),
            ring: (balance == Balance::Ring).then(|| Arc::new(Ring::new(members))),
        }
    }

    /// Returns the Maglev table; `None` when the set was made for another balancing kind.
    pub(crate) fn maglev(&self) -> Option<Arc<MaglevTable>> {
        self.maglev.clone()
    }

    /// Returns the ring; `None` when the set was made for another balancing kind.
    pub(crate) fn ring(&self) -> Option<Arc<Ring>> {
        self.ring.clone()
    }
}

#[cfg(test)]
impl BalanceTables {
    /// Builds the tables for endpoints that are part of no set.
    pub(crate) fn of_states(balance: Balance, endpoints: &[crate::endpoint::EndpointState]) -> Self {
        let members: Vec<_> = endpoints.iter().map(ResolvedEndpoint::of_state).collect();
        Self::new(balance, &members)
    }
}

/// Tables of equal members are equal when they are for the same balancing kind.
impl PartialEq for BalanceTables {
    fn eq(&self, other: &Self) -> bool {
        self.balance == other.balance
    }
}

impl Eq for BalanceTables {}
