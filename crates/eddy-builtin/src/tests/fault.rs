use std::time::Duration;

use eddy_filter::{Phase, Verdict};
use eddy_ids::Millis;

use super::support::{TestExchange, TestFilterResult, made};
use crate::{Abort, BuiltinConfig, Delay, FaultConfig, FieldCondition, RequestFraction};

fn enter(config: &FaultConfig, fields: &str, entropy: [u64; 2]) -> TestFilterResult {
    let (library, _) = made(&BuiltinConfig::Fault(config.clone()));
    let mut stage = TestExchange::request(&format!("GET / HTTP/1.1\nhost: a\n{fields}"));
    stage.entropy = entropy;
    stage.enter(&*library, Phase::RequestHead)
}

#[test]
fn the_configured_share_is_refused_and_delayed() {
    let config = FaultConfig {
        delay: Some(Delay { time: Duration::from_millis(250), share: RequestFraction(500_000) }),
        abort: Some(Abort { status: 503, share: RequestFraction(100_000) }),
        conditions: Vec::new(),
    };
    let said: Vec<TestFilterResult> =
        (0..4000_u64).map(|number| enter(&config, "", [number, !number])).collect();
    let aborted = said.iter().filter(|said| said.verdict == Verdict::Reply).count();
    let delayed = said.iter().filter(|said| said.verdict == Verdict::Pause).count();
    assert!((300..500).contains(&aborted), "{aborted}");
    assert!((1600..2000).contains(&delayed), "{delayed}");
    assert!(said.iter().all(|said| said.verdict != Verdict::Pause || said.wait == Some(Millis::new(250))));
    assert!(said.iter().any(|said| said.edits == ["reply 503 fault"]));
}

#[test]
fn refused_requests_are_not_delayed() {
    let config = FaultConfig {
        delay: Some(Delay { time: Duration::from_millis(250), share: RequestFraction(1_000_000) }),
        abort: Some(Abort { status: 503, share: RequestFraction(1_000_000) }),
        conditions: Vec::new(),
    };
    let said = enter(&config, "", [1, 2]);
    assert_eq!((said.verdict, said.wait), (Verdict::Reply, None));
}

#[test]
fn all_conditions_must_hold() {
    let condition =
        |name: &str, value: Option<&str>| FieldCondition { name: name.into(), value: value.map(Into::into) };
    let config = FaultConfig {
        delay: None,
        abort: Some(Abort { status: 500, share: RequestFraction(1_000_000) }),
        conditions: vec![condition("x-fault", Some("yes")), condition("x-any", None)],
    };
    let is_meant = |fields: &str| enter(&config, fields, [0, 0]).verdict == Verdict::Reply;
    assert!(is_meant("X-Fault: yes\nx-any: 1"));
    assert!(is_meant("x-fault: no\nx-fault: yes\nx-any:"));
    assert!(!is_meant("x-fault: yes"));
    assert!(!is_meant("x-fault: YES\nx-any: 1"));
    assert!(!is_meant(""));
}
