//! Responses: scanner and parser agree, and `httparse` parses accepted heads in the same way.

use eddy_http::{HeadFault, HeadLimits, HeadScanner, Method, ResponseBody, ResponseHead, Version};

use super::{LIMITS, compare_fields, scan};

/// Checks the scanner and parser of responses.
pub(crate) fn response_head(data: &[u8]) {
    for limits in [LIMITS, HeadLimits::default()] {
        let found = scan(&HeadScanner::for_responses(), data, &limits);
        let mut head = ResponseHead::new();
        for method in [Method::Get, Method::Head] {
            if let Ok(Some(end)) = found {
                check_head(&data[..end], &mut head, method, &limits);
            }
        }
        if head.parse(data, &limits, Method::Get).is_ok() {
            assert_eq!(found, Ok(Some(data.len())), "the parser accepts what the scanner does not");
        }
        check_start(data, found, &limits);
    }
}

/// Without a previous scan the parser gets the same result, and asks for more bytes as long as more may come.
fn check_start(data: &[u8], found: Result<Option<usize>, HeadFault>, limits: &HeadLimits) {
    let mut head = ResponseHead::new();
    let good = match found {
        Ok(Some(end)) if head.parse(&data[..end], limits, Method::Get).is_ok() => Some(end),
        _ => None,
    };
    assert_eq!(head.parse_start(data, limits, Method::Get).unwrap_or(None), good);
    for cut in 0..good.unwrap_or(0) {
        let started = head.parse_start(&data[..cut], limits, Method::Get);
        assert_eq!(started, Ok(None), "the first {cut} bytes of a good head");
    }
}

fn check_head(bytes: &[u8], head: &mut ResponseHead, method: Method, limits: &HeadLimits) {
    if head.parse(bytes, limits, method).is_err() {
        return;
    }
    let mut places = [httparse::EMPTY_HEADER; 128];
    let mut theirs = httparse::Response::new(&mut places);
    assert_eq!(theirs.parse(bytes), Ok(httparse::Status::Complete(bytes.len())));
    assert_eq!(theirs.code.unwrap(), head.status);
    assert_eq!(theirs.version.unwrap(), u8::from(head.version == Version::Http11));
    compare_fields(head.fields(bytes), theirs.headers);
    let is_empty = head.is_interim() || matches!(head.status, 204 | 304) || method == Method::Head;
    assert_eq!(head.body == ResponseBody::None, is_empty);
    if let ResponseBody::Length(length) = head.body {
        assert_eq!(head.content_length, Some(length));
    }
    if head.body == ResponseBody::UntilClose {
        assert!(!head.keep_alive);
    }
    assert_ne!(head.status, 101);
}
