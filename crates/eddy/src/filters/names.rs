//! The names of filters by the numbers that the shared page and records of guests have.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use eddy_filter::FilterSet;

/// Names by number; clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilterNames {
    names: Arc<Mutex<BTreeMap<u32, String>>>,
}

impl FilterNames {
    /// Takes note of the filters of a set, and answers with their numbers and names.
    pub(crate) fn add(&self, set: &FilterSet) -> Vec<(u32, String)> {
        let of_rules = set.rules.iter().map(|rule| &rule.filter);
        let all: BTreeMap<u32, String> =
            set.filters.iter().chain(of_rules).map(|filter| (filter.id, filter.name.to_string())).collect();
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.extend(all.clone());
        // The lowest numbers are those of plans long gone.
        while names.len() > NAMES_MAX {
            names.pop_first();
        }
        all.into_iter().collect()
    }

    /// How a record names a filter.
    pub(crate) fn of(&self, number: u32) -> String {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.get(&number).cloned().unwrap_or_else(|| format!("number {number}"))
    }
}

const NAMES_MAX: usize = 4096;
