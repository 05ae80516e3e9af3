use eddy_filter::Phase;
use proptest::prelude::*;

use super::support::TestExchange;
use crate::scratch::Scratch;
use crate::{TemplateError, TemplateString};

fn render(text: &str, metadata: &str) -> Vec<u8> {
    let mut stage = TestExchange::request("PUT /a/b?c=d HTTP/1.1\nHost: example.com\nX-One: 1\nx-one: 2")
        .response("HTTP/1.1 418 Teapot\nx-two: zwei");
    stage.metadata.set(b"auth", b"user", metadata.as_bytes()).unwrap();
    let mut scratch = Scratch::new();
    TemplateString::parse(text).unwrap().render(&stage.view(Phase::ResponseHead), &mut scratch);
    scratch.bytes().to_vec()
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(String::from_utf8(render(text, "\"eve\"")).unwrap(), expected, "{text}");
}

#[test]
fn variables_are_filled_in() {
    check("plain $$5 {x}", "plain $5 {x}");
    check("${peer} ${peer_ip} ${local}", "192.0.2.1:4711 192.0.2.1 198.51.100.1:80");
    check("${listener}|${rule}|${cluster}|${endpoint}", "public|site/1|users|127.0.0.1:9000");
    check("${method} ${target} ${path} ${query}", "PUT /a/b?c=d /a/b c=d");
    check("${scheme}://${authority}", "http://example.com");
    check("${request_id}${status}", "id-1418");
    check("${header.x-ONE},${header.x-none},${response.x-two}", "1,,zwei");
    check("<${metadata.auth.user}><${metadata.auth.role}>", "<eve><>");
}

#[test]
fn metadata_cannot_split_a_message() {
    for (json, expected) in [
        (r#""a\"b\\c\/d""#, "a\"b\\c/d"),
        (r#""a\r\nb""#, "a  b"),
        (r#""\u000d\u000ax""#, "  x"),
        (r#""\u00e9\ud83d\ude00!""#, "é😀!"),
        (r#""\ud83dx\uzz""#, "\u{fffd}x\u{fffd}zz"),
        ("[1,\n2]", "[1, 2]"),
        ("17", "17"),
        ("\"cut\\", "\"cut\\"),
    ] {
        assert_eq!(String::from_utf8(render("${metadata.auth.user}", json)).unwrap(), expected, "{json}");
    }
}

#[test]
fn unknown_variables_are_refused() {
    let check = |text: &str, expected: TemplateError| assert_eq!(TemplateString::parse(text), Err(expected));
    check("a$", TemplateError::UnescapedDollar);
    check("$x", TemplateError::UnescapedDollar);
    check("${peer", TemplateError::Open);
    check("a\r\nb", TemplateError::Control);
    for name in ["", "Peer", "header.", "header.a b", "response.", "metadata.a", "metadata..b", "x.y"] {
        check(&format!("${{{name}}}"), TemplateError::Unknown { name: name.to_owned() });
    }
    assert!(TemplateString::parse("${status}").unwrap().needs_response());
    assert!(!TemplateString::parse("${peer}").unwrap().needs_response());
}

proptest! {
    #[test]
    fn no_value_holds_a_control_character(json in r#"["\\a-z0-9]{0,24}|"(\\u[0-9a-f]{0,4}|\\.|.){0,9}""#) {
        let value = render("${metadata.auth.user}", &json);
        prop_assert!(!value.iter().any(u8::is_ascii_control), "{:?}", value);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[${}a-z._ ]{0,40}") {
        let _ = TemplateString::parse(&text);
    }
}
