//! Generation of values that pass a test, short ones first.

use std::collections::{HashMap, HashSet, VecDeque};

use regex_automata::dfa::Automaton;
use regex_automata::util::primitives::StateID;

use crate::compile::{CompiledCondition, CompiledTest, Pattern, PatternScratch, TextTest};

/// Returns some values that pass a test; empty for a test that requires absence.
pub(super) fn of_test(test: &CompiledTest) -> Vec<String> {
    match test {
        CompiledTest::Present => vec!["1".to_owned(), String::new()],
        CompiledTest::Absent => Vec::new(),
        CompiledTest::Exact(text) => vec![text.to_string()],
        CompiledTest::Prefix(text) | CompiledTest::Suffix(text) | CompiledTest::Contains(text) => {
            vec![text.to_string(), format!("{text}~"), format!("~{text}")]
        }
        CompiledTest::Regex(pattern) => of_pattern(pattern),
        CompiledTest::Caseless(caseless) => {
            let (TextTest::Exact(text)
            | TextTest::Prefix(text)
            | TextTest::Suffix(text)
            | TextTest::Contains(text)) = &**caseless;
            vec![text.to_string()]
        }
        CompiledTest::Range(start, _) => vec![start.to_string()],
    }
}

/// Returns some values that alone make a condition hold; empty if it requires absence.
pub(super) fn of_condition(condition: &CompiledCondition) -> Vec<String> {
    let mut values = of_test(&condition.test);
    if condition.is_inverted {
        values.extend(["1", "other", "0", "", "~"].map(str::to_owned));
    }
    let mut scratch = PatternScratch::default();
    values.retain(|value| condition.holds_for(value.as_bytes(), &mut scratch));
    values
}

/// Returns some values that an expression matches, shortest first; empty if its automaton is too large.
pub(super) fn of_pattern(pattern: &Pattern) -> Vec<String> {
    let Some((automaton, start)) = pattern.entry() else { return Vec::new() };
    let mut classes = HashSet::new();
    let bytes: Vec<u8> =
        bytes_by_readability().filter(|byte| classes.insert(automaton.byte_classes().get(*byte))).collect();
    let mut found = Vec::new();
    let mut visits: HashMap<StateID, u32> = HashMap::new();
    let first = String::from_utf8_lossy(pattern.prefix()).into_owned();
    let mut pending = VecDeque::from([(start, first)]);
    let mut steps = 0;
    while let Some((state, value)) = pending.pop_front() {
        steps += 1;
        if steps > STEPS_MAX || found.len() == VALUES_MAX {
            break;
        }
        if automaton.is_match_state(automaton.next_eoi_state(state)) {
            found.push(value.clone());
        }
        for byte in &bytes {
            let next = automaton.next_state(state, *byte);
            let visits = visits.entry(next).or_default();
            if automaton.is_dead_state(next) || *visits == VISITS_MAX {
                continue;
            }
            *visits += 1;
            pending.push_back((next, format!("{value}{}", char::from(*byte))));
        }
    }
    found
}

/// Returns the bytes for values, easily readable ones first.
fn bytes_by_readability() -> impl Iterator<Item = u8> {
    (b'a'..=b'z').chain(b'0'..=b'9').chain(*b"/-._~").chain(b'A'..=b'Z').chain(0x21..0x7f)
}

/// Maximum values per expression.
const VALUES_MAX: usize = 64;

/// Maximum visits of a state on different paths.
const VISITS_MAX: u32 = 3;

/// Maximum steps per expression.
const STEPS_MAX: usize = 20_000;
