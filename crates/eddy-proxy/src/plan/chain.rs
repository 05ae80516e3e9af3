//! Filter chains of a listener: its own, and one for each rule with different filter settings.

use std::collections::HashMap;
use std::sync::Arc;

use eddy_config::{GatewayConfig, ListenerConfig, RuleFilterConfig, Serve};
use eddy_filter::{ChainStep, HttpFilterChain, LibraryKeepAlive};
use eddy_ids::{ActionId, FilterId, Shared, TableId};

use crate::error::BadChain;
use crate::plan::filter_set::{FilterSet, RuleFilterKey};

/// A chain, and the filter of each step.
#[derive(Debug)]
pub(crate) struct FilterChain {
    pub(crate) chain: HttpFilterChain,
    pub(crate) filters: Vec<FilterId>,
}

/// Filter chains of one listener.
#[derive(Debug, Default)]
pub(crate) struct FilterChains {
    /// The first is that of requests whose rule has none of its own. Empty without filters.
    pub(crate) chains: Vec<Shared<FilterChain>>,
    /// Chain index of each action with its own chain, by table; other actions use the first chain.
    by_action: HashMap<(TableId, ActionId), usize>,
}

impl FilterChains {
    /// Returns the index of the own chain of an action of a table, if it has one.
    pub(crate) fn own_chain_index(&self, table: TableId, action: ActionId) -> Option<usize> {
        self.by_action.get(&(table, action)).copied()
    }
}

/// Builds the chains of a listener.
pub(crate) fn build_chains(
    listener: &ListenerConfig,
    config: &GatewayConfig,
    set: &FilterSet,
) -> Result<FilterChains, BadChain> {
    if listener.filters.is_empty() {
        return Ok(FilterChains::default());
    }
    let mut chains = vec![Shared::new(build(listener, set, None)?)];
    let mut by_action = HashMap::new();
    let tables = if let Serve::Routes(tables) = &listener.serve { tables.as_slice() } else { &[] };
    for id in tables.iter().copied() {
        for (position, action) in config.tables[id].actions.iter().enumerate() {
            if action.filters.iter().any(|rule| listener.filters.contains(&rule.filter)) {
                let rule = (id, ActionId::at(position));
                by_action.insert(rule, chains.len());
                chains.push(Shared::new(build(listener, set, Some((rule, &action.filters)))?));
            }
        }
    }
    Ok(FilterChains { chains, by_action })
}

/// Builds a chain; `own` is the table, the action and the filter settings of a rule.
fn build(
    listener: &ListenerConfig,
    set: &FilterSet,
    own: Option<((TableId, ActionId), &[RuleFilterConfig])>,
) -> Result<FilterChain, BadChain> {
    let mut steps = Vec::new();
    for id in &listener.filters {
        let Some(filter) = set.filters.get(*id) else { return Err(BadChain::Missing) };
        let rule = own.and_then(|(_, rules)| rules.iter().find(|rule| rule.filter == *id));
        let is_disabled = rule.and_then(|rule| rule.is_disabled).unwrap_or(filter.policy.is_disabled);
        let own = own.and_then(|((table, action), _)| set.rule(RuleFilterKey { table, action, filter: *id }));
        steps.push(ChainStep {
            filter: Arc::clone(own.map_or(filter, |own| &own.filter)),
            is_disabled,
            config: own.map_or(0, |own| own.config),
            owner: own.map_or_else(LibraryKeepAlive::default, |own| own.owner.clone()),
        });
    }
    Ok(FilterChain { chain: HttpFilterChain::new(steps)?, filters: listener.filters.clone() })
}
