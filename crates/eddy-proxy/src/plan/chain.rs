//! Filter chains of a listener: its own, and one for each rule with different filter settings.

use std::collections::HashMap;
use std::sync::Arc;

use eddy_config::{GatewayConfig, ListenerConfig};
use eddy_filter::{ChainStep, FilterSet, HttpFilterChain, LibraryKeepAlive};
use eddy_ids::Shared;

use crate::error::BadChain;

/// A chain, and the configuration index of the filter of each step.
#[derive(Debug)]
pub(crate) struct FilterChain {
    pub(crate) chain: HttpFilterChain,
    pub(crate) indices: Vec<usize>,
}

/// Filter chains of one listener.
#[derive(Debug, Default)]
pub(crate) struct FilterChains {
    chains: Vec<Shared<FilterChain>>,
    /// Chain index of each action with its own chain; other actions use the first chain.
    by_action: HashMap<usize, usize>,
}

impl FilterChains {
    /// Returns all chains; the first is that of requests whose rule has none of its own. Empty without filters.
    pub(crate) fn all(&self) -> &[Shared<FilterChain>] {
        &self.chains
    }

    /// Returns the index of an action's own chain, if it has one.
    pub(crate) fn own_of(&self, action: usize) -> Option<usize> {
        self.by_action.get(&action).copied()
    }
}

/// Builds the chains of a listener.
///
/// # Errors
/// Any [`BadChain`].
pub(crate) fn build_chains(
    listener: &ListenerConfig,
    config: &GatewayConfig,
    set: &FilterSet,
) -> Result<FilterChains, BadChain> {
    if listener.filters.is_empty() {
        return Ok(FilterChains::default());
    }
    let mut chains = vec![Shared::new(build(listener, config, set, None)?)];
    let mut by_action = HashMap::new();
    for (index, action) in config.actions.iter().enumerate() {
        if action.filters.iter().any(|rule| listener.filters.contains(&rule.filter)) {
            by_action.insert(index, chains.len());
            chains.push(Shared::new(build(listener, config, set, Some(index))?));
        }
    }
    Ok(FilterChains { chains, by_action })
}

fn build(
    listener: &ListenerConfig,
    config: &GatewayConfig,
    set: &FilterSet,
    action: Option<usize>,
) -> Result<FilterChain, BadChain> {
    let mut steps = Vec::new();
    for index in &listener.filters {
        let Some(filter) = set.filters.get(*index) else { return Err(BadChain::Missing) };
        let rules =
            action.and_then(|action| config.actions.get(action)).map(|action| action.filters.as_slice());
        let rule = rules.unwrap_or_default().iter().find(|rule| rule.filter == *index);
        let is_disabled = rule.and_then(|rule| rule.is_disabled).unwrap_or(filter.policy.is_disabled);
        let own = action.and_then(|action| set.rule(action, *index));
        steps.push(ChainStep {
            filter: Arc::clone(own.map_or(filter, |own| &own.filter)),
            is_disabled,
            config: own.map_or(0, |own| own.config),
            owner: own.map_or_else(LibraryKeepAlive::default, |own| own.owner.clone()),
        });
    }
    Ok(FilterChain { chain: HttpFilterChain::new(steps)?, indices: listener.filters.clone() })
}
