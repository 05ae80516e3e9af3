//! Agreement of the index, the reference search, `explain` and an oracle on one winner; correctness of the survey's
//! marks.

use std::cell::Cell;
use std::io::Write;

use eddy_route::{RouteScratch, RouteTable, Router, RuleOutcome, Shadow};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use crate::generate::{ask, crowded_tables, expression_tables, mixed_tables, tables};
use crate::oracle;
use crate::request::RouteTestRequest;

fn check(
    tables: &[RouteTable],
    asks: &[RouteTestRequest],
    coverage: &Cell<Coverage>,
) -> Result<(), TestCaseError> {
    let router = Router::build(tables).map_err(|errors| TestCaseError::fail(format!("{errors:?}")))?;
    let ranked = router.ordered_by(&|a, b| a.action.position() % 3 == b.action.position() % 3);
    let mut scratch = RouteScratch::new();
    for ask in asks {
        let expected = oracle::winner(tables, ask);
        ask.with(|request| {
            let found = router.lookup(request, &mut scratch);
            let rank = found.map(|found| found.rank);
            let name = found.map(|found| found.rule.name.to_string());
            prop_assert_eq!(&name, &expected, "index and oracle: {:?}", ask);
            let plain = router.lookup_sequentially(request, &mut scratch).map(|found| found.rank);
            prop_assert_eq!(rank, plain, "index and plain scan: {:?}", ask);
            let explanation = router.explain(request);
            prop_assert_eq!(explanation.winner.as_ref().map(|winner| winner.rank), rank);
            prop_assert_eq!(explanation.table.is_some(), rank.is_some());
            let won = explanation.candidates.iter().find(|candidate| candidate.outcome == RuleOutcome::Wins);
            prop_assert_eq!(won.map(|candidate| &candidate.rule), explanation.winner.as_ref());
            let others = explanation.elsewhere.other_hosts + explanation.elsewhere.other_paths;
            let judged = u32::try_from(explanation.candidates.len()).unwrap() + others;
            prop_assert_eq!(judged, u32::try_from(router.rules().len()).unwrap(), "each rule is judged once");
            let matching = explanation.candidates.iter();
            let matching =
                matching.filter(|candidate| !matches!(candidate.outcome, RuleOutcome::Fails { .. })).count();
            let Coverage { requests, won, contested } = coverage.get();
            coverage.set(Coverage {
                requests: requests + 1,
                won: won + u32::from(rank.is_some()),
                contested: contested + u32::from(matching > 1),
            });
            if let Some(rank) = rank {
                let entry = &ranked[rank as usize - 1];
                prop_assert!(
                    !matches!(entry.shadow, Shadow::By { .. } | Shadow::Jointly { .. }),
                    "a shadowed rule won: {}",
                    entry
                );
                prop_assert!(entry.dead.is_none(), "a dead rule won: {}", entry);
                let others = explanation.candidates.iter().filter(|other| {
                    !matches!(other.outcome, RuleOutcome::Fails { .. }) && other.rule.rank > rank
                });
                let next = others.min_by_key(|other| other.rule.rank);
                let action = |index: u32| router.rules()[index as usize].action.position() % 3;
                if entry.redundant.is_some() {
                    let is_same =
                        next.is_some_and(|next| action(next.rule.index) == action(entry.rule.index));
                    prop_assert!(is_same, "without this rule something else happens: {}", entry);
                }
                let step = router.deciding_step(request, &mut scratch);
                prop_assert_eq!(
                    step.is_some(),
                    next.is_some(),
                    "a step where there is another rule: {:?}",
                    ask
                );
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Runs [`check`] on a share of the usual number of tables, which `PROPTEST_CASES` sets: first on the same tables every
/// time, whose coverage is printed and judged, then on as many random ones.
fn check_all(what: &str, share: u32, tables: impl Strategy<Value = Vec<RouteTable>>) {
    let usual = ProptestConfig::default();
    let cases = usual.cases.div_ceil(share);
    let config = ProptestConfig { cases, failure_persistence: None, ..usual };
    let inputs = (tables, vec(ask(), 1..30));
    let run = |mut runner: TestRunner| {
        let coverage = Cell::new(Coverage::default());
        let result = runner.run(&inputs, |(tables, asks)| check(&tables, &asks, &coverage));
        result.unwrap_or_else(|failure| panic!("{failure}"));
        coverage.get()
    };
    let fixed = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let Coverage { requests, won, contested } = run(TestRunner::new_with_rng(config.clone(), fixed));
    let percent = |count: u32| f64::from(count) * 100.0 / f64::from(requests);
    let (won, contested) = (percent(won), percent(contested));
    let text = format!(
        "{what}: {requests} requests, {won:.0} % with a winner, {contested:.0} % that two rules or more match\n"
    );
    std::io::stdout().write_all(text.as_bytes()).unwrap();
    assert!(contested > 20.0 && won < 98.0, "the generator has too few requests that rules contend for");
    run(TestRunner::new(config));
}

/// Properties of the requests of a run.
#[derive(Clone, Copy, Default)]
struct Coverage {
    requests: u32,
    won: u32,
    contested: u32,
}

#[test]
fn one_winner_in_small_tables() {
    check_all("small tables", 1, tables(14));
}

#[test]
fn one_winner_in_large_tables() {
    check_all("large tables", 4, tables(60));
}

#[test]
fn one_winner_in_long_lists() {
    check_all("crowded lists", 4, crowded_tables());
}

#[test]
fn one_winner_among_many_expressions() {
    check_all("many expressions", 4, expression_tables());
}

#[test]
fn one_winner_in_tables_of_all_dialects() {
    check_all("tables of all dialects", 1, mixed_tables());
}
