//! Cases of chunked request bodies: sizes, line ends, extensions, last chunks and trailers (RFC 9112 §7.1).

use super::shelf::{CaseFile, join};

pub(super) fn fill(shelf: &mut CaseFile) {
    plain(shelf);
    sizes(shelf);
    line_ends(shelf);
    extensions(shelf);
    extension_ends(shelf);
    trailers(shelf);
    short(shelf);
}

fn post(body: impl AsRef<[u8]>) -> Vec<u8> {
    join(&[b"POST /k HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n", body.as_ref()])
}

fn plain(shelf: &mut CaseFile) {
    let why = "chunks, the last of size 0, then the empty line (RFC 9112 §7.1)";
    for (id, body) in [
        ("one", "3\r\nabc\r\n0\r\n\r\n"),
        ("two", "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
        ("none", "0\r\n\r\n"),
        ("hex-lower", "a\r\n0123456789\r\n0\r\n\r\n"),
        ("hex-upper", "A\r\n0123456789\r\n0\r\n\r\n"),
        ("leading-zeros", "003\r\nabc\r\n0\r\n\r\n"),
        ("last-of-zeros", "3\r\nabc\r\n000\r\n\r\n"),
        ("data-with-crlf", "4\r\n\r\n\r\n\r\n0\r\n\r\n"),
        ("data-like-last", "5\r\n0\r\n\r\n\r\n0\r\n\r\n"),
        ("data-like-request", "17\r\nGET /inside HTTP/1.1\r\n\r\r\n0\r\n\r\n"),
        ("single-bytes", "1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n"),
    ] {
        shelf.accept(&format!("plain/{id}"), post(body), why);
    }
}

fn sizes(shelf: &mut CaseFile) {
    let why = "chunk-size is 1*HEXDIG (RFC 9112 §7.1)";
    for (id, size) in [
        ("0x", &b"0x3"[..]),
        ("0X", b"0X3"),
        ("x", b"x3"),
        ("plus", b"+3"),
        ("minus", b"-3"),
        ("minus-zero", b"-0"),
        ("underscore", b"0_3"),
        ("point", b"3.0"),
        ("leading-space", b" 3"),
        ("leading-tab", b"\t3"),
        ("inner-space", b"0 3"),
        ("comma", b"3,"),
        ("letter", b"g"),
        ("letter-after", b"3g"),
        ("h", b"3h"),
        ("empty", b""),
        ("quote", b"\"3\""),
        ("nul", b"3\0"),
        ("nul-first", b"\x003"),
        ("high-byte", b"3\xff"),
        ("full-width", b"\xef\xbc\x93"),
        ("vertical-tab", b"3\x0b"),
        ("seventeen-digits", b"10000000000000003"),
        ("2^64-wrap", b"10000000000000000"),
        ("twenty-digits-wrap", b"ffff0000000000000003"),
        ("colon", b"3:"),
        ("equals", b"3=a"),
    ] {
        shelf.reject(&format!("size/{id}"), post(join(&[size, b"\r\nabc\r\n0\r\n\r\n"])), why);
    }
    for (id, size) in [("trailing-space", "3 "), ("trailing-tab", "3\t"), ("trailing-spaces", "3   ")] {
        shelf.any(
            &format!("size/{id}"),
            post(format!("{size}\r\nabc\r\n0\r\n\r\n")),
            "bad white space belongs before an extension only (RFC 9112 §7.1.1)",
        );
    }
    for (id, size) in [
        ("ffffffffffffffff", "ffffffffffffffff"),
        ("2^63", "8000000000000000"),
        ("2^64-2", "fffffffffffffffe"),
    ] {
        shelf.any(
            &format!("size/{id}"),
            post(format!("{size}\r\nabc")),
            "incomplete, with a huge size: the size must not wrap (RFC 9112 §7.1)",
        );
    }
    shelf.any(
        "size/sixteen-zeros",
        post("0000000000000003\r\nabc\r\n0\r\n\r\n"),
        "leading zeros may be bounded (RFC 9112 §7.1)",
    );
    shelf.reject(
        "size/thousands-of-zeros",
        post(format!("{}3\r\nabc\r\n0\r\n\r\n", "0".repeat(5000))),
        "a size line is bounded (RFC 9112 §7.1.1)",
    );
    shelf.reject(
        "size/too-small",
        post("2\r\nabc\r\n0\r\n\r\n"),
        "CRLF ends the data of a chunk (RFC 9112 §7.1)",
    );
    shelf.reject(
        "size/too-large-by-one",
        post("4\r\nabc\r\n0\r\n\r\n"),
        "CRLF ends the data of a chunk (RFC 9112 §7.1)",
    );
}

fn line_ends(shelf: &mut CaseFile) {
    let why = "lines of the chunked coding end with CRLF and nothing else (RFC 9112 §7.1, §2.2)";
    for (id, body) in [
        ("lf-after-size", "3\nabc\r\n0\r\n\r\n"),
        ("cr-after-size", "3\rabc\r\n0\r\n\r\n"),
        ("cr-cr-lf-after-size", "3\r\r\nabc\r\n0\r\n\r\n"),
        ("lf-cr-after-size", "3\n\rabc\r\n0\r\n\r\n"),
        ("lf-after-data", "3\r\nabc\n0\r\n\r\n"),
        ("cr-after-data", "3\r\nabc\r0\r\n\r\n"),
        ("cr-x-after-data", "3\r\nabc\rX0\r\n\r\n"),
        ("nothing-after-data", "3\r\nabc0\r\n\r\n"),
        ("two-bytes-after-data", "3\r\nabcXX0\r\n\r\n"),
        ("spill-after-data", "3\r\nabcd\r\n0\r\n\r\n"),
        ("lf-after-last", "3\r\nabc\r\n0\n\r\n"),
        ("cr-after-last", "3\r\nabc\r\n0\r\r\n"),
        ("lf-at-the-end", "3\r\nabc\r\n0\r\n\n"),
        ("lf-lf-at-the-end", "3\r\nabc\r\n0\n\n"),
        ("cr-x-at-the-end", "3\r\nabc\r\n0\r\n\rX"),
        ("empty-line-before-size", "\r\n3\r\nabc\r\n0\r\n\r\n"),
        ("two-crlf-after-data", "3\r\nabc\r\n\r\n0\r\n\r\n"),
        ("lf-everywhere", "3\nabc\n0\n\n"),
    ] {
        shelf.reject(&format!("end/{id}"), post(body), why);
    }
}

fn extensions(shelf: &mut CaseFile) {
    let why = "unknown extensions are ignored and do not affect the framing (RFC 9112 §7.1.1)";
    for (id, extension) in [
        ("name", ";a"),
        ("value", ";a=b"),
        ("quoted", ";a=\"b c\""),
        ("quoted-semicolon", ";a=\"b;c\""),
        ("two", ";a=b;c=d"),
        ("on-last", ";a"),
    ] {
        let body = if id == "on-last" {
            format!("3\r\nabc\r\n0{extension}\r\n\r\n")
        } else {
            format!("3{extension}\r\nabc\r\n0\r\n\r\n")
        };
        shelf.accept(&format!("extension/{id}"), post(body), why);
    }
    for (id, extension) in [
        ("spaces", " ; a = b"),
        ("empty", ";"),
        ("two-semicolons", ";;"),
        ("empty-value", ";a="),
        ("equals-only", ";="),
        ("not-a-token", ";a@b"),
        ("quote-left-open", ";a=\"b"),
        ("escape", ";a=\"\\\"\""),
        ("high-byte", ";\u{e9}"),
    ] {
        shelf.any(
            &format!("extension/{id}"),
            post(format!("3{extension}\r\nabc\r\n0\r\n\r\n")),
            "lenient or strict, but never passed on (RFC 9112 §7.1.1)",
        );
    }
    shelf.reject(
        "extension/longer-than-the-limit",
        post(format!("3;{}\r\nabc\r\n0\r\n\r\n", "a".repeat(70_000))),
        "the length of extensions is limited (RFC 9112 §7.1.1)",
    );
}

fn extension_ends(shelf: &mut CaseFile) {
    let why = "a bare CR, LF or NUL in an extension ends the line for some readers (RFC 9112 §7.1.1, §2.2)";
    for (end, bytes) in [("lf", &b"\n"[..]), ("cr", b"\r"), ("crx", b"\rX"), ("nul", b"\0"), ("vt", b"\x0b")]
    {
        let shapes: [(&str, Vec<u8>); 4] = [
            ("term-ext", join(&[b"2;", bytes, b"xx\r\n4c\r\n0\r\n\r\n"])),
            ("ext-term", join(&[b"2;a", bytes, b"\r\nab\r\n0\r\n\r\n"])),
            ("in-quotes", join(&[b"2;a=\"", bytes, b"\"\r\nab\r\n0\r\n\r\n"])),
            ("on-last", join(&[b"2\r\nab\r\n0;a", bytes, b"\r\n\r\n"])),
        ];
        for (shape, body) in shapes {
            if end == "vt" {
                shelf.any(
                    &format!("term/{shape}-{end}"),
                    post(body),
                    "another control byte: refused or dropped (RFC 9112 §7.1.1)",
                );
            } else {
                shelf.reject(&format!("term/{shape}-{end}"), post(body), why);
            }
        }
    }
    for (end, bytes) in [("lf", &b"\n"[..]), ("cr", b"\r"), ("crx", b"\rX")] {
        shelf.reject(
            &format!("term/spill-{end}"),
            post(join(&[b"5\r\nAAAAA", bytes, b"2\r\nBB\r\n0\r\n\r\n"])),
            "only CRLF ends the data of a chunk (RFC 9112 §7.1)",
        );
    }
}

fn trailers(shelf: &mut CaseFile) {
    let accept = "trailer fields are forwarded as trailers or dropped (RFC 9112 §7.1.2, RFC 9110 §6.5.1)";
    for (id, fields) in [
        ("one", "X-T: 1\r\n"),
        ("two", "X-T: 1\r\nX-U: 2\r\n"),
        ("host", "Host: b.example\r\n"),
        ("length", "Content-Length: 3\r\n"),
        ("coding", "Transfer-Encoding: chunked\r\n"),
        ("authorization", "Authorization: Basic eA==\r\n"),
        ("forwarded", "X-Forwarded-For: 10.0.0.1\r\n"),
        ("connection", "Connection: close\r\n"),
    ] {
        let raw = post(format!("3\r\nabc\r\n0\r\n{fields}\r\n"));
        if matches!(id, "one" | "two") {
            shelf.accept(&format!("trailer/{id}"), raw, accept);
        } else {
            shelf.any(
                &format!("trailer/{id}"),
                raw,
                "must not reach the head; dropped or refused (RFC 9110 §6.5.1)",
            );
        }
    }
    let why = "trailer fields have the grammar of fields (RFC 9112 §7.1.2)";
    for (id, fields) in [
        ("bare-lf", &b"X-T: 1\n\r\n"[..]),
        ("bare-cr", b"X-T: 1\rX-U: 2\r\n\r\n"),
        ("nul", b"X-T: \0\r\n\r\n"),
        ("space-before-colon", b"X-T : 1\r\n\r\n"),
        ("folded", b"X-T: 1\r\n 2\r\n\r\n"),
        ("no-colon", b"X-T\r\n\r\n"),
        ("empty-name", b": 1\r\n\r\n"),
        ("leading-space", b" X-T: 1\r\n\r\n"),
        ("name-no-token", b"X@T: 1\r\n\r\n"),
        ("request-line", b"GET /smuggled HTTP/1.1\r\n\r\n"),
    ] {
        shelf.reject(&format!("trailer/{id}"), post(join(&[b"3\r\nabc\r\n0\r\n", fields])), why);
    }
    let many: String = (0..500).map(|n| format!("t{n}: 1\r\n")).collect();
    shelf.reject(
        "trailer/500",
        post(format!("0\r\n{many}\r\n")),
        "the number of trailer fields is limited (RFC 9110 §5.4)",
    );
    shelf.reject(
        "trailer/long",
        post(format!("0\r\nX-T: {}\r\n\r\n", "v".repeat(70_000))),
        "the length of trailer fields is limited (RFC 9110 §5.4)",
    );
}

fn short(shelf: &mut CaseFile) {
    let why = "incomplete: the last chunk never arrives (RFC 9112 §8)";
    for (id, body) in [
        ("nothing", ""),
        ("in-size", "3"),
        ("after-size", "3\r\n"),
        ("in-data", "3\r\nab"),
        ("after-data", "3\r\nabc"),
        ("after-chunk", "3\r\nabc\r\n"),
        ("in-last", "3\r\nabc\r\n0"),
        ("after-last", "3\r\nabc\r\n0\r\n"),
        ("before-last-lf", "3\r\nabc\r\n0\r\n\r"),
        ("in-trailer", "3\r\nabc\r\n0\r\nX-T: 1\r\n"),
        ("in-extension", "3;a"),
    ] {
        shelf.any(&format!("short/{id}"), post(body), why);
    }
}
