//! Cases of field lines: names, colons, values, folding, and fields that are not forwarded (RFC 9112 §5, RFC 9110 §5,
//! §7.6).

use super::shelf::{CaseFile, join};

pub(super) fn fill(shelf: &mut CaseFile) {
    names(shelf);
    colons(shelf);
    values(shelf);
    folding(shelf);
    line_ends(shelf);
    hop_by_hop(shelf);
    aliases(shelf);
    limits(shelf);
}

fn with(field: impl AsRef<[u8]>) -> Vec<u8> {
    join(&[b"GET / HTTP/1.1\r\nHost: a.example\r\n", field.as_ref(), b"\r\n\r\n"])
}

fn before_host(field: impl AsRef<[u8]>) -> Vec<u8> {
    join(&[b"GET / HTTP/1.1\r\n", field.as_ref(), b"\r\nHost: a.example\r\n\r\n"])
}

fn names(shelf: &mut CaseFile) {
    let why = "the name of a field is a token (RFC 9110 §5.1, §5.6.2)";
    for (id, name) in [
        ("nul", &b"X\0A"[..]),
        ("control", b"X\x01A"),
        ("delete", b"X\x7fA"),
        ("high-byte", b"X\xe9"),
        ("space", b"X A"),
        ("tab", b"X\tA"),
        ("parenthesis", b"X(A)"),
        ("comma", b"X,A"),
        ("slash", b"X/A"),
        ("semicolon", b"X;A"),
        ("less-than", b"X<A"),
        ("equals", b"X=A"),
        ("question-mark", b"X?A"),
        ("at", b"X@A"),
        ("bracket", b"X[A]"),
        ("backslash", b"X\\A"),
        ("brace", b"X{A}"),
        ("quote", b"\"X\""),
    ] {
        shelf.reject(&format!("name/{id}"), with(join(&[name, b": 1"])), why);
    }
    shelf.accept("name/all-token-bytes", with("X!#$%&'*+-.^_`|~09aZ: 1"), why);
    for length in [255, 256, 270] {
        shelf.accept(
            &format!("name/length-{length}"),
            with(format!("{}: 1", "n".repeat(length))),
            "the length of a name exceeds one byte: it must not wrap (RFC 9110 §5.4)",
        );
    }
    for length in [65_535, 65_536] {
        shelf.reject(
            &format!("name/length-{length}"),
            with(format!("{}: 1", "n".repeat(length))),
            "a head longer than the limit is answered 431; its length must not wrap (RFC 6585 §5)",
        );
    }
}

fn colons(shelf: &mut CaseFile) {
    let empty = "a field without a name ends the list of fields for some readers (RFC 9112 §5)";
    shelf.reject("colon/empty-name", with(": 1"), empty);
    shelf.reject("colon/empty-name-first", before_host(": 1"), empty);
    shelf.reject("colon/empty-name-and-value", with(":"), empty);
    shelf.reject("colon/empty-name-first-and-value", before_host(":"), empty);
    shelf.reject("colon/empty-name-before-length", with(":\r\nContent-Length: 3"), empty);
    shelf.reject("colon/space-as-name", with(" : 1"), empty);
    let none = "a field line has a colon (RFC 9112 §5)";
    shelf.reject("colon/none", with("X-A"), none);
    shelf.reject("colon/none-first", before_host("X-A"), none);
    shelf.reject("colon/none-equals", with("X-A=1"), none);
    let before = "white space before the colon is refused (RFC 9112 §5.1)";
    for (id, field) in [
        ("space-before", &b"X-A : 1"[..]),
        ("tab-before", b"X-A\t: 1"),
        ("spaces-before", b"X-A   : 1"),
        ("vertical-tab-before", b"X-A\x0b: 1"),
        ("no-break-space-before", b"X-A\xa0: 1"),
        ("space-before-length", b"Content-Length : 3"),
        ("space-before-coding", b"Transfer-Encoding : chunked"),
        ("tab-before-coding", b"Transfer-Encoding\t:chunked"),
        ("nul-before", b"X-A\0: 1"),
    ] {
        shelf.reject(&format!("colon/{id}"), with(field), before);
    }
    shelf.accept("colon/two", with("X-A: b:c"), "the first colon ends the name (RFC 9112 §5)");
    shelf.accept("colon/double", with("X-A:: b"), "the first colon ends the name (RFC 9112 §5)");
}

