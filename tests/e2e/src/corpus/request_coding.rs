//! Cases of `Transfer-Encoding` in requests: a single final `chunked`, or none (RFC 9112 §6.1 and §7).

use super::shelf::{CaseFile, join};

pub(super) fn fill(shelf: &mut CaseFile) {
    plain(shelf);
    values(shelf);
    names(shelf);
    copies(shelf);
    versions(shelf);
}

const CHUNKS: &str = "3\r\nabc\r\n0\r\n\r\n";

fn post(fields: impl AsRef<[u8]>) -> Vec<u8> {
    join(&[b"POST /c HTTP/1.1\r\nHost: a.example\r\n", fields.as_ref(), b"\r\n\r\n", CHUNKS.as_bytes()])
}

fn plain(shelf: &mut CaseFile) {
    let why = "chunked is the final and only coding, in any case (RFC 9112 §6.1, §7)";
    for (id, field) in [
        ("chunked", "Transfer-Encoding: chunked"),
        ("capital", "Transfer-Encoding: Chunked"),
        ("capitals", "Transfer-Encoding: CHUNKED"),
        ("mixed", "Transfer-Encoding: cHuNkEd"),
        ("no-space", "Transfer-Encoding:chunked"),
        ("tab-around", "Transfer-Encoding:\tchunked\t"),
        ("spaces-around", "Transfer-Encoding:    chunked   "),
        ("name-lower", "transfer-encoding: chunked"),
        ("name-upper", "TRANSFER-ENCODING: chunked"),
    ] {
        shelf.accept(&format!("plain/{id}"), post(field), why);
    }
    shelf.accept(
        "plain/get",
        format!("GET / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n{CHUNKS}"),
        "any method may have a body (RFC 9110 §9.3.1)",
    );
    shelf.accept(
        "plain/empty",
        "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        why,
    );
}

fn values(shelf: &mut CaseFile) {
    let why = "anything but exactly one final chunked is refused (RFC 9112 §6.1, §6.3)";
    for (id, value) in [
        ("identity", &b"identity"[..]),
        ("gzip", b"gzip"),
        ("gzip-chunked", b"gzip, chunked"),
        ("chunked-gzip", b"chunked, gzip"),
        ("chunked-chunked", b"chunked, chunked"),
        ("chunked-identity", b"chunked, identity"),
        ("identity-chunked", b"identity, chunked"),
        ("empty", b""),
        ("only-space", b"  "),
        ("comma", b","),
        ("comma-first", b", chunked"),
        ("comma-last", b"chunked,"),
        ("parameter", b"chunked;q=1"),
        ("parameter-empty", b"chunked;"),
        ("quoted", b"\"chunked\""),
        ("single-quoted", b"'chunked'"),
        ("prefix", b"xchunked"),
        ("suffix", b"chunkedx"),
        ("shorter", b"chunke"),
        ("space-inside", b"chun ked"),
        ("vertical-tab-first", b"\x0bchunked"),
        ("vertical-tab-last", b"chunked\x0b"),
        ("form-feed-first", b"\x0cchunked"),
        ("nul-last", b"chunked\0"),
        ("nul-first", b"\0chunked"),
        ("bare-cr-last", b"chunked\r"),
        ("bare-cr-first", b"\rchunked"),
        ("bare-lf-first", b"\nchunked"),
        ("delete-last", b"chunked\x7f"),
        ("high-byte-last", b"chunked\xff"),
        ("no-break-space-first", b"\xa0chunked"),
        ("dotless", b"ch\xc4\xb1nked"),
        ("kelvin", b"chun\xe2\x84\xaaed"),
        ("cow", b"cow"),
        ("colon", b": chunked"),
        ("x-chunked-list", b"x, chunked"),
        ("chunk", b"chunk"),
        ("backspace", b"chunked\x08"),
        ("slash", b"chunked/1"),
        ("equals", b"chunked=chunked"),
    ] {
        shelf.reject(&format!("value/{id}"), post(join(&[b"Transfer-Encoding: ", value])), why);
    }
}

