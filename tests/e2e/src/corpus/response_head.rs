//! Cases of response heads: status lines, fields, interim responses (RFC 9112 §4 and §5, RFC 9110 §15).

use super::shelf::{CaseFile, join};

pub(super) fn fill(shelf: &mut CaseFile) {
    status_lines(shelf);
    fields(shelf);
    line_ends(shelf);
    interim(shelf);
    without_body(shelf);
    limits(shelf);
}

fn status(line: impl AsRef<[u8]>) -> Vec<u8> {
    join(&[line.as_ref(), b"\r\nContent-Length: 2\r\n\r\nok"])
}

fn with(field: impl AsRef<[u8]>) -> Vec<u8> {
    join(&[b"HTTP/1.1 200 OK\r\n", field.as_ref(), b"\r\nContent-Length: 2\r\n\r\nok"])
}

fn status_lines(shelf: &mut CaseFile) {
    for line in [
        "HTTP/1.1 200 OK",
        "HTTP/1.1 200 ",
        "HTTP/1.0 200 OK",
        "HTTP/1.1 299 Odd one, (yes)",
        "HTTP/1.1 404 Not  Found",
        "HTTP/1.1 500 \tTab",
        "HTTP/1.1 599 Last",
        "HTTP/1.1 418 I'm a teapot",
    ] {
        shelf.accept(&format!("status/{line}"), status(line), "version SP code SP phrase (RFC 9112 §4)");
    }
    shelf.accept(
        "status/obs-text",
        status(b"HTTP/1.1 200 D\xe9ja"),
        "a phrase may hold obs-text (RFC 9112 §4)",
    );
    for line in [
        "HTTP/1.1  200 OK",
        "HTTP/1.1\t200 OK",
        "HTTP/1.1 20 OK",
        "HTTP/1.1 2000 OK",
        "HTTP/1.1 2x0 OK",
        "HTTP/1.1 -20 OK",
        "HTTP/1.1 +20 OK",
        "HTTP/1.1 OK 200",
        "HTTP/1.1",
        "HTTP/1.1 ",
        "http/1.1 200 OK",
        "HTTP/2.0 200 OK",
        "HTTP/2 200 OK",
        "HTTP/0.9 200 OK",
        "HTTP/11 200 OK",
        "HTTP/1.11 200 OK",
        "HTTP 200 OK",
        "ICY 200 OK",
        "200 OK",
        " HTTP/1.1 200 OK",
        "GET / HTTP/1.1",
        "HTTP/1.1 0x8 OK",
        "HTTP/1.1 2 00",
        "HTTPS/1.1 200 OK",
        "HTTP/1.1 099 Low",
        "HTTP/1.1 000 Nil",
    ] {
        shelf.reject(&format!("bad-status/{line}"), status(line), "not an HTTP/1 status line (RFC 9112 §4)");
    }
    for (id, line) in [
        ("nul-in-phrase", &b"HTTP/1.1 200 O\0K"[..]),
        ("cr-in-phrase", b"HTTP/1.1 200 O\rK"),
        ("lf-in-phrase", b"HTTP/1.1 200 O\nK"),
        ("nul-first", b"\0HTTP/1.1 200 OK"),
        ("high-byte-in-code", b"HTTP/1.1 2\xb20 OK"),
        ("full-width-code", b"HTTP/1.1 \xef\xbc\x92\xef\xbc\x90\xef\xbc\x90 OK"),
    ] {
        shelf.reject(
            &format!("bad-status/{id}"),
            status(line),
            "CR, LF, NUL and other digits are not allowed here (RFC 9112 §2.2, §4)",
        );
    }
    for code in [600, 601, 666, 700, 999] {
        shelf.reject(
            &format!("bad-status/{code}"),
            status(format!("HTTP/1.1 {code} High")),
            "a status above 599 has no class (RFC 9110 §15)",
        );
    }
    for line in ["HTTP/1.1 200", "HTTP/1.2 200 OK"] {
        shelf.any(
            &format!("odd-status/{line}"),
            status(line),
            "lenient parsers accept it (RFC 9112 §4, RFC 9110 §15)",
        );
    }
}

