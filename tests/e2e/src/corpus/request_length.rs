//! Cases of `Content-Length` in requests: spelling, duplicates and conflicts (RFC 9112 §6.2 and §6.3, RFC 9110 §8.6).

use super::shelf::{CaseFile, join};

pub(super) fn fill(shelf: &mut CaseFile) {
    plain(shelf);
    spellings(shelf);
    copies(shelf);
    with_coding(shelf);
    short(shelf);
}

fn post(fields: impl AsRef<[u8]>, body: impl AsRef<[u8]>) -> Vec<u8> {
    join(&[b"POST /l HTTP/1.1\r\nHost: a.example\r\n", fields.as_ref(), b"\r\n\r\n", body.as_ref()])
}

fn plain(shelf: &mut CaseFile) {
    let why = "a body of that many bytes (RFC 9112 §6.3)";
    shelf.accept("plain/five", post("Content-Length: 5", "hello"), why);
    shelf.accept("plain/zero", post("Content-Length: 0", ""), why);
    shelf.accept("plain/no-space", post("Content-Length:5", "hello"), why);
    shelf.accept("plain/tabs-around", post("Content-Length:\t 5 \t", "hello"), why);
    shelf.accept("plain/lower-case", post("content-length: 5", "hello"), why);
    shelf.accept("plain/1.0", "POST / HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello", why);
    shelf.accept(
        "plain/get-with-body",
        "GET / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhello",
        "any method may have a body (RFC 9110 §9.3.1)",
    );
    shelf.accept(
        "plain/head-with-length-0",
        "HEAD / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n",
        why,
    );
    shelf.accept(
        "plain/delete-with-body",
        "DELETE / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 2\r\n\r\nok",
        why,
    );
    shelf.accept(
        "plain/none",
        "POST / HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "neither length nor coding: no body (RFC 9112 §6.3)",
    );
    shelf.accept(
        "plain/body-like-request",
        post("Content-Length: 36", "GET /inside HTTP/1.1\r\nHost: b.ex\r\n\r\n"),
        why,
    );
    shelf.accept("plain/body-like-chunks", post("Content-Length: 8", "3\r\nabc\r\n"), why);
    shelf.accept("plain/body-of-nuls", post("Content-Length: 4", b"\0\r\n\0"), why);
}

fn spellings(shelf: &mut CaseFile) {
    let why = "Content-Length is 1*DIGIT and nothing else (RFC 9110 §8.6)";
    for (id, value) in [
        ("plus", &b"+5"[..]),
        ("minus", b"-5"),
        ("minus-zero", b"-0"),
        ("hex", b"0x5"),
        ("hex-letter", b"a"),
        ("octal-prefix", b"0o5"),
        ("underscore", b"1_0"),
        ("point", b"5.0"),
        ("exponent", b"5e0"),
        ("comma-first", b",5"),
        ("comma-last", b"5,"),
        ("list-alike", b"5, 5"),
        ("list-different", b"5, 6"),
        ("semicolon", b"5;q=1"),
        ("inner-space", b"1 0"),
        ("inner-tab", b"1\t0"),
        ("letters", b"five"),
        ("quoted", b"\"5\""),
        ("empty", b""),
        ("only-space", b"   "),
        ("vertical-tab", b"5\x0b"),
        ("form-feed", b"\x0c5"),
        ("nul", b"5\0"),
        ("no-break-space", b"\xa05"),
        ("full-width", b"\xef\xbc\x95"),
        ("arabic-digit", b"\xd9\xa5"),
        ("superscript", b"\xb2"),
        ("twenty-digits", b"00000000000000000005"),
        ("2^63", b"9223372036854775808"),
        ("2^64", b"18446744073709551616"),
        ("2^64+5", b"18446744073709551621"),
        ("2^128+5", b"340282366920938463463374607431768211461"),
        ("percent", b"%35"),
    ] {
        shelf.reject(&format!("spelling/{id}"), post(join(&[b"Content-Length: ", value]), "hello"), why);
    }
    for (id, value) in [("leading-zero", "05"), ("leading-zeros", "0000005")] {
        shelf.any(
            &format!("spelling/{id}"),
            post(format!("Content-Length: {value}"), "hello"),
            "valid, but some parsers read it as octal; it must be rewritten (RFC 9110 §8.6)",
        );
    }
    shelf.reject(
        "spelling/2^32+5-of-5",
        post("Content-Length: 4294967301\r\nContent-Length: 5", "hello"),
        why,
    );
}

