use std::time::Duration;

use eddy_filter::{Phase, Verdict};

use super::support::{TestExchange, TestFilterResult, made};
use crate::{BuiltinConfig, CorsConfig, Listed, OriginPattern};

fn config(origins: &[&str]) -> CorsConfig {
    let origins = origins.iter().map(|text| OriginPattern::parse(text).unwrap()).collect();
    CorsConfig { origins, ..CorsConfig::default() }
}

fn names(names: &[&str]) -> Listed {
    Listed::Names(names.iter().map(|name| (*name).into()).collect())
}

fn preflight(config: &CorsConfig, origin: &str, fields: &str) -> TestFilterResult {
    let (library, _) = made(&BuiltinConfig::Cors(config.clone()));
    let head = format!(
        "OPTIONS /x HTTP/1.1\nhost: a\norigin: {origin}\naccess-control-request-method: PUT\n{fields}"
    );
    TestExchange::request(&head).enter(&*library, Phase::RequestHead)
}

fn response(config: &CorsConfig, request: &str, response: &str) -> Vec<String> {
    let (library, _) = made(&BuiltinConfig::Cors(config.clone()));
    let mut stage = TestExchange::request(&format!("GET / HTTP/1.1\nhost: a\n{request}"))
        .response(&format!("HTTP/1.1 200 OK\n{response}"));
    assert_eq!(stage.enter(&*library, Phase::RequestHead).verdict, Verdict::Continue);
    stage.enter(&*library, Phase::ResponseHead).edits
}

fn is_known(origins: &[&str], origin: &str) -> bool {
    preflight(&config(origins), origin, "").edits[0] == "reply 204 cors_preflight"
}

#[test]
fn a_preflight_is_answered() {
    let config = CorsConfig {
        methods: names(&["GET", "PUT"]),
        request_fields: names(&["authorization", "x-one"]),
        has_credentials: true,
        max_age: Duration::from_secs(60),
        ..config(&["https://example.com"])
    };
    assert_eq!(
        preflight(&config, "https://example.com", "access-control-request-headers: x-one").edits,
        [
            "reply 204 cors_preflight",
            "reply field access-control-allow-origin: https://example.com",
            "reply field access-control-allow-credentials: true",
            "reply field access-control-allow-methods: GET, PUT",
            "reply field access-control-allow-headers: authorization, x-one",
            "reply field access-control-max-age: 60",
            "reply field vary: origin, access-control-request-method, access-control-request-headers",
        ]
    );
    assert_eq!(
        preflight(&config, "https://evil.test", "").edits,
        ["reply 403 cors", "reply field vary: origin"]
    );
}

#[test]
fn a_wildcard_echoes_the_requested_method_and_headers() {
    let config = CorsConfig { methods: Listed::All, request_fields: Listed::All, ..config(&["*"]) };
    let edits = preflight(&config, "https://a.test", "access-control-request-headers: x-one, x-two").edits;
    assert_eq!(edits[1], "reply field access-control-allow-origin: *");
    assert_eq!(edits[2], "reply field access-control-allow-methods: PUT");
    assert_eq!(edits[3], "reply field access-control-allow-headers: x-one, x-two");
}

#[test]
fn other_requests_pass_unchanged() {
    let (library, _) = made(&BuiltinConfig::Cors(config(&["*"])));
    for head in [
        "OPTIONS / HTTP/1.1\nhost: a\norigin: https://a.test",
        "OPTIONS / HTTP/1.1\nhost: a\naccess-control-request-method: PUT",
        "GET / HTTP/1.1\nhost: a\norigin: https://a.test\naccess-control-request-method: PUT",
    ] {
        let verdict = TestExchange::request(head).enter(&*library, Phase::RequestHead).verdict;
        assert_eq!(verdict, Verdict::Continue, "{head}");
    }
}

#[test]
fn origins_are_distinguished() {
    let exact = ["https://example.com", "http://localhost:3000", "null"];
    for origin in exact {
        assert!(is_known(&exact, origin), "{origin}");
    }
    for origin in [
        "http://example.com",
        "https://example.com:8443",
        "https://example.com.evil.test",
        "https://www.example.com",
        "https://notexample.com",
    ] {
        assert!(!is_known(&exact, origin), "{origin}");
    }
    let below = ["https://*.example.com"];
    for origin in ["https://a.example.com", "https://a.b.example.com", "HTTPS://A.EXAMPLE.COM"] {
        assert!(is_known(&below, origin), "{origin}");
    }
    for origin in [
        "https://example.com",
        "https://.example.com",
        "http://a.example.com",
        "https://evil.test/.example.com",
        "https://evil.test#.example.com",
        "https://evil.test:1@x.example.com",
        "https://a.example.com:8443",
        "https://aexample.com",
    ] {
        assert!(!is_known(&below, origin), "{origin}");
    }
    let regex = ["~https://[a-z]+\\.test|http://x"];
    assert!(is_known(&regex, "https://abc.test") && is_known(&regex, "http://x"));
    assert!(!is_known(&regex, "https://abc.test.evil") && !is_known(&regex, "yhttp://x"));
}

#[test]
fn cors_headers_are_added_to_responses() {
    let closed = config(&["https://example.com"]);
    let mine = "origin: https://example.com";
    let expected = ["set access-control-allow-origin: https://example.com", "add vary: origin"];
    assert_eq!(response(&closed, mine, ""), expected);
    assert_eq!(response(&closed, "", ""), ["add vary: origin"]);
    assert_eq!(response(&closed, mine, "vary: accept, Origin"), expected[..1]);
    assert_eq!(response(&closed, mine, "vary: *"), expected[..1]);
    let claimed = "access-control-allow-origin: *\naccess-control-allow-credentials: true\nvary: origin";
    let removed = ["remove access-control-allow-origin", "remove access-control-allow-credentials"];
    assert_eq!(response(&closed, "origin: https://evil.test", claimed), removed);
    assert_eq!(response(&closed, &format!("{mine}\n{mine}"), "vary: origin"), [] as [&str; 0]);
    let open = CorsConfig { exposed_fields: names(&["x-one", "x-two"]), ..config(&["*"]) };
    let expected = ["set access-control-allow-origin: *", "set access-control-expose-headers: x-one, x-two"];
    assert_eq!(response(&open, "", ""), expected);
    let credentials = CorsConfig { has_credentials: true, ..closed };
    assert_eq!(
        response(&credentials, mine, ""),
        [
            "set access-control-allow-origin: https://example.com",
            "set access-control-allow-credentials: true",
            "add vary: origin"
        ]
    );
}
