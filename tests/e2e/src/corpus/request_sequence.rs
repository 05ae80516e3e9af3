//! Cases of several requests per connection, expectations and upgrades: message boundaries (RFC 9112 §9.3).

use super::shelf::{CaseFile, join};

pub(super) fn fill(shelf: &mut CaseFile) {
    pipelines(shelf);
    faults_later(shelf);
    closing(shelf);
    expectations(shelf);
    upgrades(shelf);
}

const GET: &[u8] = b"GET /1 HTTP/1.1\r\nHost: a.example\r\n\r\n";
const NEXT: &[u8] = b"GET /2 HTTP/1.1\r\nHost: a.example\r\n\r\n";
const POST: &[u8] = b"POST /p HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\n\r\nabc";
const CHUNKED: &[u8] =
    b"POST /k HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";

fn pipelines(shelf: &mut CaseFile) {
    let why = "requests are answered in the order they came (RFC 9112 §9.3.2)";
    shelf.accept("pipeline/two-gets", join(&[GET, NEXT]), why);
    shelf.accept("pipeline/three-gets", join(&[GET, NEXT, GET]), why);
    shelf.accept("pipeline/length-then-get", join(&[POST, NEXT]), why);
    shelf.accept("pipeline/chunked-then-get", join(&[CHUNKED, NEXT]), why);
    shelf.accept("pipeline/get-then-length", join(&[GET, POST]), why);
    shelf.accept("pipeline/chunked-then-chunked", join(&[CHUNKED, CHUNKED]), why);
    shelf.accept(
        "pipeline/head-then-get",
        join(&[b"HEAD /h HTTP/1.1\r\nHost: a.example\r\n\r\n", NEXT]),
        why,
    );
    shelf.accept(
        "pipeline/trailers-then-get",
        join(&[
            b"POST /k HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-T: 1\r\n\r\n",
            NEXT,
        ]),
        why,
    );
    shelf.accept(
        "pipeline/empty-line-between",
        join(&[POST, b"\r\n", NEXT]),
        "one empty line before a request is ignored (RFC 9112 §2.2)",
    );
    shelf.any(
        "pipeline/second-cut",
        join(&[GET, b"GET /2 HTTP/1.1\r\nHo"]),
        "the second is incomplete (RFC 9112 §8)",
    );
}