fn values(shelf: &mut CaseFile) {
    for (id, value) in [
        ("empty", &b""[..]),
        ("only-spaces", b"    "),
        ("inner-tab", b"a\tb"),
        ("obs-text", b"caf\xe9"),
        ("utf-8", b"caf\xc3\xa9"),
        ("quoted", b"\"a, b\""),
        ("separators", b"(c) <d> @ {e} [f] \\g"),
        ("long-trailing-space", b"a          "),
    ] {
        let raw = with(join(&[b"X-A: ", value]));
        shelf.accept(
            &format!("value/{id}"),
            raw,
            "field-content of VCHAR, obs-text, SP and HTAB (RFC 9110 §5.5)",
        );
    }
    let why = "CR, LF and NUL in a value are refused (RFC 9110 §5.5)";
    for (id, value) in [
        ("nul", &b"a\0b"[..]),
        ("nul-first", b"\0a"),
        ("nul-last", b"a\0"),
        ("bare-cr", b"a\rb"),
        ("bare-cr-first", b"\ra"),
        ("bare-lf", b"a\nb"),
        ("cr-then-field", b"a\rX-B: 2"),
        ("lf-then-field", b"a\nX-B: 2"),
        ("lf-then-request", b"a\n\nGET /smuggled HTTP/1.1\nHost: b"),
        ("cr-cr-lf", b"a\r"),
    ] {
        shelf.reject(&format!("value/{id}"), with(join(&[b"X-A: ", value])), why);
    }
    for (id, byte) in
        [("bell", 0x07u8), ("escape", 0x1b), ("delete", 0x7f), ("vertical-tab", 0x0b), ("form-feed", 0x0c)]
    {
        let raw = with(join(&[b"X-A: a", &[byte], b"b"]));
        shelf.any(&format!("value/{id}"), raw, "other control bytes may be refused or kept (RFC 9110 §5.5)");
    }
}

fn folding(shelf: &mut CaseFile) {
    let why = "line folding is refused (RFC 9112 §5.2)";
    for (id, field) in [
        ("space", "X-A: 1\r\n 2"),
        ("tab", "X-A: 1\r\n\t2"),
        ("spaces", "X-A: 1\r\n    2"),
        ("empty", "X-A:\r\n 2"),
        ("only-space", "X-A: 1\r\n "),
        ("length", "Content-Length:\r\n 0"),
        ("coding", "Transfer-Encoding:\r\n chunked"),
        ("coding-after", "Transfer-Encoding: chunked\r\n x"),
        ("field-inside", "X-A: 1\r\n Transfer-Encoding: chunked"),
        ("bare-lf", "X-A: 1\n 2"),
    ] {
        shelf.reject(&format!("fold/{id}"), with(field), why);
    }
    shelf.reject("fold/first", before_host(" X-A: 1"), "white space before the first field (RFC 9112 §2.2)");
    shelf.reject(
        "fold/first-tab",
        before_host("\tX-A: 1"),
        "white space before the first field (RFC 9112 §2.2)",
    );
    shelf.reject(
        "fold/first-only-space",
        before_host(" "),
        "white space before the first field (RFC 9112 §2.2)",
    );
}