fn fields(shelf: &mut CaseFile) {
    for (id, field) in [
        ("cookies", &b"Set-Cookie: a=1\r\nSet-Cookie: b=2; Path=/"[..]),
        ("empty-value", b"X-A:"),
        ("obs-text", b"X-A: caf\xe9"),
        ("tab", b"X-A: a\tb"),
        ("all-token-bytes", b"X!#$%&'*+-.^_`|~09aZ: 1"),
        ("repeated", b"X-A: 1\r\nX-A: 2\r\nX-A: 1"),
        ("location", b"Location: http://b.example/x?y#z"),
        ("hop-by-hop", b"Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5"),
        ("close", b"Connection: close"),
    ] {
        shelf.accept(
            &format!("field/{id}"),
            with(field),
            "response fields arrive unchanged, except hop-by-hop fields (RFC 9110 §5.3, §7.6.1)",
        );
    }
    let why = "HTTP/1 field lines; a response that violates them is answered 502 (RFC 9112 §5)";
    for (id, field) in [
        ("space-before-colon", &b"X-A : 1"[..]),
        ("tab-before-colon", b"X-A\t: 1"),
        ("empty-name", b": 1"),
        ("no-colon", b"X-A"),
        ("nul-in-name", b"X\0A: 1"),
        ("nul-in-value", b"X-A: \0"),
        ("cr-in-value", b"X-A: a\rb"),
        ("cr-then-field", b"X-A: a\rSet-Cookie: evil=1"),
        ("lf-in-value", b"X-A: a\nb"),
        ("lf-then-field", b"X-A: a\nSet-Cookie: evil=1"),
        ("lf-then-response", b"X-A: a\n\nHTTP/1.1 200 OK"),
        ("folded", b"X-A: 1\r\n 2"),
        ("folded-tab", b"X-A: 1\r\n\t2"),
        ("fold-first", b" X-A: 1"),
        ("name-with-space", b"X A: 1"),
        ("name-with-slash", b"X/A: 1"),
        ("name-with-high-byte", b"X\xe9: 1"),
        ("space-before-length", b"Content-Length : 2"),
        ("space-before-coding", b"Transfer-Encoding : chunked"),
    ] {
        shelf.reject(&format!("bad-field/{id}"), with(field), why);
    }
    for (id, byte) in [("bell", 0x07u8), ("escape", 0x1b), ("delete", 0x7f)] {
        shelf.any(
            &format!("odd-field/{id}"),
            with(join(&[b"X-A: a", &[byte], b"b"])),
            "other control bytes may be refused or kept (RFC 9110 §5.5)",
        );
    }
}

