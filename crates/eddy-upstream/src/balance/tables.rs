//! What is made of endpoints once for all workers.

use std::sync::{Arc, OnceLock};

use super::maglev::MaglevTable;
use crate::endpoint::EndpointState;

/// The tables of a set of endpoints, made when the first worker asks for them; they follow from the set alone.
#[derive(Clone, Debug, Default)]
pub struct BalanceTables {
    maglev: OnceLock<Arc<MaglevTable>>,
}

impl BalanceTables {
    /// The table of `endpoints`, which are those of the set.
    ///
    /// # Cost
    /// That of making it, once; who asks meanwhile waits.
    pub(super) fn maglev(&self, endpoints: &[EndpointState]) -> Arc<MaglevTable> {
        Arc::clone(self.maglev.get_or_init(|| Arc::new(MaglevTable::new(endpoints))))
    }
}

#[cfg(test)]
impl BalanceTables {
    /// The table, for tests.
    pub(crate) fn maglev_of(&self, endpoints: &[EndpointState]) -> Arc<MaglevTable> {
        self.maglev(endpoints)
    }
}

/// Sets are the same whatever was made of them.
impl PartialEq for BalanceTables {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for BalanceTables {}
