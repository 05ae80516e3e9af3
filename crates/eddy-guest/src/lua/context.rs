//! Configuration values passed to scripts: one JSON value for each filter, and for each rule that configures it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Configuration values of one script, by a number that is never reused.
#[derive(Debug, Default)]
pub(super) struct Contexts {
    values: RwLock<HashMap<u64, Arc<str>>>,
    last: AtomicU64,
}

impl Contexts {
    /// Adds a value and returns its number.
    pub(super) fn add(&self, json: &str) -> u64 {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        self.values.write().unwrap_or_else(PoisonError::into_inner).insert(number, json.into());
        number
    }

    /// Removes a value.
    pub(super) fn remove(&self, number: u64) {
        self.values.write().unwrap_or_else(PoisonError::into_inner).remove(&number);
    }

    /// Returns the value with this number.
    pub(super) fn get(&self, number: u64) -> Option<Arc<str>> {
        self.values.read().unwrap_or_else(PoisonError::into_inner).get(&number).cloned()
    }
}