fn copies(shelf: &mut CaseFile) {
    let why = "two lengths are refused, equal or not (RFC 9112 §6.3)";
    for (id, fields) in [
        ("different", "Content-Length: 5\r\nContent-Length: 6"),
        ("alike", "Content-Length: 5\r\nContent-Length: 5"),
        ("zero-first", "Content-Length: 0\r\nContent-Length: 5"),
        ("zero-last", "Content-Length: 5\r\nContent-Length: 0"),
        ("other-case", "Content-Length: 5\r\ncontent-length: 0"),
        ("apart", "Content-Length: 5\r\nX-A: 1\r\nContent-Length: 6"),
        ("second-empty", "Content-Length: 5\r\nContent-Length:"),
        ("first-empty", "Content-Length:\r\nContent-Length: 5"),
        ("second-bad", "Content-Length: 5\r\nContent-Length: x"),
        ("three", "Content-Length: 5\r\nContent-Length: 5\r\nContent-Length: 5"),
        ("zero-spellings", "Content-Length: 5\r\nContent-Length: 05"),
    ] {
        shelf.reject(&format!("copies/{id}"), post(fields, "hello"), why);
    }
    shelf.reject(
        "copies/get",
        "GET / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\n",
        why,
    );
}

fn with_coding(shelf: &mut CaseFile) {
    let why = "length and coding together are a sign of smuggling: refused and the connection closed (RFC 9112 §6.3)";
    let chunks = "5\r\nhello\r\n0\r\n\r\n";
    for (id, fields) in [
        ("length-first", "Content-Length: 15\r\nTransfer-Encoding: chunked"),
        ("coding-first", "Transfer-Encoding: chunked\r\nContent-Length: 15"),
        ("length-short", "Content-Length: 4\r\nTransfer-Encoding: chunked"),
        ("length-zero", "Content-Length: 0\r\nTransfer-Encoding: chunked"),
        ("lower-case", "content-length: 15\r\ntransfer-encoding: chunked"),
        ("upper-case", "CONTENT-LENGTH: 15\r\nTRANSFER-ENCODING: CHUNKED"),
        ("apart", "Content-Length: 15\r\nX-A: 1\r\nTransfer-Encoding: chunked"),
        ("length-bad", "Content-Length: x\r\nTransfer-Encoding: chunked"),
        ("length-empty", "Content-Length:\r\nTransfer-Encoding: chunked"),
        ("coding-identity", "Content-Length: 15\r\nTransfer-Encoding: identity"),
        ("coding-empty", "Content-Length: 15\r\nTransfer-Encoding:"),
        ("coding-unknown", "Content-Length: 15\r\nTransfer-Encoding: cow"),
        ("coding-obscure", "Content-Length: 15\r\nTransfer-Encoding: xchunked"),
        ("two-lengths", "Content-Length: 15\r\nContent-Length: 15\r\nTransfer-Encoding: chunked"),
        (
            "length-listed-in-connection",
            "Connection: Content-Length\r\nContent-Length: 15\r\nTransfer-Encoding: chunked",
        ),
        (
            "coding-listed-in-connection",
            "Connection: Transfer-Encoding\r\nContent-Length: 15\r\nTransfer-Encoding: chunked",
        ),
    ] {
        shelf.reject(&format!("coding/{id}"), post(fields, chunks), why);
    }
    shelf.reject(
        "coding/te-cl-with-request",
        post(
            "Transfer-Encoding: chunked\r\nContent-Length: 4",
            "5c\r\nGPOST /smuggled HTTP/1.1\r\nHost: b\r\n\r\n",
        ),
        why,
    );
    shelf.reject(
        "coding/cl-te-with-request",
        post("Content-Length: 30\r\nTransfer-Encoding: chunked", "0\r\n\r\nGET /smuggled HTTP/1.1\r\nX: "),
        why,
    );
    shelf.reject(
        "coding/1.0",
        "POST / HTTP/1.0\r\nContent-Length: 15\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        why,
    );
}

fn short(shelf: &mut CaseFile) {
    let why = "incomplete: fewer bytes than the length arrived (RFC 9112 §8)";
    shelf.any("short/one-missing", post("Content-Length: 5", "hell"), why);
    shelf.any("short/all-missing", post("Content-Length: 5", ""), why);
    shelf.any("short/huge", post("Content-Length: 1000000000000000000", "hello"), why);
    shelf.any("short/2^63-1", post("Content-Length: 9223372036854775807", "hello"), why);
    shelf.any(
        "short/request-inside",
        post("Content-Length: 100", "GET /inside HTTP/1.1\r\nHost: b\r\n\r\n"),
        why,
    );
}