fn line_ends(shelf: &mut CaseFile) {
    let why = "a line ends with CRLF; a bare CR or LF is read differently elsewhere (RFC 9112 §2.2)";
    let head = "GET / HTTP/1.1\r\nHost: a.example";
    for (id, tail) in [
        ("lf-after-host", "\nX-A: 1\r\n\r\n"),
        ("cr-after-host", "\rX-A: 1\r\n\r\n"),
        ("lf-before-last-line", "\r\nX-A: 1\n\r\n"),
        ("lf-lf", "\r\nX-A: 1\n\n"),
        ("crlf-lf", "\r\nX-A: 1\r\n\n"),
        ("crlf-cr-x", "\r\nX-A: 1\r\n\rX"),
        ("cr-cr-lf-last", "\r\nX-A: 1\r\n\r\r\n"),
        ("lf-cr-lf", "\r\nX-A: 1\n\r\n\r\n"),
        ("nul-line", "\r\n\0\r\n\r\n"),
    ] {
        shelf.reject(&format!("end/{id}"), format!("{head}{tail}"), why);
    }
    shelf.any(
        "end/cut-before-last-lf",
        format!("{head}\r\n\r"),
        "incomplete: the last LF never arrives (RFC 9112 §8)",
    );
    shelf.any(
        "end/cut-before-last-line",
        format!("{head}\r\n"),
        "incomplete: the head never ends (RFC 9112 §8)",
    );
    shelf.any("end/cut-in-name", format!("{head}\r\nX-"), "incomplete: the head never ends (RFC 9112 §8)");
}

fn hop_by_hop(shelf: &mut CaseFile) {
    let why = "the field is hop-by-hop and is not forwarded; the request is (RFC 9110 §7.6.1)";
    for (id, field) in [
        ("keep-alive", "Connection: keep-alive\r\nKeep-Alive: timeout=5"),
        ("close", "Connection: close"),
        ("listed", "Connection: X-Hop\r\nX-Hop: 1"),
        ("listed-with-spaces", "Connection: close ,  X-Hop ,\r\nX-Hop: 1"),
        ("listed-in-two-lines", "Connection: X-Hop\r\nConnection: X-Hip\r\nX-Hop: 1\r\nX-Hip: 1"),
        ("te", "TE: trailers, deflate;q=0.5\r\nConnection: TE"),
        ("proxy-connection", "Proxy-Connection: keep-alive"),
        ("upgrade", "Connection: Upgrade\r\nUpgrade: foo/2"),
        (
            "upgrade-h2c",
            "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__",
        ),
        ("host-listed", "Connection: Host"),
        ("length-listed", "Connection: Content-Length\r\nContent-Length: 0"),
        ("coding-listed", "Connection: Transfer-Encoding"),
        (
            "forwarded-listed",
            "Connection: X-Forwarded-For, X-Forwarded-Host, Authorization\r\nAuthorization: Basic eA==",
        ),
        ("connection-listed", "Connection: Connection, close"),
        ("not-a-token", "Connection: \"close\", ;;, @"),
        ("empty", "Connection: ,"),
    ] {
        shelf.accept(&format!("hop/{id}"), with(field), why);
    }
}

fn aliases(shelf: &mut CaseFile) {
    let why = "some servers map this name to another one (CGI, RFC 3875 §4.1.18); it must not affect \
               framing or trust";
    for field in [
        "Content_Length: 5",
        "Content.Length: 5",
        "Transfer_Encoding: chunked",
        "Transfer.Encoding: chunked",
        "X_Forwarded_For: 10.0.0.1",
        "X.Forwarded.For: 10.0.0.1",
        "X_Forwarded-For: 10.0.0.1",
        "X_Real_Ip: 10.0.0.1",
        "Content-Length_: 5",
        "Host_: b.example",
    ] {
        let name = field.split(':').next().unwrap_or_default();
        shelf.any(&format!("alias/{name}"), with(field), why);
    }
}

fn limits(shelf: &mut CaseFile) {
    let many = |count: usize| {
        let fields: String = (0..count).map(|n| format!("x{n}: 1\r\n")).collect();
        format!("GET / HTTP/1.1\r\nHost: a.example\r\n{fields}\r\n")
    };
    shelf.accept("limit/fields-100", many(99), "fewer fields than any usual limit (RFC 9110 §5.4)");
    shelf.reject("limit/fields-1000", many(999), "more fields than the limit are answered 431 (RFC 6585 §5)");
    shelf.accept(
        "limit/value-16000",
        with(format!("X-A: {}", "v".repeat(16_000))),
        "well below the limit (RFC 9110 §5.4)",
    );
    shelf.reject(
        "limit/value-70000",
        with(format!("X-A: {}", "v".repeat(70_000))),
        "a head longer than the limit is answered 431 (RFC 6585 §5)",
    );
}
