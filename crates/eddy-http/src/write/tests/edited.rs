//! Heads that filters have edited, as they are sent.

use crate::edits::FieldEdits;
use crate::head::{HeadLimits, RequestBody, RequestHead};
use crate::write::{ForwardedClient, ForwardedPolicy, RequestWrite, write_request_head};

fn parsed(text: &str) -> (Vec<u8>, RequestHead) {
    let bytes = text.as_bytes().to_vec();
    let mut head = RequestHead::new();
    head.parse(&bytes, &HeadLimits::default()).unwrap();
    (bytes, head)
}

fn written(bytes: &[u8], head: &RequestHead, is_trusted: bool) -> String {
    let mut out = Vec::new();
    let request = RequestWrite {
        bytes,
        head,
        target: head.target.of(bytes),
        host: head.authority.of(bytes),
        body: RequestBody::None,
        edits: FieldEdits::none(),
        client: ForwardedClient {
            address: b"192.0.2.1",
            scheme: "http",
            certificate: "",
            is_trusted,
            policy: ForwardedPolicy::default(),
        },
        via: None,
        request_id: None,
        upgrade: None,
        forwards_expectation: false,
    };
    write_request_head(&mut out, &request);
    String::from_utf8(out).unwrap()
}

#[test]
fn edited_fields_are_sent_in_their_positions() {
    let (mut bytes, mut head) =
        parsed("GET / HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nb: 2\r\nx-a: 3\r\nx_a: 4\r\n\r\n");
    head.edit(&mut bytes).set(b"x-a", b" 5 ").unwrap();
    head.edit(&mut bytes).add(b"c", b"").unwrap();
    head.edit(&mut bytes).remove(b"B").unwrap();
    head.edit(&mut bytes).set(b"User-Agent", b"eddy").unwrap();
    let text = written(&bytes, &head, false);
    assert!(text.starts_with("GET / HTTP/1.1\r\nHost: a\r\nx-a: 5\r\nc: \r\nUser-Agent: eddy\r\n"), "{text}");
}

#[test]
fn refused_edits_do_not_change_the_sent_head() {
    let (mut bytes, mut head) = parsed("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    let before = written(&bytes, &head, false);
    head.edit(&mut bytes).set(b"host", b"1").unwrap_err();
    head.edit(&mut bytes).add(b"x-a", b"a\r\nb: c").unwrap_err();
    head.set_target(&mut bytes, b"/ a").unwrap_err();
    head.set_method(&mut bytes, b"G T").unwrap_err();
    head.set_authority(&mut bytes, b"a b").unwrap_err();
    assert_eq!(written(&bytes, &head, false), before);
}

#[test]
fn a_changed_start_line_is_sent() {
    let (mut bytes, mut head) = parsed("GET /a?b HTTP/1.1\r\nHost: a\r\n\r\n");
    head.set_target(&mut bytes, b"/c/d?e=f").unwrap();
    head.set_method(&mut bytes, b"PURGE").unwrap();
    head.set_authority(&mut bytes, b"b.example:81").unwrap();
    let text = written(&bytes, &head, false);
    assert!(text.starts_with("PURGE /c/d?e=f HTTP/1.1\r\nHost: b.example:81\r\n"), "{text}");
}

#[test]
fn forwarding_fields_contain_the_host_of_the_client() {
    let texts = [
        ("GET / HTTP/1.1\r\nHost: a:81\r\n\r\n", "a:81"),
        ("GET http://a:81/ HTTP/1.1\r\nHost: b\r\n\r\n", "a:81"),
    ];
    for (text, host) in texts {
        let (mut bytes, mut head) = parsed(text);
        head.set_authority(&mut bytes, b"filter.example").unwrap();
        head.set_authority(&mut bytes, b"other.example").unwrap();
        let text = written(&bytes, &head, false);
        assert!(text.contains("\r\nHost: other.example\r\n"), "{text}");
        assert!(text.contains(&format!("\r\nX-Forwarded-Host: {host}\r\n")), "{text}");
        assert!(!text.contains("filter.example"), "{text}");
    }
}

#[test]
fn forwarding_fields_that_a_filter_sets_are_sent_once() {
    for is_trusted in [false, true] {
        let (mut bytes, mut head) =
            parsed("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 6.6.6.6\r\nX-Forwarded-Custom: 6\r\n\r\n");
        head.edit(&mut bytes).set(b"x-forwarded-for", b"10.0.0.1").unwrap();
        head.edit(&mut bytes).set(b"x-forwarded-custom", b"7").unwrap();
        let text = written(&bytes, &head, is_trusted);
        assert_eq!(text.matches("orwarded-").count(), 4, "{text}");
        for line in ["x-forwarded-for: 10.0.0.1", "x-forwarded-custom: 7", "X-Forwarded-Proto: http"] {
            assert!(text.contains(line), "{text}");
        }
    }
}
