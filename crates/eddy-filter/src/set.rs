//! All filters of a configuration, created and ready to be put into chains.

use std::sync::Arc;

use crate::filter::{Filter, LibraryKeepAlive};

/// Filters of a configuration by index, and their settings in rules.
#[derive(Clone, Debug, Default)]
pub struct FilterSet {
    /// Filters by index, as in the configuration.
    pub filters: Vec<Arc<Filter>>,
    /// Settings in rules, for rules that do more than disable a filter.
    pub rules: Vec<RuleFilter>,
}

/// Filter as configured in one rule.
#[derive(Clone, Debug)]
pub struct RuleFilter {
    /// Index of the rule's action in the configuration.
    pub action: usize,
    /// Index of the filter in the configuration.
    pub index: usize,
    /// Filter to enter: the same one, or one created for the rule.
    pub filter: Arc<Filter>,
    /// The library's number of the rule's configuration; 0 for none.
    pub config: u64,
    /// Frees the rule's configuration.
    pub owner: LibraryKeepAlive,
}

impl FilterSet {
    /// Returns the settings of a filter in a rule, if it does more than disable the filter.
    pub fn rule(&self, action: usize, index: usize) -> Option<&RuleFilter> {
        self.rules.iter().find(|rule| rule.action == action && rule.index == index)
    }
}
