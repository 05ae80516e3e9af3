use super::{ParseOutcome, WireBodyFraming, WireRequest, WireResponse, read_request, read_response};

fn request(bytes: &[u8]) -> Option<(WireRequest, usize)> {
    match read_request(bytes) {
        ParseOutcome::Whole { message, length } => Some((*message, length)),
        ParseOutcome::Partial { .. } | ParseOutcome::Bad(_) => None,
    }
}

fn response(bytes: &[u8], method: &[u8], is_ended: bool) -> Option<(WireResponse, usize)> {
    match read_response(bytes, method, is_ended) {
        ParseOutcome::Whole { message, length } => Some((*message, length)),
        ParseOutcome::Partial { .. } | ParseOutcome::Bad(_) => None,
    }
}

#[test]
fn reads_a_request_and_leaves_what_follows() {
    let bytes = b"POST /a?b HTTP/1.1\r\nHost: x\r\ncontent-length: 3\r\n\r\nabcGET";
    let (request, length) = request(bytes).expect("a whole request");
    assert_eq!(
        (request.target_text().as_str(), request.host(), &request.body[..]),
        ("/a?b", &b"x"[..], &b"abc"[..])
    );
    assert_eq!(&bytes[length..], b"GET");
}

#[test]
fn reads_chunks_extensions_and_trailers() {
    let bytes = b"PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nab\r\n1\r\nc\r\n0\r\nT: 1\r\n\r\n";
    let (request, length) = request(bytes).expect("a whole request");
    assert_eq!((request.framing, &request.body[..]), (WireBodyFraming::Chunked, &b"abc"[..]));
    assert_eq!((request.trailers.text("t").as_str(), length), ("1", bytes.len()));
}

#[test]
fn every_proper_prefix_is_partial() {
    let bytes = b"PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n";
    for end in 0..bytes.len() {
        assert!(matches!(read_request(&bytes[..end]), ParseOutcome::Partial { .. }), "prefix of {end} bytes");
    }
}

#[test]
fn refuses_messages_that_strict_parsers_refuse() {
    let refused: [&[u8]; 9] = [
        b"GET / HTTP/1.1\nHost: x\n\n",
        b"GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.2\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n y\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n",
    ];
    for bytes in refused {
        assert!(matches!(read_request(bytes), ParseOutcome::Bad(_)), "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn a_response_ends_where_its_framing_says() {
    let until_close = b"HTTP/1.1 200 OK\r\n\r\nabc";
    assert!(response(until_close, b"GET", false).is_none());
    assert_eq!(response(until_close, b"GET", true).expect("whole at the end").0.body, b"abc");
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";
    assert_eq!(response(head, b"HEAD", false).expect("no body").1, head.len());
    assert!(response(head, b"GET", true).is_none());
    let none = b"HTTP/1.1 204 \r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(response(none, b"GET", false).expect("no body").0.status, 204);
}
