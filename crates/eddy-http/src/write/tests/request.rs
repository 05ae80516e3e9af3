use crate::edits::FieldEdits;
use crate::egress::Egress;
use crate::head::{HeadLimits, RequestHead};
use crate::write::{ForwardedClient, ForwardedPolicy, RequestId, RequestWrite, write_request_head};

const NO_FORWARDING: ForwardedPolicy = ForwardedPolicy { x_forwarded: false, forwarded: false, port: None };
const X_FORWARDED: ForwardedPolicy = ForwardedPolicy { x_forwarded: true, forwarded: false, port: None };
const FORWARDED: ForwardedPolicy = ForwardedPolicy { x_forwarded: false, forwarded: true, port: None };

/// Settings for a request on its way.
struct RequestWriteCase<'a> {
    client: ForwardedClient<'a>,
    edits: FieldEdits,
    via: Option<&'a str>,
    request_id: Option<RequestId<'a>>,
    upgrade: Option<&'a [u8]>,
    forwards_expectation: bool,
}

impl Default for RequestWriteCase<'_> {
    fn default() -> Self {
        let client = ForwardedClient {
            address: b"192.0.2.1",
            scheme: "http",
            certificate: "",
            is_trusted: false,
            policy: NO_FORWARDING,
        };
        Self {
            client,
            edits: FieldEdits::new(),
            via: None,
            request_id: None,
            upgrade: None,
            forwards_expectation: false,
        }
    }
}

impl<'a> RequestWriteCase<'a> {
    fn peer(address: &'a str, is_trusted: bool, policy: ForwardedPolicy) -> Self {
        let client = ForwardedClient {
            address: address.as_bytes(),
            scheme: "http",
            certificate: "",
            is_trusted,
            policy,
        };
        Self { client, ..Self::default() }
    }

    fn edited(edit: impl Fn(&mut FieldEdits)) -> Self {
        let mut way = Self::default();
        edit(&mut way.edits);
        way
    }

    /// Parses `text`, writes it, verifies the output and returns it, with line ends as `|`.
    #[track_caller]
    fn send(&self, text: &str) -> String {
        let (head, out) = self.write(text);
        let (bytes, mut scratch) = (text.as_bytes(), Vec::new());
        let target = head.origin_target(bytes, &mut scratch);
        Egress::new().check_request(&out, head.method_name(bytes), target, head.body).unwrap();
        String::from_utf8(out).unwrap().replace("\r\n", "|")
    }

    /// Parses `text` and writes it; returns both heads.
    #[track_caller]
    fn write(&self, text: &str) -> (RequestHead, Vec<u8>) {
        let bytes = text.as_bytes();
        let mut head = RequestHead::new();
        head.parse(bytes, &HeadLimits::default()).unwrap_or_else(|fault| panic!("{text:?}: {fault}"));
        let mut scratch = Vec::new();
        let mut out = Vec::new();
        let request = RequestWrite {
            bytes,
            head: &head,
            target: head.origin_target(bytes, &mut scratch),
            host: head.authority.of(bytes),
            body: head.body,
            edits: &self.edits,
            client: self.client,
            via: self.via,
            request_id: self.request_id,
            upgrade: self.upgrade,
            forwards_expectation: self.forwards_expectation,
        };
        write_request_head(&mut out, &request);
        (head, out)
    }

