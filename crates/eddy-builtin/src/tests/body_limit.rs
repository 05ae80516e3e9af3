use eddy_filter::{Phase, Verdict};

use super::support::{TestExchange, made};
use crate::{BodyLimitConfig, BuiltinConfig};

fn filter(request: Option<u64>, response: Option<u64>) -> BuiltinConfig {
    BuiltinConfig::BodyLimit(BodyLimitConfig { request_bytes_max: request, response_bytes_max: response })
}

#[test]
fn only_phases_with_a_limit_are_entered() {
    let (_, info) = made(&filter(Some(1), None));
    assert!(info.interest.has(Phase::RequestBody) && !info.interest.has(Phase::ResponseBody));
    let (_, info) = made(&filter(None, Some(1)));
    assert!(!info.interest.has(Phase::RequestHead) && info.interest.has(Phase::ResponseBody));
    assert!(info.keeps_length);
}

#[test]
fn a_request_is_refused_by_its_length_or_when_it_has_grown() {
    let (library, _) = made(&filter(Some(100), None));
    let head = |length: &str| {
        let head = format!("POST / HTTP/1.1\nhost: a\ncontent-length: {length}");
        TestExchange::request(&head).enter(&*library, Phase::RequestHead)
    };
    assert_eq!(head("100").verdict, Verdict::Continue);
    assert_eq!(head("101").edits, ["reply 413 body_limit", "grpc 8"]);
    let mut stage = TestExchange::request("POST / HTTP/1.1\nhost: a\ntransfer-encoding: chunked");
    assert_eq!(stage.enter(&*library, Phase::RequestHead).verdict, Verdict::Continue);
    for (bytes, verdict) in [(60, Verdict::Continue), (100, Verdict::Continue), (101, Verdict::Reply)] {
        stage.bytes_so_far = bytes;
        stage.body = vec![b'x'; 40];
        assert_eq!(stage.enter(&*library, Phase::RequestBody).verdict, verdict, "{bytes}");
    }
    stage.bytes_so_far = 0;
    stage.body = vec![b'x'; 101];
    assert_eq!(stage.enter(&*library, Phase::RequestBody).verdict, Verdict::Reply);
}

#[test]
fn a_response_is_refused_before_it_starts_or_truncated() {
    let (library, _) = made(&filter(None, Some(100)));
    let mut stage =
        TestExchange::request("GET / HTTP/1.1\nhost: a").response("HTTP/1.1 200 OK\ncontent-length: 101");
    assert_eq!(stage.enter(&*library, Phase::ResponseHead).edits, ["reply 502 body_limit", "grpc 8"]);
    stage.is_end = true;
    assert_eq!(stage.enter(&*library, Phase::ResponseHead).verdict, Verdict::Continue);
    stage.is_end = false;
    stage.is_local = true;
    assert_eq!(stage.enter(&*library, Phase::ResponseHead).verdict, Verdict::Continue);
    stage.is_local = false;
    stage.bytes_so_far = 101;
    let said = stage.enter(&*library, Phase::ResponseBody);
    assert_eq!((said.verdict, said.edits.len()), (Verdict::Reset, 0));
}