fn faults_later(shelf: &mut CaseFile) {
    let why = "after a fault nothing on the connection is read as a request (RFC 9112 §6.3, §9.3)";
    for (id, bad) in [
        ("no-host", &b"GET /2 HTTP/1.1\r\n\r\n"[..]),
        ("two-lengths", b"POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        ("length-and-coding", b"POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("bare-lf", b"GET /2 HTTP/1.1\nHost: a\n\n"),
        ("garbage", b"\0\0\0\0"),
        ("spill-of-length", b"xy zzy "),
        ("bad-chunk", b"POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n"),
    ] {
        shelf.reject_after(1, &format!("later/{id}"), join(&[GET, bad, NEXT]), why);
    }
    shelf.reject_after(
        1,
        "later/body-longer-than-length",
        join(&[POST, b"defg\r\n\r\n"]),
        "bytes after the body are parsed as the next request, which is invalid (RFC 9112 §6.3)",
    );
    shelf.reject("later/first-is-bad", join(&[b"GET /1 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", NEXT]), why);
    shelf.reject(
        "later/bad-chunk-then-get",
        join(&[
            b"POST /1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\naX\r\n0\r\n\r\n",
            NEXT,
        ]),
        why,
    );
    shelf.reject(
        "later/bad-length-then-get",
        join(&[b"POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\na", NEXT]),
        why,
    );
    shelf.reject(
        "later/bad-trailer-then-get",
        join(&[b"POST /1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX T\r\n\r\n", NEXT]),
        why,
    );
}

fn closing(shelf: &mut CaseFile) {
    let why = "what follows a request that closes the connection is not read (RFC 9112 §9.6)";
    shelf.any(
        "close/then-get",
        join(&[b"GET /1 HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n", NEXT]),
        why,
    );
    shelf.any("close/1.0-then-get", join(&[b"GET /1 HTTP/1.0\r\nHost: a.example\r\n\r\n", NEXT]), why);
    shelf.any(
        "close/1.0-keep-alive-then-get",
        join(&[b"GET /1 HTTP/1.0\r\nHost: a.example\r\nConnection: keep-alive\r\n\r\n", NEXT]),
        why,
    );
    shelf.accept(
        "close/1.0-post",
        "POST / HTTP/1.0\r\nHost: a.example\r\nContent-Length: 3\r\n\r\nabc",
        "an HTTP/1.0 request has a body by its length (RFC 9112 §6.3)",
    );
    shelf.any(
        "close/1.0-body-without-length",
        "POST / HTTP/1.0\r\nHost: a.example\r\n\r\nabc",
        "the end of the connection never ends a request (RFC 9112 §6.3)",
    );
}

fn expectations(shelf: &mut CaseFile) {
    let post = |expect: &str| {
        format!("POST /e HTTP/1.1\r\nHost: a.example\r\n{expect}\r\nContent-Length: 3\r\n\r\nabc")
    };
    let why = "a client may send the body before 100 (Continue) arrives (RFC 9110 §10.1.1)";
    shelf.accept("expect/100-continue", post("Expect: 100-continue"), why);
    shelf.accept("expect/100-continue-in-capitals", post("Expect: 100-CONTINUE"), why);
    shelf.accept(
        "expect/without-body",
        "GET /e HTTP/1.1\r\nHost: a.example\r\nExpect: 100-continue\r\n\r\n",
        "100 (Continue) may be left out when there is no body (RFC 9110 §10.1.1)",
    );
    shelf.any(
        "expect/1.0",
        "POST / HTTP/1.0\r\nHost: a.example\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.0 has no expectations (RFC 9110 §10.1.1)",
    );
    let unknown = "an expectation that cannot be met is answered 417 (RFC 9110 §10.1.1)";
    for (id, value) in [
        ("other", "x"),
        ("list", "100-continue, x"),
        ("twice-in-a-line", "100-continue, 100-continue"),
        ("space", "100 -continue"),
        ("suffix", "100-continuex"),
        ("prefix", "y100-continue"),
        ("quoted", "\"100-continue\""),
        ("parameter", "100-continue;a=b"),
    ] {
        shelf.reject(&format!("expect/{id}"), post(&format!("Expect: {value}")), unknown);
    }
    shelf.any("expect/empty", post("Expect:"), "an empty list of expectations (RFC 9110 §10.1.1)");
    shelf.any(
        "expect/two-lines",
        post("Expect: 100-continue\r\nExpect: 100-continue"),
        "one expectation, sent twice (RFC 9110 §10.1.1)",
    );
    shelf.reject("expect/folded", post("Expect:\r\n 100-continue"), "line folding (RFC 9112 §5.2)");
}

fn upgrades(shelf: &mut CaseFile) {
    let why = "until a 101 response, everything is HTTP/1.1 and a pipelined request stays a request \
               (RFC 9110 §7.8)";
    let upgrade: &[u8] = b"GET /u HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n";
    shelf.accept("upgrade/then-get", join(&[upgrade, NEXT]), why);
    shelf.accept(
        "upgrade/with-body-then-get",
        join(&[b"POST /u HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: foo\r\nContent-Length: 3\r\n\r\nabc", NEXT]),
        why,
    );
    shelf.any(
        "upgrade/websocket",
        "GET /ws HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
        "a gateway may drop Upgrade (RFC 9110 §7.8)",
    );
    // Handshakes of drafts before RFC 6455. In the first two, eight bytes follow the head, which the head does not
    // declare.
    let draft = |more: &str| {
        format!(
            "GET /demo HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\n{more}Origin: http://a.example\r\n\r\n"
        )
    };
    let keys = "Sec-WebSocket-Key2: 12998 5 Y3 1  .P00\r\nSec-WebSocket-Protocol: sample\r\nUpgrade: WebSocket\r\n\
                Sec-WebSocket-Key1: 4 @1  46546xW%0l 1 5\r\n";
    let why = "eight bytes without a length are not a body but the next request, which is invalid \
               (RFC 9112 §6.3, RFC 9110 §7.8)";
    shelf.reject_after(1, "upgrade/draft-76-and-key", join(&[draft(keys).as_bytes(), b"^n:ds[4U"]), why);
    shelf.reject_after(
        1,
        "upgrade/draft-76-and-spill",
        join(&[draft(keys).as_bytes(), b"GET /x H", NEXT]),
        why,
    );
    for (id, fields) in [
        ("draft-76", keys),
        ("draft-75", "Upgrade: WebSocket\r\nWebSocket-Protocol: sample\r\n"),
        ("without-key", "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"),
        (
            "old-version",
            "Upgrade: websocket\r\nSec-WebSocket-Version: 8\r\nSec-WebSocket-Origin: http://a.example\r\n",
        ),
    ] {
        shelf.accept(
            &format!("upgrade/{id}-then-get"),
            join(&[draft(fields).as_bytes(), NEXT]),
            "a declined Upgrade is removed, with its fields, and the next request is read \
             (RFC 9110 §7.6.1, §7.8)",
        );
    }
    shelf.reject(
        "upgrade/connect-then-bytes",
        join(&[b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n", NEXT]),
        "no tunnel, so nothing after it is forwarded (RFC 9110 §9.3.6)",
    );
}