    /// Checks the fields written for these fields of the client, without framing and host.
    #[track_caller]
    fn check(&self, fields: &str, expected: &str) {
        let text = format!("GET / HTTP/1.1\r\nHost: a:81\r\n{}\r\n", fields.replace('|', "\r\n"));
        assert_eq!(self.send(&text), format!("GET / HTTP/1.1|Host: a:81|{expected}|"), "{fields:?}");
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(RequestWriteCase::default().send(text), expected);
}

#[test]
fn the_request_line_and_framing_are_rewritten() {
    check("GET /p?q HTTP/1.0\r\nHost: a\r\n\r\n", "GET /p?q HTTP/1.1|Host: a||");
    check("GET /p HTTP/1.0\r\n\r\n", "GET /p HTTP/1.1|Host: ||");
    check("FOO http://B:80?q HTTP/1.1\r\nHost: a\r\n\r\n", "FOO /?q HTTP/1.1|Host: B:80||");
    check("OPTIONS http://b HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * HTTP/1.1|Host: b||");
    check(
        "PUT / HTTP/1.1\r\nhost: a\r\ncontent-length:007\r\n\r\n",
        "PUT / HTTP/1.1|Host: a|Content-Length: 7||",
    );
    check(
        "PUT / HTTP/1.1\r\nContent-Length: 0\r\nhost: a\r\n\r\n",
        "PUT / HTTP/1.1|Host: a|Content-Length: 0||",
    );
    check(
        "PUT / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\nTrailer: x\r\nHost: a\r\n\r\n",
        "PUT / HTTP/1.1|Host: a|Trailer: x|Transfer-Encoding: chunked||",
    );
    check(
        "OPTIONS * HTTP/1.1\r\nHost: a\r\nMax-Forwards: 7\r\n\r\n",
        "OPTIONS * HTTP/1.1|Host: a|Max-Forwards: 6||",
    );
    check("GET / HTTP/1.1\r\nHost: a\r\nMax-Forwards: 7\r\n\r\n", "GET / HTTP/1.1|Host: a|Max-Forwards: 7||");
    check(
        "GET / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\n\r\n",
        "GET / HTTP/1.1|Host: a|TE: trailers|Connection: TE||",
    );
    check("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1|Host: a||");
}

#[test]
fn field_lines_keep_their_order_in_normal_form() {
    let way = RequestWriteCase::default();
    way.check("A: 1|B:2|C:  3|D:\t4|E: 5 |F:|G: |H: h \t i|", "A: 1|B: 2|C: 3|D: 4|E: 5|F: |G: |H: h \t i|");
    way.check("", "");
    way.check("A: 1|A: 1|", "A: 1|A: 1|");
}

#[test]
fn hop_by_hop_fields_are_removed() {
    let way = RequestWriteCase::default();
    way.check("A: 1|Connection: close|Keep-Alive: 5|B: 2|", "A: 1|B: 2|");
    way.check("Upgrade: websocket|Connection: Upgrade|HTTP2-Settings: x|Proxy-Connection: x|TE: gzip|", "");
    way.check("Proxy-Authorization: x|Proxy-Authenticate: y|Expect: 100-continue|Trailer: z|", "");
    way.check("Connection: x-a|X-A: 1|X-B: 2|", "X-B: 2|");
    let protected = "Authorization: 1|Cookie: 2|Via: 3|X-Request-Id: 4|Accept: 5|";
    way.check(
        &format!(
            "Connection: authorization, cookie, via, x-request-id, accept, host, content-length|{protected}"
        ),
        protected,
    );
}

#[test]
fn aliases_of_known_names_are_removed() {
    let way = RequestWriteCase::default();
    way.check(
        "X_Forwarded_For: 1|content_length: 5|Transfer.Encoding: chunked|my_field: 1|cookie_: 2|",
        "my_field: 1|cookie_: 2|",
    );
    let trusted = RequestWriteCase::peer("192.0.2.1", true, NO_FORWARDING);
    trusted.check("X_Forwarded_For: 1|X-Forwarded.Proto: 2|X-Forwarded-For: 3|", "X-Forwarded-For: 3|");
}

#[test]
fn forwarding_fields_of_an_untrusted_peer_are_ignored() {
    let spoofed = "X-Forwarded-For: 1|x-forwarded-proto: https|X-FORWARDED-HOST: b|X-Forwarded-Port: 1|Forwarded: for=x|\
        X-Real-IP: 1|X-Forwarded-User: root|X-Forwarded-Prefix: /|";
    RequestWriteCase::peer("192.0.2.1", false, NO_FORWARDING).check(spoofed, "");
    RequestWriteCase::peer("192.0.2.1", false, X_FORWARDED)
        .check(spoofed, "X-Forwarded-For: 192.0.2.1|X-Forwarded-Proto: http|X-Forwarded-Host: a:81|");
    RequestWriteCase::peer("192.0.2.1", false, FORWARDED)
        .check(spoofed, "Forwarded: for=192.0.2.1;proto=http;host=\"a:81\"|");
    let all = ForwardedPolicy { x_forwarded: true, forwarded: true, port: Some(8080) };
    RequestWriteCase::peer("2001:db8::1", false, all).check(
        "",
        "X-Forwarded-For: 2001:db8::1|X-Forwarded-Proto: http|X-Forwarded-Host: a:81|X-Forwarded-Port: 8080|\
         Forwarded: for=\"[2001:db8::1]\";proto=http;host=\"a:81\"|",
    );
}

#[test]
fn forwarding_fields_of_a_trusted_peer_are_extended() {
    let earlier = "X-Forwarded-For: 1|X-Forwarded-Proto: https|X-Forwarded-For: 2, 3|X-Forwarded-User: u|Forwarded: for=x|";
    RequestWriteCase::peer("192.0.2.1", true, NO_FORWARDING).check(earlier, earlier);
    RequestWriteCase::peer("192.0.2.1", true, X_FORWARDED).check(
        earlier,
        "X-Forwarded-Proto: https|X-Forwarded-User: u|Forwarded: for=x|X-Forwarded-For: 1, 2, 3, 192.0.2.1|X-Forwarded-Host: a:81|",
    );
    RequestWriteCase::peer("192.0.2.1", true, FORWARDED).check(
        "Forwarded: for=x|X-Real-IP: 9|",
        "X-Real-IP: 9|Forwarded: for=x, for=192.0.2.1;proto=http;host=\"a:81\"|",
    );
    // `Connection` removes none of these.
    RequestWriteCase::peer("192.0.2.1", true, NO_FORWARDING).check(
        "Connection: x-forwarded-for, x-forwarded-user|X-Forwarded-For: 1|X-Forwarded-User: u|",
        "X-Forwarded-For: 1|X-Forwarded-User: u|",
    );
}

#[test]
fn a_peer_without_address_is_unknown() {
    RequestWriteCase::peer("", false, X_FORWARDED)
        .check("", "X-Forwarded-Proto: http|X-Forwarded-Host: a:81|");
    RequestWriteCase::peer("", true, X_FORWARDED)
        .check("X-Forwarded-For: 1|", "X-Forwarded-For: 1|X-Forwarded-Proto: http|X-Forwarded-Host: a:81|");
    RequestWriteCase::peer("", true, X_FORWARDED)
        .check("X-Forwarded-For:|", "X-Forwarded-Proto: http|X-Forwarded-Host: a:81|");
    RequestWriteCase::peer("", false, FORWARDED)
        .check("", "Forwarded: for=unknown;proto=http;host=\"a:81\"|");
}

#[test]
fn a_request_id_is_exactly_one() {
    let id = |name, replace| RequestWriteCase {
        request_id: Some(RequestId { name, value: "7", replace }),
        ..RequestWriteCase::default()
    };
    id("X-Request-Id", true).check("x-request-id: 1|X-Request-ID: 2|x_request_id: 3|", "X-Request-Id: 7|");
    id("X-Request-Id", false).check("x-request-id: 1|X-Request-ID: 2|x_request_id: 3|", "x-request-id: 1|");
    id("X-Request-Id", false).check("A: 1|", "A: 1|X-Request-Id: 7|");
    id("X-My-Id", true).check("x-my-id: 1|x_my_id: 3|a: b|", "a: b|X-My-Id: 7|");
    id("X-My-Id", false).check("x_my_id: 3|x-my-id: 1|x-my-id: 2|a: b|", "x-my-id: 1|a: b|");
    id("X-My-Id", false).check("x_my_id: 3|a: b|", "a: b|X-My-Id: 7|");
    id("X-My-Id", false).check("Connection: x-my-id|x-my-id: 3|", "X-My-Id: 7|");
    id("my_id", true).check("my-id: 3|My_Id: 4|", "my_id: 7|");
}

#[test]
fn via_is_added() {
    let way = RequestWriteCase { via: Some("eddy"), ..RequestWriteCase::default() };
    way.check("Via: 1.0 x|A: 1|", "Via: 1.0 x|A: 1|Via: 1.1 eddy|");
    assert_eq!(way.send("GET / HTTP/1.0\r\nHost: a\r\n\r\n"), "GET / HTTP/1.1|Host: a|Via: 1.0 eddy||");
}

#[test]
fn edits_apply_in_the_order_remove_set_add() {
    let edited = |edit: fn(&mut FieldEdits)| RequestWriteCase::edited(edit);
    edited(|e| e.remove("x-a").unwrap()).check("X-A: 1|x_a: 2|X-B: 3|", "X-B: 3|");
    edited(|e| e.set("cookie", "c").unwrap()).check("Cookie: 1|cookie: 2|A: 3|", "A: 3|cookie: c|");
    edited(|e| e.add("a", "2").unwrap()).check("A: 1|", "A: 1|a: 2|");
    edited(|e| {
        e.add("a", "3").unwrap();
        e.set("a", "2").unwrap();
        e.remove("a").unwrap();
    })
    .check("A: 1|", "a: 2|a: 3|");
    let mut way = RequestWriteCase::peer("192.0.2.1", false, X_FORWARDED);
    way.via = Some("eddy");
    way.edits.set("X-Forwarded-Proto", "https").unwrap();
    way.edits.remove("x-forwarded-host").unwrap();
    way.edits.remove("Via").unwrap();
    way.check("Via: 1.1 x|", "X-Forwarded-For: 192.0.2.1|X-Forwarded-Proto: https|");
}

#[test]
fn one_upgrade_protocol_is_forwarded_where_one_is_requested() {
    let text = "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: upgrade, x-hop\r\nUpgrade: h2c, websocket\r\nTE: trailers\r\nX-Hop: 1\r\nSec-WebSocket-Version: 13\r\n\r\n";
    let way = RequestWriteCase { upgrade: Some(b"websocket"), ..RequestWriteCase::default() };
    let (head, out) = way.write(text);
    assert_eq!(
        String::from_utf8_lossy(&out).replace("\r\n", "|"),
        "GET /chat HTTP/1.1|Host: a|Sec-WebSocket-Version: 13|Connection: Upgrade|Upgrade: websocket||"
    );
    let mut egress = Egress::new();
    egress.check_upgrade(&out, b"GET", b"/chat", b"websocket").unwrap();
    egress.check_upgrade(&out, b"GET", b"/chat", b"h2c").unwrap_err();
    egress.check_request(&out, b"GET", b"/chat", head.body).unwrap_err();
    let plain = b"GET /chat HTTP/1.1\r\nHost: a\r\n\r\n";
    egress.check_upgrade(plain, b"GET", b"/chat", b"websocket").unwrap_err();
    egress.check_request(plain, b"GET", b"/chat", head.body).unwrap();
}

#[test]
fn an_expectation_is_forwarded_where_enabled() {
    let text = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-Continue\r\n\r\n";
    for forwards_expectation in [true, false] {
        let (_, out) = RequestWriteCase { forwards_expectation, ..RequestWriteCase::default() }.write(text);
        let mut sent = RequestHead::new();
        sent.parse(&out, &HeadLimits::default()).unwrap();
        assert_eq!(sent.expects_continue, forwards_expectation, "{}", String::from_utf8_lossy(&out));
    }
}

#[test]
fn upgrade_fields_are_removed_where_no_upgrade_is_requested() {
    let check = |text: &str, upgrade: Option<&[u8]>, expected: &str| {
        let text = text.replace('|', "\r\n");
        let (_, out) = RequestWriteCase { upgrade, ..RequestWriteCase::default() }.write(&text);
        assert_eq!(String::from_utf8_lossy(&out).replace("\r\n", "|"), expected, "{text:?}");
    };
    let old = "GET / HTTP/1.1|Host: a|Connection: Upgrade|Upgrade: WebSocket|Sec-WebSocket-Key1: 1 2|Sec-WebSocket-Key2: 3|\
               Sec-WebSocket-Protocol: sample|Sec_WebSocket_Key1: 4|WebSocket-Protocol: x|Origin: http://a||";
    check(old, None, "GET / HTTP/1.1|Host: a|Origin: http://a||");
    // Whether `Connection` names it or not.
    let unnamed =
        "GET / HTTP/1.1|Host: a|Upgrade: websocket|Sec-WebSocket-Key: x|Sec-WebSocket-Version: 13|A: b||";
    check(unnamed, None, "GET / HTTP/1.1|Host: a|A: b||");
    let other =
        "GET / HTTP/1.1|Host: a|Connection: upgrade|Upgrade: foo, websocket|Sec-WebSocket-Key: x|A: b||";
    check(other, Some(b"foo"), "GET / HTTP/1.1|Host: a|A: b|Connection: Upgrade|Upgrade: foo||");
    let both = "GET / HTTP/1.1|Host: a|Connection: upgrade|Upgrade: WebSocket|Sec-WebSocket-Key: x|Sec-WebSocket-Key2: y||";
    let expected = "GET / HTTP/1.1|Host: a|Sec-WebSocket-Key: x|Connection: Upgrade|Upgrade: WebSocket||";
    check(both, Some(b"WebSocket"), expected);
    // Without an offer they are ordinary fields.
    check(
        "GET / HTTP/1.1|Host: a|Sec-WebSocket-Key: x||",
        None,
        "GET / HTTP/1.1|Host: a|Sec-WebSocket-Key: x||",
    );
}
