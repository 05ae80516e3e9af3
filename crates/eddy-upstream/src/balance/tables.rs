//! Balancing tables that are built once per endpoint set, for all workers.

use std::sync::{Arc, OnceLock};

use super::maglev::MaglevTable;
use crate::endpoint::EndpointState;

/// Tables of an endpoint set, built on first use by a worker; they depend on the set alone.
#[derive(Clone, Debug, Default)]
pub struct BalanceTables {
    maglev: OnceLock<Arc<MaglevTable>>,
}

impl BalanceTables {
    /// Returns the Maglev table of `endpoints`, which must be those of the set.
    ///
    /// # Cost
    /// Built once; concurrent callers wait for it.
    pub(super) fn maglev(&self, endpoints: &[EndpointState]) -> Arc<MaglevTable> {
        Arc::clone(self.maglev.get_or_init(|| Arc::new(MaglevTable::new(endpoints))))
    }
}

#[cfg(test)]
impl BalanceTables {
    /// Returns the table, for tests.
    pub(crate) fn maglev_of(&self, endpoints: &[EndpointState]) -> Arc<MaglevTable> {
        self.maglev(endpoints)
    }
}

/// Endpoint sets are equal regardless of which tables were built.
impl PartialEq for BalanceTables {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for BalanceTables {}
