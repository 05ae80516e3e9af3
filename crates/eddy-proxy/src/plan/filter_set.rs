//! All filters of a configuration, created and ready to be put into chains.

use std::collections::BTreeMap;
use std::sync::Arc;

use eddy_filter::{Filter, LibraryKeepAlive};
use eddy_ids::{ActionId, BySlot, FilterId, TableId};

/// Filters of a configuration, and their settings in rules.
#[derive(Clone, Debug, Default)]
pub struct FilterSet {
    /// All filters of the configuration.
    pub filters: BySlot<FilterId, Arc<Filter>>,
    /// Settings in rules, for rules that do more than disable a filter.
    pub rules: BTreeMap<RuleFilterKey, RuleFilter>,
}

/// A filter in a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RuleFilterKey {
    /// Table of the rule.
    pub table: TableId,
    /// Action of the rule.
    pub action: ActionId,
    /// The filter.
    pub filter: FilterId,
}

/// Filter as configured in one rule.
#[derive(Clone, Debug)]
pub struct RuleFilter {
    /// Filter to enter: the same one, or one created for the rule.
    pub filter: Arc<Filter>,
    /// The library's number of the rule's configuration; 0 for none.
    pub config: u64,
    /// Frees the rule's configuration.
    pub owner: LibraryKeepAlive,
}

impl FilterSet {
    /// Returns all filters, and those that were created for rules.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Filter>> {
        self.filters.values().chain(self.rules.values().map(|rule| &rule.filter))
    }

    /// Returns the settings of a filter in a rule, if the rule does more than disable the filter.
    pub fn rule(&self, key: RuleFilterKey) -> Option<&RuleFilter> {
        self.rules.get(&key)
    }
}
