use crate::head::{HeadFault, HeadLimits, HeadScanner};

const LIMITS: HeadLimits = HeadLimits { head_bytes_max: 256, fields_max: 3, target_bytes_max: 64 };

/// Feeds `text` byte by byte, then at once; both must agree. Returns the length or the fault, and the number of bytes
/// after which it was found.
fn scan(scanner: HeadScanner, text: &[u8]) -> (Result<Option<usize>, HeadFault>, usize) {
    let mut slow = scanner.clone();
    let mut found = (Ok(None), text.len());
    for end in 0..=text.len() {
        let step = slow.scan(&text[..end], &LIMITS);
        if step != Ok(None) {
            found = (step, end);
            break;
        }
    }
    let mut quick = scanner;
    assert_eq!(quick.scan(text, &LIMITS), found.0, "{:?}", String::from_utf8_lossy(text));
    found
}

#[track_caller]
fn check_request(text: &str, expected: Result<Option<usize>, HeadFault>) {
    assert_eq!(scan(HeadScanner::new(), text.as_bytes()).0, expected, "{text:?}");
}

#[track_caller]
fn check_response(text: &str, expected: Result<Option<usize>, HeadFault>) {
    assert_eq!(scan(HeadScanner::for_responses(), text.as_bytes()).0, expected, "{text:?}");
}

/// Checks that the fault is found at the last byte of `text`, not later.
#[track_caller]
fn check_early(text: &[u8], expected: HeadFault) {
    assert_eq!(scan(HeadScanner::new(), text), (Err(expected), text.len()), "{text:?}");
}

#[test]
fn a_head_ends_with_its_empty_line() {
    check_request("GET / HTTP/1.1\r\n\r\n", Ok(Some(18)));
    check_request("GET / HTTP/1.1\r\nHost: a\r\n\r\nbody\r\n\r\n", Ok(Some(27)));
    check_request("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", Ok(Some(29)));
    check_request("GET / HTTP/1.1\r\nHost: a\tb\r\n\r\n\0", Ok(Some(29)));
    check_response("HTTP/1.1 200 OK\r\n\r\n", Ok(Some(19)));
    check_response("HTTP/1.0 200 OK\r\na: b\r\n\r\nHTTP", Ok(Some(25)));
    for text in ["", "\r", "\r\n", "G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r"] {
        check_request(text, Ok(None));
    }
}

#[test]
fn bytes_not_allowed_in_a_head_are_refused_immediately() {
    check_early(b"\x16", HeadFault::BadStart);
    check_early(b"\x80", HeadFault::BadStart);
    check_early(b" ", HeadFault::BadStart);
    check_early(b"\0", HeadFault::BadStart);
    check_early(b"\n", HeadFault::BareLf);
    check_early(b"\rG", HeadFault::BareCr);
    check_early(b"\r\n\r", HeadFault::BadStart);
    check_early(b"GET\t", HeadFault::BadMethod);
    check_early(b"EHLO example.com\r\n", HeadFault::BadVersion);
    check_early(b"GET /\r\n", HeadFault::BadVersion);
    check_early(b"A\r\n", HeadFault::BadVersion);
    check_early(b"GET / HTTP/1.2\r\n", HeadFault::BadVersion);
    check_early(b"PRI * HTTP/2.0\r\n", HeadFault::UnknownVersion);
    check_early(b"GET / HTTP/1.1\n", HeadFault::BareLf);
    check_early(b"GET / HTTP/1.1\rH", HeadFault::BareCr);
    check_early(b"GET /\0", HeadFault::Control);
    check_early(b"GET / HTTP/1.1\r\n ", HeadFault::FieldFold);
    check_early(b"GET / HTTP/1.1\r\na: b\r\n\t", HeadFault::FieldFold);
    check_early(b"GET / HTTP/1.1\r\n:", HeadFault::BadFieldName);
    check_early(b"GET / HTTP/1.1\r\n\x01", HeadFault::Control);
    check_early(b"GET / HTTP/1.1\r\na: b\n", HeadFault::BareLf);
    check_early(b"GET / HTTP/1.1\r\na: b\r\r", HeadFault::BareCr);
    check_early(b"GET / HTTP/1.1\r\na: b\x7f", HeadFault::Control);
    check_early(b"GET / HTTP/1.1\r\na: 1\r\nb: 2\r\nc: 3\r\nd", HeadFault::TooManyFields);
    check_response("h", Err(HeadFault::BadStart));
    check_response("HTTP/2", Err(HeadFault::BadStart));
    check_response("\r\nHTTP/1.1 200 OK\r\n\r\n", Err(HeadFault::BadStart));
}

#[test]
fn limits_are_enforced_before_the_end() {
    check_early(&[b'M'; 33], HeadFault::MethodTooLong);
    let mut line = b"GET /".to_vec();
    line.resize(64 + 42 + 1, b'a');
    check_early(&line, HeadFault::TargetTooLong);
    let mut head = b"GET / HTTP/1.1\r\na: ".to_vec();
    head.resize(257, b'b');
    check_early(&head, HeadFault::HeadTooLarge);
    let mut exact = b"GET / HTTP/1.1\r\na: ".to_vec();
    exact.resize(252, b'b');
    exact.extend_from_slice(b"\r\n\r\n");
    assert_eq!(scan(HeadScanner::new(), &exact).0, Ok(Some(256)));
    exact.insert(20, b'b');
    assert_eq!(scan(HeadScanner::new(), &exact).0, Err(HeadFault::HeadTooLarge));
}

#[test]
fn a_scanner_reports_whether_a_head_has_begun() {
    let mut scanner = HeadScanner::new();
    for (text, expected) in
        [("", false), ("\r", false), ("\r\n", false), ("\r\nG", true), ("\r\nGET / HTTP/1.1\r\n", true)]
    {
        assert_eq!(scanner.scan(text.as_bytes(), &LIMITS), Ok(None));
        assert_eq!(scanner.started(), expected, "{text:?}");
    }
    scanner.reset();
    assert!(!scanner.started());
    assert_eq!(scanner.scan(b"GET / HTTP/1.1\r\n\r\n", &LIMITS), Ok(Some(18)));
    let mut response = HeadScanner::for_responses();
    response.scan(b"HTTP", &LIMITS).unwrap();
    response.reset();
    assert_eq!(response.scan(b"GET", &LIMITS), Err(HeadFault::BadStart));
}
