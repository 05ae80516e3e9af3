use eddy_filter::{Phase, Verdict};

use super::support::{TestExchange, made};
use crate::{BuiltinConfig, ClientConfig, IpAccessConfig, IpBlock};

fn block(text: &str) -> IpBlock {
    let (address, bits) = text.split_once('/').unwrap();
    IpBlock::new(address.parse().unwrap(), bits.parse().unwrap())
}

fn check(deny: &[&str], allow: &[&str], peer: &str, expected: bool) {
    let blocks = |texts: &[&str]| texts.iter().map(|text| block(text)).collect();
    let config = IpAccessConfig { deny: blocks(deny), allow: blocks(allow), client: ClientConfig::default() };
    let (library, info) = made(&BuiltinConfig::IpAccess(config));
    assert!(info.interest.has(Phase::RequestHead) && !info.interest.has(Phase::ResponseHead));
    let said =
        TestExchange::request("GET / HTTP/1.1\nhost: a").from(peer).enter(&*library, Phase::RequestHead);
    let is_client_allowed = said.verdict == Verdict::Continue;
    assert_eq!(is_client_allowed, expected, "{deny:?} {allow:?} {peer}");
    assert_eq!(said.edits, if is_client_allowed { vec![] } else { vec!["reply 403 ip_access", "grpc 7"] });
}

#[test]
fn deny_takes_precedence_over_allow() {
    check(&[], &["10.0.0.0/8"], "10.1.1.1", true);
    check(&[], &["10.0.0.0/8"], "11.1.1.1", false);
    check(&["10.1.0.0/16"], &["10.0.0.0/8"], "10.1.1.1", false);
    check(&["10.1.0.0/16"], &["10.0.0.0/8"], "10.2.1.1", true);
    check(&["10.1.0.0/16"], &[], "192.0.2.1", true);
    check(&["10.1.0.0/16"], &[], "unix", true);
    check(&[], &["0.0.0.0/0"], "unix", false);
}

#[test]
fn a_client_with_an_unreadable_forwarded_address_is_refused() {
    let client = ClientConfig { forwarded_position: 1, trusted: vec![block("10.0.0.0/8")] };
    let config = IpAccessConfig { deny: vec![block("192.0.2.0/24")], allow: vec![], client };
    let (library, _) = made(&BuiltinConfig::IpAccess(config));
    let enter = |forwarded: &str| {
        let head = format!("GET / HTTP/1.1\nhost: a\nx-forwarded-for: {forwarded}");
        TestExchange::request(&head).from("10.0.0.1").enter(&*library, Phase::RequestHead).verdict
    };
    assert_eq!(enter("198.51.100.1"), Verdict::Continue);
    assert_eq!(enter("192.0.2.1"), Verdict::Reply);
    assert_eq!(enter("198.51.100.1, _hidden"), Verdict::Reply);
}
