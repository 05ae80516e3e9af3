use crate::edits::FieldEdits;
use crate::egress::Egress;
use crate::head::{HeadLimits, ResponseBody, ResponseContext, ResponseHead};
use crate::method::{Method, Version};
use crate::write::{
    CONTINUE, GrpcReply, LocalReply, RequestId, ResponseWrite, Switched, write_interim_head,
    write_local_head, write_response_head,
};

/// Writes a response for a client, verifies and returns it, with line ends as `|`.
#[track_caller]
fn send(text: &str, method: Method, change: impl Fn(&mut ResponseWrite<'_>)) -> String {
    let text = text.replace('|', "\r\n");
    let bytes = text.as_bytes();
    let mut head = ResponseHead::new();
    head.parse(bytes, &HeadLimits::default(), method).unwrap();
    let mut response = ResponseWrite {
        bytes,
        head: &head,
        edits: FieldEdits::none(),
        body: head.body.towards(Version::Http11),
        client_version: Version::Http11,
        keep_alive: true,
        via: None,
        date: b"",
        request_id: None,
        switched: None,
    };
    change(&mut response);
    let mut out = Vec::new();
    write_response_head(&mut out, &response);
    Egress::new().check_response(&out, head.status, response.body, method).unwrap();
    String::from_utf8(out).unwrap().replace("\r\n", "|")
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(send(text, Method::Get, |_| {}), expected, "{text:?}");
}

#[test]
fn framing_is_rewritten() {
    check("HTTP/1.1 200 OK|content-length:007|A: 1||", "HTTP/1.1 200 OK|A: 1|Content-Length: 7||");
    check("HTTP/1.0 200 OK|content-length: 7|A: 1||", "HTTP/1.1 200 OK|A: 1|Content-Length: 7||");
    check(
        "HTTP/1.1 200|Transfer-Encoding: chunked|Trailer: x||",
        "HTTP/1.1 200 |Trailer: x|Transfer-Encoding: chunked||",
    );
    check("HTTP/1.1 200 OK|A: 1||", "HTTP/1.1 200 OK|A: 1|Transfer-Encoding: chunked||");
    check("HTTP/1.1 204 No|Content-Length: 0|A: 1||", "HTTP/1.1 204 No|A: 1||");
    check("HTTP/1.1 304 No|Content-Length: 9||", "HTTP/1.1 304 No|Content-Length: 9||");
    let head = send("HTTP/1.1 200 OK|Content-Length: 9||", Method::Head, |_| {});
    assert_eq!(head, "HTTP/1.1 200 OK|Content-Length: 9||");
    let head = send("HTTP/1.1 200 OK|Transfer-Encoding: chunked|Trailer: x||", Method::Head, |_| {});
    assert_eq!(head, "HTTP/1.1 200 OK||");
}

#[test]
fn a_connection_header_is_sent_where_it_differs_from_the_default() {
    let text = "HTTP/1.1 200 OK|Connection: x|X: 1|Keep-Alive: 2|Content-Length: 0||";
    let sent = |version, keep_alive, body| {
        send(text, Method::Get, |response| {
            response.client_version = version;
            response.keep_alive = keep_alive;
            response.body = body;
        })
    };
    let none = ResponseBody::Length(0);
    assert_eq!(sent(Version::Http11, true, none), "HTTP/1.1 200 OK|Content-Length: 0||");
    assert_eq!(sent(Version::Http11, false, none), "HTTP/1.1 200 OK|Content-Length: 0|Connection: close||");
    assert_eq!(
        sent(Version::Http10, true, none),
        "HTTP/1.1 200 OK|Content-Length: 0|Connection: keep-alive||"
    );
    assert_eq!(sent(Version::Http10, false, none), "HTTP/1.1 200 OK|Content-Length: 0|Connection: close||");
    assert_eq!(sent(Version::Http10, true, ResponseBody::UntilClose), "HTTP/1.1 200 OK|Connection: close||");
    assert_eq!(sent(Version::Http11, true, ResponseBody::UntilClose), "HTTP/1.1 200 OK|Connection: close||");
}

#[test]
fn known_end_to_end_fields_named_by_connection_are_kept() {
    check(
        "HTTP/1.1 200 OK|Connection: set-cookie, x-a, content-type|Set-Cookie: 1|X-A: 2|Content-Type: t|Upgrade: h2c|Content-Length: 0||",
        "HTTP/1.1 200 OK|Set-Cookie: 1|Content-Type: t|Content-Length: 0||",
    );
}

#[test]
fn date_via_id_and_edits_are_added() {
    let mut edits = FieldEdits::new();
    edits.remove("server").unwrap();
    edits.set("x-a", "b").unwrap();
    let sent = send("HTTP/1.1 200 OK|Server: s|Content-Length: 0||", Method::Get, |response| {
        response.date = b"now";
        response.via = Some("eddy");
        response.request_id = Some(RequestId { name: "x-request-id", value: "7", replace: true });
        response.edits = FieldEdits::none();
    });
    assert_eq!(sent, "HTTP/1.1 200 OK|Server: s|Date: now|Content-Length: 0|Via: 1.1 eddy|x-request-id: 7||");
    let text = "HTTP/1.1 200 OK|Server: s|X-A: 1|Date: then|Content-Length: 0||".replace('|', "\r\n");
    let mut head = ResponseHead::new();
    head.parse(text.as_bytes(), &HeadLimits::default(), Method::Get).unwrap();
    let mut out = Vec::new();
    let response = ResponseWrite {
        bytes: text.as_bytes(),
        head: &head,
        edits: &edits,
        body: head.body,
        client_version: Version::Http11,
        keep_alive: true,
        via: None,
        date: b"now",
        request_id: None,
        switched: None,
    };
    write_response_head(&mut out, &response);
    assert_eq!(out, b"HTTP/1.1 200 OK\r\nDate: then\r\nContent-Length: 0\r\nx-a: b\r\n\r\n");
}

#[test]
fn interim_heads_have_no_framing() {
    let text = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 5\r\nConnection: close\r\n\r\n";
    let mut head = ResponseHead::new();
    head.parse(text, &HeadLimits::default(), Method::Get).unwrap();
    let mut out = Vec::new();
    write_interim_head(&mut out, text, &head);
    assert_eq!(out, b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n");
    head.parse(CONTINUE, &HeadLimits::default(), Method::Post).unwrap();
    assert_eq!((head.status, head.is_interim()), (100, true));
}

#[track_caller]
fn check_local(reply: LocalReply<'_>, method: Method, body: ResponseBody, expected: &str) {
    let mut out = Vec::new();
    write_local_head(&mut out, &reply);
    Egress::new().check_response(&out, reply.status, body, method).unwrap();
    assert_eq!(String::from_utf8(out).unwrap().replace("\r\n", "|"), expected);
}

#[test]
fn local_replies_are_complete() {
    check_local(
        LocalReply::new(404),
        Method::Get,
        ResponseBody::Length(0),
        "HTTP/1.1 404 Not Found|Content-Length: 0|Connection: close||",
    );
    let reply = LocalReply {
        content_type: Some("text/plain"),
        body_len: 12,
        keep_alive: true,
        date: b"now",
        request_id: Some(RequestId { name: "x-request-id", value: "7", replace: true }),
        ..LocalReply::new(200)
    };
    let expected = "HTTP/1.1 200 OK|Date: now|Content-Type: text/plain|Content-Length: 12|x-request-id: 7||";
    check_local(reply, Method::Get, ResponseBody::Length(12), expected);
    check_local(reply, Method::Head, ResponseBody::None, expected);
    let old = LocalReply { version: Version::Http10, keep_alive: true, ..LocalReply::new(204) };
    check_local(old, Method::Get, ResponseBody::None, "HTTP/1.1 204 No Content|Connection: keep-alive||");
    let mut edits = FieldEdits::new();
    edits.set("Content-Type", "a/b").unwrap();
    edits.add("Allow", "GET").unwrap();
    let edited = LocalReply { edits: &edits, content_type: Some("text/plain"), ..LocalReply::new(405) };
    check_local(
        edited,
        Method::Post,
        ResponseBody::Length(0),
        "HTTP/1.1 405 Method Not Allowed|Content-Length: 0|Connection: close|Content-Type: a/b|Allow: GET||",
    );
}

#[test]
fn grpc_local_replies_have_their_status_in_the_head() {
    let reply = LocalReply {
        content_type: Some("text/plain"),
        grpc: Some(GrpcReply { format: b"", code: 14, message: b"not there\r\nX: 100%" }),
        ..LocalReply::new(200)
    };
    check_local(
        reply,
        Method::Post,
        ResponseBody::Length(0),
        "HTTP/1.1 200 OK|Content-Type: application/grpc|Content-Length: 0|Grpc-Status: 14|Grpc-Message: not there%0D%0AX: 100%25|Connection: close||",
    );
    let silent = LocalReply {
        grpc: Some(GrpcReply { format: b"+json", code: 0, message: b"" }),
        ..LocalReply::new(200)
    };
    check_local(
        silent,
        Method::Post,
        ResponseBody::Length(0),
        "HTTP/1.1 200 OK|Content-Type: application/grpc+json|Content-Length: 0|Grpc-Status: 0|Connection: close||",
    );
}

#[test]
fn a_location_cannot_split_its_line() {
    let location = b"/a\r\nSet-Cookie: x\0\xe4 \x7f%0d";
    let reply = LocalReply { location: Some(location), ..LocalReply::new(302) };
    check_local(
        reply,
        Method::Get,
        ResponseBody::Length(0),
        "HTTP/1.1 302 Found|Content-Length: 0|Location: /a%0D%0ASet-Cookie:%20x%00%E4%20%7F%0d|Connection: close||",
    );
}

#[test]
fn a_switch_names_its_protocol_and_is_200_on_http2() {
    let text = "HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Accept: k\r\nA: b\r\n\r\n";
    let mut head = ResponseHead::new();
    head.parse(text.as_bytes(), &HeadLimits::default(), ResponseContext::upgrade(Method::Get)).unwrap();
    let send = |client_version, keep_alive| {
        let response = ResponseWrite {
            bytes: text.as_bytes(),
            head: &head,
            edits: FieldEdits::none(),
            body: head.body,
            client_version,
            keep_alive,
            via: None,
            date: b"now",
            request_id: None,
            switched: Some(Switched::To(b"websocket")),
        };
        let mut out = Vec::new();
        write_response_head(&mut out, &response);
        out
    };
    let out = send(Version::Http11, false);
    let expected = "HTTP/1.1 101 Switching|Sec-WebSocket-Accept: k|A: b|Date: now|Connection: Upgrade|Upgrade: websocket||";
    assert_eq!(String::from_utf8_lossy(&out).replace("\r\n", "|"), expected);
    let mut egress = Egress::new();
    egress.check_response(&out, 101, ResponseBody::None, ResponseContext::upgrade(Method::Get)).unwrap();
    egress.check_response(&out, 101, ResponseBody::None, Method::Get).unwrap_err();
    let out = send(Version::Http2, true);
    assert_eq!(String::from_utf8_lossy(&out).replace("\r\n", "|"), "HTTP/1.1 200 OK|A: b|Date: now||");
    egress.check_response(&out, 200, ResponseBody::None, Method::Connect).unwrap();
}
