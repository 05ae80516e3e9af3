//! Comparison of the languages of two regular expressions, by walking both automata at once.

use std::collections::HashSet;

use regex_automata::Anchored;
use regex_automata::dfa::{Automaton, dense};
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;

use crate::compile::pattern::Pattern;

/// Remaining steps of comparisons.
pub(crate) struct ComparisonBudget {
    steps: usize,
}

impl ComparisonBudget {
    pub(crate) fn new() -> Self {
        Self { steps: STEPS_MAX }
    }

    /// Uses steps; `None` if there are not enough left.
    pub(crate) fn spend(&mut self, steps: usize) -> Option<()> {
        self.steps = self.steps.checked_sub(steps)?;
        Some(())
    }
}

/// Whether `wide` matches every path that `narrow` matches; `None` if the check would take too long.
pub(crate) fn covers(wide: &Pattern, narrow: &Pattern, budget: &mut ComparisonBudget) -> Option<bool> {
    let walk = Product::new(narrow, wide)?;
    let escapes = |narrow_accepts: bool, wide_accepts: bool| narrow_accepts && !wide_accepts;
    let is_hopeless = |pair: DfaStatePair| walk.a.is_dead_state(pair.0);
    walk.reaches(escapes, is_hopeless, budget).map(|is_reached| !is_reached)
}

/// Whether both expressions match a common path; `None` if the check would take too long.
pub(crate) fn overlap(a: &Pattern, b: &Pattern, budget: &mut ComparisonBudget) -> Option<bool> {
    let walk = Product::new(a, b)?;
    let is_hopeless = |pair: DfaStatePair| walk.a.is_dead_state(pair.0) || walk.b.is_dead_state(pair.1);
    walk.reaches(|a_accepts, b_accepts| a_accepts && b_accepts, is_hopeless, budget)
}

/// A state of each automaton.
type DfaStatePair = (StateID, StateID);

/// Two automata that are walked together.
struct Product<'p> {
    a: &'p dense::DFA<Vec<u32>>,
    b: &'p dense::DFA<Vec<u32>>,
    /// One representative byte for each class of path bytes that the two distinguish.
    bytes: Vec<u8>,
}

impl<'p> Product<'p> {
    fn new(a: &'p Pattern, b: &'p Pattern) -> Option<Self> {
        let (a, b) = (a.automaton()?, b.automaton()?);
        let mut seen = HashSet::new();
        let path_bytes = (0x21..0x7f).filter(|byte| !matches!(byte, b'?' | b'#' | b'\\'));
        let class = |byte: u8| (a.byte_classes().get(byte), b.byte_classes().get(byte));
        let bytes = path_bytes.filter(|byte| seen.insert(class(*byte))).collect();
        Some(Self { a, b, bytes })
    }

    /// Whether some path leads to a wanted pair of results.
    fn reaches(
        &self,
        is_wanted: impl Fn(bool, bool) -> bool,
        is_hopeless: impl Fn(DfaStatePair) -> bool,
        budget: &mut ComparisonBudget,
    ) -> Option<bool> {
        let config = start::Config::new().anchored(Anchored::Yes);
        let first = (self.a.start_state(&config).ok()?, self.b.start_state(&config).ok()?);
        let mut seen = HashSet::from([first]);
        let mut pending = vec![first];
        while let Some((a, b)) = pending.pop() {
            if is_hopeless((a, b)) {
                continue;
            }
            budget.spend(self.bytes.len() + 1)?;
            let accepts_a = self.a.is_match_state(self.a.next_eoi_state(a));
            let accepts_b = self.b.is_match_state(self.b.next_eoi_state(b));
            if is_wanted(accepts_a, accepts_b) {
                return Some(true);
            }
            for byte in &self.bytes {
                let next = (self.a.next_state(a, *byte), self.b.next_state(b, *byte));
                if seen.insert(next) {
                    pending.push(next);
                }
            }
        }
        Some(false)
    }
}

/// Maximum steps of all comparisons of a survey; about a second.
const STEPS_MAX: usize = 30_000_000;
