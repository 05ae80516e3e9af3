//! Tests of accepted and rejected credentials.

use eddy_sdk::test::{Chain, ChainOutcome, Configured, Library, Request, Response};

use super::{Filters, base64, is_equal};

const CONFIG: &str = r#"{"username": "fooname", "password": "validpassword"}"#;

fn filter(config: &str) -> Result<Configured, String> {
    Library::of::<Filters>().filter("basic-auth", config)
}

fn send(filter: &Configured, values: &[&str]) -> ChainOutcome {
    let request =
        values.iter().fold(Request::get("/"), |request, value| request.field("Authorization", value));
    Chain::new().then(filter).send(request, |_| Response::new(200))
}

#[test]
fn only_the_configured_user_is_admitted() {
    let filter = filter(CONFIG).expect("it is right");
    for value in ["Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk", "bASIC Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk"] {
        assert!(send(&filter, &[value]).was_sent(), "{value}");
    }
    let long = format!("Basic {}", "QUFB".repeat(25_000));
    for values in [
        &[][..],
        &[""],
        &["Basic"],
        &["Basic "],
        &["Basic !!!!"],
        &["Bearer Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk"],
        &["Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jj"],
        &["Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk="],
        &["Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3JkZA=="],
        &["Basic Zm9vbmFtZTo="],
        &["Basic ===="],
        &["Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk", "Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk"],
        &[long.as_str()],
    ] {
        let outcome = send(&filter, values);
        assert!(!outcome.was_sent(), "{values:.80?}");
        assert_eq!(outcome.answered().status, 401);
        assert_eq!(outcome.answered().get_field("www-authenticate"), Some("Basic realm=\"restricted\""));
        assert_eq!(outcome.details(), "basic_auth");
    }
}

#[test]
fn a_rule_may_have_another_password() {
    let filter = filter(CONFIG).expect("it is right");
    let rule = filter.rule(r#"{"password": "b"}"#).expect("it is right");
    let request = Request::get("/").field("authorization", "Basic Zm9vbmFtZTpi");
    let outcome = Chain::new().then(&filter).with_rule(&rule).send(request, |_| Response::new(200));
    assert!(outcome.was_sent());
    assert!(!send(&filter, &["Basic Zm9vbmFtZTpi"]).was_sent());
}

#[test]
fn configurations_are_checked() {
    let long = format!(r#"{{"username": "a", "password": "{}"}}"#, "b".repeat(300));
    for (config, says) in [
        (r#"{"username": "a"}"#, "password"),
        (r#"{"username": "a", "password": "b", "relm": "c"}"#, "relm"),
        (r#"{"username": "a:b", "password": "b"}"#, "colon"),
        (r#"{"username": "a", "password": "b", "realm": "\""}"#, "realm"),
        (r#"{"username": "a", "password": 5}"#, "invalid type"),
        (long.as_str(), "256"),
        ("null", "invalid type"),
    ] {
        let refused = filter(config).expect_err("it makes no sense");
        assert!(refused.contains(says), "{config}: {refused}");
    }
}

#[test]
fn base64_is_strict() {
    let mut room = [0; 8];
    for (text, expected) in [
        ("", Some(&b""[..])),
        ("AA==", Some(b"\0")),
        ("AAA=", Some(b"\0\0")),
        ("+/+/", Some(b"\xfb\xff\xbf")),
        ("AB==", None),
        ("AAB=", None),
        ("A===", None),
        ("A", None),
        ("AA=A", None),
        ("AA==AAAA", None),
        ("AA-_", None),
        ("AAAAAAAAAAAA", None),
    ] {
        assert_eq!(base64::decode(text.as_bytes(), &mut room), expected, "{text}");
    }
}

#[test]
fn strings_of_different_lengths_differ() {
    assert!(is_equal(b"ab", b"ab"));
    assert!(
        !is_equal(b"a", b"ab") && !is_equal(b"ab", b"a") && !is_equal(b"", b"a") && !is_equal(b"ac", b"ab")
    );
}
