//! Requests: scanner and parser agree, and `httparse` parses accepted heads in the same way.

use eddy_http::{HeadFault, HeadLimits, HeadScanner, RequestBody, RequestHead, TargetForm, Version};

use super::{LIMITS, compare_fields, scan};

/// Checks the scanner and parser of requests.
pub(crate) fn request_head(data: &[u8]) {
    for limits in [LIMITS, HeadLimits::default()] {
        let found = scan(&HeadScanner::new(), data, &limits);
        let mut head = RequestHead::new();
        if let Ok(Some(end)) = found {
            check_head(&data[..end], &mut head, &limits);
        }
        if head.parse(data, &limits).is_ok() {
            assert_eq!(found, Ok(Some(data.len())), "the parser accepts what the scanner does not");
        }
        check_start(data, found, &limits);
    }
}

/// Without a previous scan the parser gets the same result, and asks for more bytes as long as more may come.
fn check_start(data: &[u8], found: Result<Option<usize>, HeadFault>, limits: &HeadLimits) {
    let mut head = RequestHead::new();
    let good = match found {
        Ok(Some(end)) if head.parse(&data[..end], limits).is_ok() => Some(end),
        _ => None,
    };
    let started = head.parse_start(data, limits);
    assert_eq!(started.unwrap_or(None), good);
    if found.is_ok() && good.is_none() {
        assert!(started.is_err() || found == Ok(None));
    }
    for cut in 0..good.unwrap_or(0) {
        assert_eq!(head.parse_start(&data[..cut], limits), Ok(None), "the first {cut} bytes of a good head");
    }
}

fn check_head(bytes: &[u8], head: &mut RequestHead, limits: &HeadLimits) {
    if head.parse(bytes, limits).is_err() {
        return;
    }
    let mut places = [httparse::EMPTY_HEADER; 128];
    let mut theirs = httparse::Request::new(&mut places);
    assert_eq!(theirs.parse(bytes), Ok(httparse::Status::Complete(bytes.len())));
    assert_eq!(theirs.method.unwrap().as_bytes(), head.method_name(bytes));
    assert_eq!(theirs.path.unwrap().as_bytes(), head.target.of(bytes));
    assert_eq!(theirs.version.unwrap(), u8::from(head.version == Version::Http11));
    compare_fields(head.fields(bytes), theirs.headers);
    check_framing(bytes, head, theirs.headers);
    check_host(bytes, head);
}

/// Checks the framing against a simple interpretation of the fields.
fn check_framing(bytes: &[u8], head: &RequestHead, fields: &[httparse::Header<'_>]) {
    let named = |name: &str| {
        fields
            .iter()
            .filter(|field| field.name.eq_ignore_ascii_case(name))
            .map(|field| field.value)
            .collect::<Vec<_>>()
    };
    let (lengths, codings, hosts) = (named("content-length"), named("transfer-encoding"), named("host"));
    match head.body {
        RequestBody::None => assert!(lengths.is_empty() && codings.is_empty()),
        RequestBody::Length(length) => {
            assert!(codings.is_empty() && lengths.len() == 1);
            assert_eq!(str::from_utf8(lengths[0]).unwrap().parse(), Ok(length));
        }
        RequestBody::Chunked => {
            assert!(lengths.is_empty() && codings.len() == 1 && head.version == Version::Http11);
            assert!(codings[0].eq_ignore_ascii_case(b"chunked"));
        }
    }
    assert!(hosts.len() == 1 || (hosts.is_empty() && head.version == Version::Http10), "{bytes:?}");
}

fn check_host(bytes: &[u8], head: &RequestHead) {
    let (authority, host) = (head.authority.of(bytes), head.host.of(bytes));
    assert!(authority.starts_with(host));
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~:[]!$&'()*+;=".contains(byte);
    assert!(authority.iter().all(is_plain), "{authority:?}");
    let mut scratch = Vec::new();
    let origin = head.origin_target(bytes, &mut scratch);
    // The target of `CONNECT` is not a path.
    let is_tunnel = head.form == TargetForm::Authority;
    assert!(is_tunnel || origin == b"*" || origin.starts_with(b"/"));
}
