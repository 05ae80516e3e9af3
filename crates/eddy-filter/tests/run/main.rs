//! Filter runs behave as a naive model in which each step is a small pipe of its own.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]
#![allow(clippy::wildcard_enum_match_arm, reason = "an edit without effect in a phase is none")]

mod machine;
mod model;
mod scenario;
mod sending;
mod vectors;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::machine::Machine;
use crate::model::Model;
use crate::scenario::{ChainScenario, TraceEvent, exchanges};

/// Number of exchanges in a normal run; `PROPTEST_CASES` sets another one.
const CASES: u32 = 20_000;

/// Counts of what the scenarios have covered.
#[derive(Debug, Default)]
struct TraceCoverage {
    calls: usize,
    buffered: usize,
    replies: usize,
    failures: usize,
    too_large: usize,
    cancelled: usize,
}

impl TraceCoverage {
    fn add(&mut self, scenario: &ChainScenario, trace: &[TraceEvent]) {
        let count = |is: fn(&TraceEvent) -> bool| trace.iter().filter(|event| is(event)).count();
        self.calls += count(|event| matches!(event, TraceEvent::Call { .. }));
        self.buffered += count(|event| matches!(event, TraceEvent::Call { is_buffered: true, .. }));
        self.replies += count(|event| matches!(event, TraceEvent::Reply(_)));
        self.failures += count(|event| matches!(event, TraceEvent::Failed(_)));
        self.too_large += count(|event| matches!(event, TraceEvent::TooLarge(_)));
        self.cancelled += usize::from(scenario.cancelled_after.is_some());
    }
}

fn check(machine: &mut Machine, scenario: &ChainScenario) -> Result<Vec<TraceEvent>, TestCaseError> {
    let expected = Model::run(scenario);
    let trace = machine.run(scenario).map_err(TestCaseError::fail)?;
    if scenario.cancelled_after.is_some() {
        prop_assert!(expected.starts_with(&trace), "cut off: {:#?}\nexpected: {:#?}", trace, expected);
    } else {
        prop_assert_eq!(&trace, &expected);
    }
    Ok(trace)
}

#[test]
fn a_filter_run_agrees_with_the_reference_model() {
    let usual = ProptestConfig::default();
    let is_set = std::env::var_os("PROPTEST_CASES").is_some();
    let cases = if is_set { usual.cases } else { CASES };
    let mut runner = TestRunner::new(ProptestConfig { cases, failure_persistence: None, ..usual });
    // One machine for all exchanges, so that a state that outlives its exchange is found.
    let machine = std::cell::RefCell::new(Machine::default());
    let coverage = std::cell::RefCell::new(TraceCoverage::default());
    let result = runner.run(&exchanges(), |scenario| {
        let mut machine = machine.borrow_mut();
        let trace = check(&mut machine, &scenario);
        if trace.is_err() {
            *machine = Machine::default();
        }
        coverage.borrow_mut().add(&scenario, &trace?);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let coverage = coverage.into_inner();
    println!("{cases} exchanges: {coverage:?}");
    let TraceCoverage { calls, buffered, replies, failures, too_large, cancelled } = coverage;
    let least = [calls / 10, buffered, replies, failures, too_large, cancelled].into_iter().min();
    assert!(least >= Some(cases as usize / 100), "the scenarios leave something out");
}
