use std::collections::HashSet;

use eddy_filter::{Phase, Verdict};

use super::support::{TestExchange, made};
use crate::{BuiltinConfig, IdFormat, IpBlock, RequestIdConfig};

fn config() -> RequestIdConfig {
    RequestIdConfig {
        trusted: vec![IpBlock::new("10.0.0.0".parse().unwrap(), 8)],
        ..RequestIdConfig::default()
    }
}

fn new_id(format: IdFormat, entropy: [u64; 2]) -> String {
    let (library, _) = made(&BuiltinConfig::RequestId(RequestIdConfig { format, ..config() }));
    let mut stage = TestExchange::request("GET / HTTP/1.1\nhost: a\nx-request-id: claimed");
    stage.entropy = entropy;
    let said = stage.enter(&*library, Phase::RequestHead);
    assert_eq!(said.verdict, Verdict::Continue);
    let id = said.edits[0].strip_prefix("set x-request-id: ").unwrap().to_owned();
    assert_eq!(said.edits[1..], [format!("metadata request_id/id \"{id}\"")]);
    id
}

#[test]
fn ids_have_their_form() {
    let hex = new_id(IdFormat::Hex, [1, 2]);
    assert!(hex.len() == 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    for (format, version) in [(IdFormat::Uuid4, '4'), (IdFormat::Uuid7, '7')] {
        for entropy in [[0, 0], [u64::MAX; 2], [1, 2]] {
            let id = new_id(format, entropy);
            let parts: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(parts, [8, 4, 4, 4, 12], "{id}");
            assert_eq!(id.chars().nth(14), Some(version), "{id}");
            assert!("89ab".contains(id.chars().nth(19).unwrap()), "{id}");
        }
    }
    let time = format!("{:012x}", 1_700_000_000_123_u64);
    assert_eq!(new_id(IdFormat::Uuid7, [1, 2]).replace('-', "")[..12], time);
    let ids: HashSet<String> = (0..1000).map(|number| new_id(IdFormat::Uuid4, [number, 7])).collect();
    assert_eq!(ids.len(), 1000);
}

#[test]
fn only_the_request_id_of_a_trusted_peer_is_kept() {
    let (library, _) = made(&BuiltinConfig::RequestId(config()));
    let enter = |peer: &str, fields: &str| {
        let mut stage = TestExchange::request(&format!("GET / HTTP/1.1\nhost: a\n{fields}")).from(peer);
        let edits = stage.enter(&*library, Phase::RequestHead).edits;
        edits == [r#"metadata request_id/id "abc-\\1\"""#]
    };
    assert!(enter("10.1.2.3", "x-request-id: abc-\\1\""));
    assert!(!enter("192.0.2.1", "x-request-id: abc-\\1\""));
    assert!(!enter("unix", "x-request-id: abc-\\1\""));
    assert!(!enter("10.1.2.3", ""));
    assert!(!enter("10.1.2.3", "x-request-id: a b"));
    assert!(!enter("10.1.2.3", "x-request-id: a\nx-request-id: b"));
    assert!(!enter("10.1.2.3", &format!("x-request-id: {}", "a".repeat(129))));
}

#[test]
fn the_request_id_is_returned_to_the_client_if_configured() {
    let (library, info) = made(&BuiltinConfig::RequestId(config()));
    assert!(!info.interest.has(Phase::ResponseHead));
    drop(library);
    let (library, info) =
        made(&BuiltinConfig::RequestId(RequestIdConfig { is_in_response: true, ..config() }));
    assert!(info.interest.has(Phase::ResponseHead));
    let mut stage =
        TestExchange::request("GET / HTTP/1.1\nhost: a\nx-request-id: abc").response("HTTP/1.1 200 OK");
    assert_eq!(stage.enter(&*library, Phase::ResponseHead).edits, ["set x-request-id: abc"]);
}
