//! Names of filters by the numbers used in the shared page and in log entries of guests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use eddy_proxy::FilterSet;

/// Names by number; clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilterNames {
    names: Arc<Mutex<BTreeMap<u32, String>>>,
}

impl FilterNames {
    /// Adds the filters of a set and returns their numbers and names.
    pub(crate) fn add(&self, set: &FilterSet) -> Vec<(u32, String)> {
        let all: BTreeMap<u32, String> =
            set.all().map(|filter| (filter.id, filter.name.to_string())).collect();
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.extend(all.clone());
        // The lowest numbers belong to plans that are long gone.
        while names.len() > NAMES_MAX {
            names.pop_first();
        }
        all.into_iter().collect()
    }

    /// Returns the name of a filter for log entries.
    pub(crate) fn of(&self, number: u32) -> String {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.get(&number).cloned().unwrap_or_else(|| format!("number {number}"))
    }
}

const NAMES_MAX: usize = 4096;