fn names(shelf: &mut CaseFile) {
    let why = "an obscured name is refused as a name, not overlooked (RFC 9112 §5.1, RFC 9110 §5.1)";
    for (id, field) in [
        ("space-before-colon", &b"Transfer-Encoding : chunked"[..]),
        ("tab-before-colon", b"Transfer-Encoding\t: chunked"),
        ("leading-space", b" Transfer-Encoding: chunked"),
        ("leading-tab", b"\tTransfer-Encoding: chunked"),
        ("space-inside", b"Transfer Encoding: chunked"),
        ("nul-inside", b"Transfer-\0Encoding: chunked"),
        ("cr-inside", b"Transfer-\rEncoding: chunked"),
        ("high-byte", b"Transfer-Encoding\xff: chunked"),
        ("quoted", b"\"Transfer-Encoding\": chunked"),
        ("after-bare-cr", b"X-A: 1\rTransfer-Encoding: chunked"),
        ("after-bare-lf", b"X-A: 1\nTransfer-Encoding: chunked"),
        ("after-fold", b"X-A: 1\r\n Transfer-Encoding: chunked"),
        ("folded", b"Transfer-Encoding:\r\n\tchunked"),
        ("lf-after", b"Transfer-Encoding: chunked\nX-A: 1"),
        ("vertical-tab-before-colon", b"Transfer-Encoding\x0b: chunked"),
        ("soft-hyphen", b"Transfer\xc2\xadEncoding: chunked"),
    ] {
        shelf.reject(&format!("name/{id}"), post(field), why);
    }
    let alias = "not Transfer-Encoding: without a length the chunks are parsed as the next request, which is \
                 invalid (RFC 9112 §6.3)";
    for name in [
        "Transfer_Encoding",
        "Transfer.Encoding",
        "X-Transfer-Encoding",
        "Transfer-Encodin",
        "TransferEncoding",
    ] {
        shelf.reject_after(1, &format!("alias/{name}"), post(format!("{name}: chunked")), alias);
    }
}

fn copies(shelf: &mut CaseFile) {
    let why = "more than one Transfer-Encoding line is refused (RFC 9112 §6.1)";
    for (id, fields) in [
        ("alike", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
        ("identity-last", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"),
        ("identity-first", "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked"),
        ("cow-last", "Transfer-Encoding: chunked\r\nTransfer-Encoding: cow"),
        ("cow-first", "Transfer-Encoding: cow\r\nTransfer-Encoding: chunked"),
        ("empty-first", "Transfer-Encoding:\r\nTransfer-Encoding: chunked"),
        ("empty-last", "Transfer-Encoding: chunked\r\nTransfer-Encoding:"),
        ("gzip-first", "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked"),
        ("other-case", "Transfer-Encoding: chunked\r\ntransfer-encoding: chunked"),
        ("apart", "Transfer-Encoding: chunked\r\nX-A: 1\r\nTransfer-Encoding: chunked"),
    ] {
        shelf.reject(&format!("copies/{id}"), post(fields), why);
    }
}

fn versions(shelf: &mut CaseFile) {
    let why = "HTTP/1.0 has no transfer codings: the framing is faulty (RFC 9112 §6.1)";
    for (id, fields) in [
        ("chunked", "Transfer-Encoding: chunked"),
        ("chunked-keep-alive", "Connection: keep-alive\r\nTransfer-Encoding: chunked"),
        ("identity", "Transfer-Encoding: identity"),
        ("gzip", "Transfer-Encoding: gzip"),
        ("empty", "Transfer-Encoding:"),
    ] {
        shelf.reject(
            &format!("1.0/{id}"),
            format!("POST / HTTP/1.0\r\nHost: a.example\r\n{fields}\r\n\r\n{CHUNKS}"),
            why,
        );
    }
    shelf.accept(
        "te/trailers",
        format!("POST / HTTP/1.1\r\nHost: a.example\r\nConnection: TE\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\n\r\n{CHUNKS}"),
        "TE names the codings that the client accepts, not those that it sends (RFC 9110 §10.1.4)",
    );
    shelf.accept(
        "te/chunked",
        "GET / HTTP/1.1\r\nHost: a.example\r\nTE: chunked\r\n\r\n",
        "TE does not frame (RFC 9110 §10.1.4)",
    );
    shelf.accept(
        "content-encoding/chunked",
        "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc",
        "Content-Encoding does not frame (RFC 9110 §8.4)",
    );
}
