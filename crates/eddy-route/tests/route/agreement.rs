//! The index, the plain scan, `explain` and an oracle name one winner; marks of the survey hold.

use eddy_route::{Outcome, RouteScratch, RouteTable, Router, Shadow};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::generate::{ask, crowded_tables, tables};
use crate::oracle;
use crate::request::Ask;

fn check(tables: &[RouteTable], asks: &[Ask]) -> Result<(), TestCaseError> {
    let router = Router::build(tables).map_err(|errors| TestCaseError::fail(format!("{errors:?}")))?;
    let ranked = router.ordered();
    let mut scratch = RouteScratch::new();
    for ask in asks {
        let expected = oracle::winner(tables, ask);
        ask.with(|request| {
            let found = router.lookup(request, &mut scratch);
            let rank = found.map(|found| found.rank);
            let name = found.map(|found| found.rule.name.to_string());
            prop_assert_eq!(&name, &expected, "index and oracle: {:?}", ask);
            let plain = router.lookup_plainly(request, &mut scratch).map(|found| found.rank);
            prop_assert_eq!(rank, plain, "index and plain scan: {:?}", ask);
            let explanation = router.explain(request);
            prop_assert_eq!(explanation.winner.as_ref().map(|winner| winner.rank), rank);
            prop_assert_eq!(explanation.table.is_some(), rank.is_some());
            let won = explanation.candidates.iter().find(|candidate| candidate.outcome == Outcome::Wins);
            prop_assert_eq!(won.map(|candidate| &candidate.rule), explanation.winner.as_ref());
            let others = explanation.elsewhere.other_hosts + explanation.elsewhere.other_paths;
            let judged = u32::try_from(explanation.candidates.len()).unwrap() + others;
            prop_assert_eq!(judged, u32::try_from(router.rules().len()).unwrap(), "each rule is judged once");
            if let Some(rank) = rank {
                let entry = &ranked[rank as usize - 1];
                prop_assert!(!matches!(entry.shadow, Shadow::By { .. }), "a shadowed rule won: {}", entry);
                prop_assert!(entry.dead.is_none(), "a dead rule won: {}", entry);
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// A share of the usual number of cases, which `PROPTEST_CASES` sets.
fn one_in(share: u32) -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases.div_ceil(share), failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(one_in(1))]

    #[test]
    fn one_winner_in_small_tables(tables in tables(8), asks in vec(ask(), 1..30)) {
        check(&tables, &asks)?;
    }
}

proptest! {
    #![proptest_config(one_in(4))]

    #[test]
    fn one_winner_in_crowded_lists(tables in crowded_tables(), asks in vec(ask(), 1..30)) {
        check(&tables, &asks)?;
    }

    #[test]
    fn one_winner_in_large_tables(tables in tables(60), asks in vec(ask(), 1..20)) {
        check(&tables, &asks)?;
    }
}