fn line_ends(shelf: &mut CaseFile) {
    let why = "a line ends with CRLF (RFC 9112 §2.2)";
    for (id, bytes) in [
        ("lf-everywhere", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok"),
        ("lf-after-status", "HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\nok"),
        ("lf-at-the-end", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\nok"),
        ("lf-lf", "HTTP/1.1 200 OK\r\nContent-Length: 2\n\nok"),
        ("cr-cr-lf", "HTTP/1.1 200 OK\r\r\nContent-Length: 2\r\n\r\nok"),
        ("cr-after-status", "HTTP/1.1 200 OK\rContent-Length: 2\r\n\r\nok"),
        ("cr-x-at-the-end", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\rXok"),
    ] {
        shelf.reject(&format!("end/{id}"), bytes, why);
    }
    shelf.any(
        "end/empty-line-before",
        "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "only a server may skip an empty line (RFC 9112 §2.2)",
    );
    shelf.reject("end/nothing", "", "the end of the connection is not a response (RFC 9112 §8)");
    shelf.reject("end/cut-in-status", "HTTP/1.1 20", "the head never ends (RFC 9112 §8)");
    shelf.reject("end/cut-in-field", "HTTP/1.1 200 OK\r\nContent-Le", "the head never ends (RFC 9112 §8)");
    shelf.reject(
        "end/cut-before-last-line",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n",
        "the head never ends (RFC 9112 §8)",
    );
    shelf.reject("end/garbage", "SSH-2.0-OpenSSH_9\r\n\r\n", "not HTTP (RFC 9112 §4)");
    shelf.reject("end/http-0.9-body", "<html>hello</html>", "a response needs a head (RFC 9112 §4)");
}

fn interim(shelf: &mut CaseFile) {
    let last = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let why = "interim responses come before the final one and have no body (RFC 9110 §15.2)";
    for (id, before) in [
        ("100", "HTTP/1.1 100 Continue\r\n\r\n"),
        ("102", "HTTP/1.1 102 Processing\r\n\r\n"),
        ("103", "HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\n\r\n"),
        (
            "two",
            "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </b>\r\n\r\n",
        ),
        ("199", "HTTP/1.1 199 Odd\r\n\r\n"),
    ] {
        shelf.accept(&format!("interim/{id}"), format!("{before}{last}"), why);
    }
    for (id, before) in [
        ("with-length", "HTTP/1.1 103 Early Hints\r\nContent-Length: 2\r\n\r\n"),
        ("with-coding", "HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n"),
        ("with-close", "HTTP/1.1 103 Early Hints\r\nConnection: close\r\n\r\n"),
        ("1.0", "HTTP/1.0 100 Continue\r\n\r\n"),
    ] {
        shelf.any(
            &format!("interim/{id}"),
            format!("{before}{last}"),
            "odd, but framed: no interim response has a body (RFC 9112 §6.3)",
        );
    }
    shelf.reject(
        "interim/then-600",
        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 600 High\r\nContent-Length: 2\r\n\r\nok",
        "a status above 599 has no class (RFC 9110 §15)",
    );
    shelf.reject(
        "interim/alone",
        "HTTP/1.1 103 Early Hints\r\n\r\n",
        "the final response never arrives (RFC 9110 §15.2)",
    );
    shelf.reject(
        "interim/with-body",
        format!("HTTP/1.1 103 Early Hints\r\nContent-Length: 2\r\n\r\nok{last}"),
        "an interim head is followed by another head (RFC 9112 §6.3)",
    );
    shelf.reject(
        "interim/bad",
        format!("HTTP/1.1 103 Early Hints\r\nX A\r\n\r\n{last}"),
        "a field line has a colon (RFC 9112 §5)",
    );
    shelf.reject(
        "interim/101-unasked",
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: foo\r\n\r\n",
        "no other protocol was requested (RFC 9110 §7.8)",
    );
    let flood = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1000);
    shelf.any(
        "interim/thousand",
        format!("{flood}{last}"),
        "interim responses should be limited (RFC 9110 §15.2)",
    );
}

fn without_body(shelf: &mut CaseFile) {
    shelf.accept(
        "no-body/204",
        "HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n",
        "204 has no body (RFC 9112 §6.3)",
    );
    shelf.accept(
        "no-body/304",
        "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n",
        "304 has no body (RFC 9112 §6.3)",
    );
    shelf.accept(
        "no-body/304-with-length",
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n",
        "304 may have the length of the omitted body (RFC 9110 §8.6)",
    );
    shelf.accept(
        "no-body/200-length-0",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "a body of no bytes (RFC 9112 §6.3)",
    );
    shelf.any(
        "no-body/204-with-length",
        "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
        "204 has no Content-Length, but servers send it (RFC 9110 §8.6)",
    );
    shelf.any(
        "no-body/205-with-body",
        "HTTP/1.1 205 Reset Content\r\nContent-Length: 2\r\n\r\nok",
        "205 has no body, but its framing declares one (RFC 9110 §15.3.6)",
    );
    let extra = "a body where none is allowed: it is not the next response (RFC 9112 §6.3)";
    shelf.any("no-body/204-with-body", "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok", extra);
    shelf.any(
        "no-body/204-with-chunks",
        "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        extra,
    );
    shelf.any("no-body/304-with-body", "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok", extra);
    shelf.any(
        "no-body/204-with-response",
        "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
        extra,
    );
    shelf.accept(
        "head/length",
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n",
        "the response to HEAD has no body (RFC 9112 §6.3)",
    );
    shelf.answers("HEAD");
    shelf.accept(
        "head/chunked",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "the response to HEAD has no body (RFC 9112 §6.3)",
    );
    shelf.answers("HEAD");
    shelf.accept(
        "head/neither",
        "HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\n",
        "the response to HEAD has no body, regardless of its fields (RFC 9112 §6.3)",
    );
    shelf.answers("HEAD");
    shelf.any("head/with-body", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", extra);
    shelf.answers("HEAD");
    shelf.any(
        "head/with-chunks",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        extra,
    );
    shelf.answers("HEAD");
}

fn limits(shelf: &mut CaseFile) {
    let many: String = (0..1000).map(|n| format!("x{n}: 1\r\n")).collect();
    shelf.reject(
        "limit/fields-1000",
        with(many.trim_end()),
        "more fields than the limit are answered 502 (RFC 9110 §5.4)",
    );
    shelf.accept(
        "limit/value-8000",
        with(format!("X-A: {}", "v".repeat(8000))),
        "well below the limit (RFC 9110 §5.4)",
    );
    shelf.reject(
        "limit/value-200000",
        with(format!("X-A: {}", "v".repeat(200_000))),
        "a head longer than the limit is answered 502 (RFC 9110 §5.4)",
    );
}
