use eddy_route::Fraction;

use super::*;

#[test]
fn a_rule_takes_all_requests_for_a_host_only_without_any_condition() {
    let host = HostPattern::Exact("a.test".to_owned());
    let all = Rule {
        hosts: vec![host.clone()],
        path: PathPattern::Prefix("/".to_owned()),
        ..Rule::new("all", Origin { file: "".into(), line: 1 })
    };
    assert!(takes_all(&all, &host));
    assert!(takes_all(&Rule { path: PathPattern::Any, ..all.clone() }, &host));
    assert!(!takes_all(&all, &HostPattern::Any));
    assert!(takes_all(&Rule { hosts: Vec::new(), ..all.clone() }, &HostPattern::Any));
    let half = Fraction { numerator: 1, denominator: 2 };
    for rule in [
        Rule { fraction: Some(half), ..all.clone() },
        Rule { methods: vec!["GET".to_owned()], ..all.clone() },
        Rule { path: PathPattern::Prefix("/a".to_owned()), ..all.clone() },
        Rule { hosts: Vec::new(), ..all },
    ] {
        assert!(!takes_all(&rule, &host), "{rule:?}");
    }
}
