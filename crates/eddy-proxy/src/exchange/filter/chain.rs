//! The chains of a listener: its own, and one for each rule that says something else.

use std::collections::HashMap;
use std::sync::Arc;

use eddy_config::{GatewayConfig, ListenerConfig};
use eddy_filter::{ChainStep, ChainTooLong, FilterSet, HttpFilterChain, LibraryKeepAlive};
use thiserror::Error;

/// A chain and, step by step, the filters' indices in the configuration.
#[derive(Debug)]
pub(crate) struct FilterChain {
    pub(crate) chain: HttpFilterChain,
    pub(crate) indices: Vec<usize>,
}

/// The chains of one listener.
#[derive(Debug, Default)]
pub(crate) struct FilterChains {
    chains: Vec<FilterChain>,
    /// Which of them goes with an action; the first one where the action says nothing.
    by_action: HashMap<usize, usize>,
}

impl FilterChains {
    /// The index of the chain that goes with an action; `None` where no filter is entered.
    #[inline]
    pub(crate) fn of_action(&self, action: Option<usize>) -> Option<usize> {
        if self.chains.is_empty() {
            return None;
        }
        let own = action.and_then(|action| self.by_action.get(&action));
        Some(own.copied().unwrap_or(0))
    }

    /// The chain with this index.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&FilterChain> {
        self.chains.get(index)
    }
}

/// Why the filters of a listener make no chain.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum BadChain {
    /// There are too many.
    #[error(transparent)]
    TooLong(#[from] ChainTooLong),
    /// One that is configured was not made ready.
    #[error("a filter of the configuration was not made ready")]
    Missing,
}

/// Makes the chains of a listener.
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
    let mut chains = vec![build(listener, config, set, None)?];
    let mut by_action = HashMap::new();
    for (index, action) in config.actions.iter().enumerate() {
        if action.filters.iter().any(|rule| listener.filters.contains(&rule.filter)) {
            by_action.insert(index, chains.len());
            chains.push(build(listener, config, set, Some(index))?);
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
