//! Cases of response bodies: lengths, codings, chunks, and bytes after the body (RFC 9112 §6.3 and §7.1).

use super::shelf::{CaseFile, join};

pub(super) fn fill(shelf: &mut CaseFile) {
    lengths(shelf);
    codings(shelf);
    chunks(shelf);
    until_close(shelf);
    extra(shelf);
}

fn ok(fields: impl AsRef<[u8]>, body: impl AsRef<[u8]>) -> Vec<u8> {
    join(&[b"HTTP/1.1 200 OK\r\n", fields.as_ref(), b"\r\n\r\n", body.as_ref()])
}

fn chunked(body: impl AsRef<[u8]>) -> Vec<u8> {
    ok("Transfer-Encoding: chunked", body)
}

fn lengths(shelf: &mut CaseFile) {
    shelf.accept(
        "length/five",
        ok("Content-Length: 5", "hello"),
        "a body of that many bytes (RFC 9112 §6.3)",
    );
    shelf.accept(
        "length/like-a-response",
        ok("Content-Length: 38", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        "a body of that many bytes (RFC 9112 §6.3)",
    );
    let why = "Content-Length is one 1*DIGIT; a response with another is answered 502 (RFC 9110 §8.6, RFC 9112 §6.3)";
    for (id, fields) in [
        ("plus", "Content-Length: +5"),
        ("minus", "Content-Length: -5"),
        ("hex", "Content-Length: 0x5"),
        ("empty", "Content-Length:"),
        ("letters", "Content-Length: five"),
        ("list-alike", "Content-Length: 5, 5"),
        ("list-different", "Content-Length: 5, 6"),
        ("two-alike", "Content-Length: 5\r\nContent-Length: 5"),
        ("two-different", "Content-Length: 5\r\nContent-Length: 3"),
        ("two-cases", "Content-Length: 5\r\ncontent-length: 3"),
        ("inner-space", "Content-Length: 5 5"),
        ("underscore", "Content-Length: 0_5"),
        ("point", "Content-Length: 5.0"),
        ("2^64+5", "Content-Length: 18446744073709551621"),
        ("semicolon", "Content-Length: 5;"),
    ] {
        shelf.reject(&format!("bad-length/{id}"), ok(fields, "hello"), why);
    }
    let short = "fewer bytes than the length: the client must see the truncation (RFC 9112 §8)";
    shelf.reject("short/one-missing", ok("Content-Length: 5", "hell"), short);
    shelf.reject("short/all-missing", ok("Content-Length: 5", ""), short);
    shelf.reject("short/huge", ok("Content-Length: 9223372036854775807", "hello"), short);
    shelf.reject("short/one-missing-close", ok("Connection: close\r\nContent-Length: 5", "hell"), short);
}

fn codings(shelf: &mut CaseFile) {
    let body = "3\r\nabc\r\n0\r\n\r\n";
    let both = "length and coding together are answered 502 (RFC 9112 §6.3)";
    shelf.reject("coding/with-length", ok("Transfer-Encoding: chunked\r\nContent-Length: 13", body), both);
    shelf.reject("coding/after-length", ok("Content-Length: 13\r\nTransfer-Encoding: chunked", body), both);
    shelf.reject(
        "coding/with-length-short",
        ok("Content-Length: 3\r\nTransfer-Encoding: chunked", body),
        both,
    );
    shelf.reject("coding/with-bad-length", ok("Content-Length: x\r\nTransfer-Encoding: chunked", body), both);
    shelf.reject(
        "coding/identity-with-length",
        ok("Content-Length: 13\r\nTransfer-Encoding: identity", body),
        both,
    );
    for (id, value) in
        [("plain", "chunked"), ("capital", "Chunked"), ("capitals", "CHUNKED"), ("tabs", "\tchunked\t")]
    {
        shelf.accept(
            &format!("coding/{id}"),
            ok(format!("Transfer-Encoding: {value}"), body),
            "one chunked, in any case (RFC 9112 §7)",
        );
    }
    let why = "a coding that cannot be decoded is answered 502 (RFC 9112 §6.3)";
    for (id, value) in [
        ("chunked-chunked", &b"chunked, chunked"[..]),
        ("chunked-identity", b"chunked, identity"),
        ("quoted", b"\"chunked\""),
        ("parameter", b"chunked;a=b"),
        ("prefix", b"xchunked"),
        ("vertical-tab", b"\x0bchunked"),
        ("nul", b"chunked\0"),
        ("empty", b""),
        ("comma", b","),
    ] {
        shelf.reject(&format!("bad-coding/{id}"), ok(join(&[b"Transfer-Encoding: ", value]), body), why);
    }
    shelf.reject(
        "bad-coding/two-lines",
        ok("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", body),
        why,
    );
    shelf.reject(
        "bad-coding/identity-line",
        ok("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", body),
        why,
    );
    for (id, value) in [("gzip-chunked", "gzip, chunked"), ("gzip", "gzip"), ("identity", "identity")] {
        shelf.any(
            &format!("odd-coding/{id}"),
            ok(format!("Transfer-Encoding: {value}"), body),
            "no TE header asked for it; refusing is safe (RFC 9110 §10.1.4, RFC 9112 §6.3)",
        );
    }
    shelf.any(
        "odd-coding/1.0",
        format!("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}"),
        "HTTP/1.0 has no codings: faulty framing (RFC 9112 §6.1)",
    );
}

fn chunks(shelf: &mut CaseFile) {
    for (id, body) in [
        ("none", "0\r\n\r\n"),
        ("two", "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
        ("extension", "3;a=b\r\nabc\r\n0;c\r\n\r\n"),
        ("trailer", "3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n"),
        ("data-like-last", "5\r\n0\r\n\r\n\r\n0\r\n\r\n"),
        ("leading-zeros", "003\r\nabc\r\n00\r\n\r\n"),
    ] {
        shelf.accept(&format!("chunk/{id}"), chunked(body), "the chunked coding (RFC 9112 §7.1)");
    }
    let why = "a chunk that breaks the grammar ends the response visibly (RFC 9112 §7.1, §8)";
    for (id, body) in [
        ("0x", "0x3\r\nabc\r\n0\r\n\r\n"),
        ("plus", "+3\r\nabc\r\n0\r\n\r\n"),
        ("minus", "-3\r\nabc\r\n0\r\n\r\n"),
        ("empty-size", "\r\nabc\r\n0\r\n\r\n"),
        ("letter", "z\r\nabc\r\n0\r\n\r\n"),
        ("leading-space", " 3\r\nabc\r\n0\r\n\r\n"),
        ("2^64-wrap", "10000000000000003\r\nabc\r\n0\r\n\r\n"),
        ("lf-after-size", "3\nabc\r\n0\r\n\r\n"),
        ("cr-after-size", "3\rabc\r\n0\r\n\r\n"),
        ("lf-after-data", "3\r\nabc\n0\r\n\r\n"),
        ("too-short", "2\r\nabc\r\n0\r\n\r\n"),
        ("too-long", "4\r\nabc\r\n0\r\n\r\n"),
        ("lf-in-extension", "3;a\nb\r\nabc\r\n0\r\n\r\n"),
        ("cr-in-extension", "3;a\rb\r\nabc\r\n0\r\n\r\n"),
        ("lf-after-last", "3\r\nabc\r\n0\n\r\n"),
        ("lf-at-the-end", "3\r\nabc\r\n0\r\n\n"),
        ("bad-trailer", "3\r\nabc\r\n0\r\nX T\r\n\r\n"),
        ("lf-in-trailer", "3\r\nabc\r\n0\r\nX-T: 1\n\r\n"),
        ("nul-in-trailer", "3\r\nabc\r\n0\r\nX-T: \0\r\n\r\n"),
        ("second-bad", "3\r\nabc\r\nzz\r\nabc\r\n0\r\n\r\n"),
    ] {
        shelf.reject(&format!("bad-chunk/{id}"), chunked(body), why);
    }
    for (id, body) in [
        ("nothing", ""),
        ("in-size", "3"),
        ("in-data", "3\r\nab"),
        ("after-chunk", "3\r\nabc\r\n"),
        ("after-last-size", "3\r\nabc\r\n0\r\n"),
        ("in-trailer", "3\r\nabc\r\n0\r\nX-T: 1\r\n"),
    ] {
        shelf.reject(
            &format!("cut-chunk/{id}"),
            chunked(body),
            "the last chunk never arrives: the client must see the truncation (RFC 9112 §8)",
        );
    }
}

fn until_close(shelf: &mut CaseFile) {
    let why = "without length and coding the end of the connection ends the body (RFC 9112 §6.3)";
    shelf.accept("close/plain", ok("X-A: 1", "hello"), why);
    shelf.accept("close/announced", ok("Connection: close", "hello"), why);
    shelf.accept("close/empty", ok("Connection: close", ""), why);
    shelf.accept("close/1.0", "HTTP/1.0 200 OK\r\n\r\nhello", why);
    shelf.accept(
        "close/1.0-length",
        "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.0 has lengths (RFC 9112 §6.3)",
    );
    shelf.accept(
        "close/1.0-keep-alive",
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.0 with keep-alive (RFC 9112 §9.3)",
    );
    shelf.accept(
        "close/like-a-response",
        ok("Connection: close", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        why,
    );
    shelf.accept("close/404", "HTTP/1.1 404 Not Found\r\n\r\nnone", why);
}

fn extra(shelf: &mut CaseFile) {
    let why = "bytes after a complete response belong to no request: the connection is not reused \
               (RFC 9112 §6.3, §9.2)";
    let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
    shelf.any("extra/byte", ok("Content-Length: 2", "ok!"), why);
    shelf.any("extra/line-end", ok("Content-Length: 2", "ok\r\n"), why);
    shelf.any("extra/response", ok("Content-Length: 2", format!("ok{evil}")), why);
    shelf.any("extra/response-after-none", ok("Content-Length: 0", evil), why);
    shelf.any("extra/after-chunks", chunked(format!("2\r\nok\r\n0\r\n\r\n{evil}")), why);
    shelf.any("extra/interim-after", ok("Content-Length: 2", "okHTTP/1.1 100 Continue\r\n\r\n"), why);
    shelf.any("extra/partial-response", ok("Content-Length: 2", "okHTTP/1.1 2"), why);
    shelf.any("extra/two-responses", ok("Content-Length: 2", format!("ok{evil}{evil}")), why);
}
