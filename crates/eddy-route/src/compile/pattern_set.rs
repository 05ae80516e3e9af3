//! Many regular expressions in one automaton: one pass over a value finds all that match it.

use std::fmt;

use regex_automata::dfa::{Automaton, dense};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::primitives::StateID;

use crate::compile::pattern::{Pattern, automaton_config, nfa_config, start_state, walk};

/// Expressions in one automaton, identified by their index.
pub(crate) struct PatternSet {
    automaton: dense::DFA<Vec<u32>>,
}

impl PatternSet {
    /// Combines expressions; `None` if their automaton would be large or costly to build.
    pub(crate) fn build(patterns: &[&Pattern]) -> Option<Self> {
        let parsed: Result<Vec<_>, _> = patterns.iter().map(|pattern| pattern.whole()).collect();
        let config = nfa_config(WhichCaptures::None, SET_NFA_BYTES_MAX);
        let nfa = thompson::Compiler::new().configure(config).build_many_from_hir(&parsed.ok()?).ok()?;
        let config = automaton_config(SET_BYTES_MAX, SET_BUILD_BYTES_MAX);
        let automaton = dense::Builder::new().configure(config).build_from_nfa(&nfa).ok()?;
        Some(Self { automaton })
    }

    /// Returns the indices of the expressions that match the whole value, in no particular order.
    pub(crate) fn matches(&self, value: &[u8]) -> impl Iterator<Item = usize> {
        let automaton = &self.automaton;
        let end = self.end_state(value);
        let count = end.map_or(0, |state| automaton.match_len(state));
        end.into_iter()
            .flat_map(move |state| (0..count).map(move |at| automaton.match_pattern(state, at).as_usize()))
    }

    /// Returns the state after the value, if any expression matches in it.
    fn end_state(&self, value: &[u8]) -> Option<StateID> {
        let state = walk(&self.automaton, start_state(&self.automaton)?, value)?;
        let end = self.automaton.next_eoi_state(state);
        self.automaton.is_match_state(end).then_some(end)
    }
}

impl fmt::Debug for PatternSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("PatternSet")
            .field("patterns", &self.automaton.pattern_len())
            .finish_non_exhaustive()
    }
}

/// Maximum size of a set's automaton.
const SET_BYTES_MAX: usize = 512 << 10;

/// Maximum memory while the automaton of a set is built; it also limits the time.
const SET_BUILD_BYTES_MAX: usize = 512 << 10;

/// Maximum size of the union of expressions.
const SET_NFA_BYTES_MAX: usize = 1 << 20;
