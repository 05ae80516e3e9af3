//! All filters of a configuration, made and ready to be put into chains.

use std::sync::Arc;

use crate::filter::{Filter, LibraryKeepAlive};

/// The filters of a configuration, by their index there, and what rules say of them.
#[derive(Clone, Debug, Default)]
pub struct FilterSet {
    /// By index, as in the configuration.
    pub filters: Vec<Arc<Filter>>,
    /// What rules say, for those that say more than "disabled".
    pub rules: Vec<RuleFilter>,
}

/// A filter as one rule has it.
#[derive(Clone, Debug)]
pub struct RuleFilter {
    /// The rule's action, by its index in the configuration.
    pub action: usize,
    /// The filter, by its index in the configuration.
    pub index: usize,
    /// The filter that is entered: the same one, or one made for the rule.
    pub filter: Arc<Filter>,
    /// The library's number of the rule's configuration; 0 for none.
    pub config: u64,
    /// Frees that.
    pub owner: LibraryKeepAlive,
}

impl FilterSet {
    /// What a rule says of a filter beside "disabled".
    pub fn rule(&self, action: usize, index: usize) -> Option<&RuleFilter> {
        self.rules.iter().find(|rule| rule.action == action && rule.index == index)
    }
}
