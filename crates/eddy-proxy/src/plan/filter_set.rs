//! All filters of a configuration, created and ready to be put into chains.

use std::collections::BTreeMap;
use std::sync::Arc;

use eddy_filter::{Filter, LibraryKeepAlive};
use eddy_ids::{ActionId, TableId};

/// Filters of a configuration by index, and their settings in rules.
#[derive(Clone, Debug, Default)]
pub struct FilterSet {
    /// Filters by index, as in the configuration.
    pub filters: Vec<Arc<Filter>>,
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
    /// Index of the filter in the configuration.
    pub filter: usize,
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
    /// Returns the settings of a filter in a rule, if the rule does more than disable the filter.
    pub fn rule(&self, key: RuleFilterKey) -> Option<&RuleFilter> {
        self.rules.get(&key)
    }
}
