//! Egress check: accepted heads are exactly one message, and the intended one.

use eddy_http::{Egress, Method, RequestBody, ResponseBody};

/// Checks the egress check.
pub(crate) fn egress(data: &[u8]) {
    let mut egress = Egress::new();
    let mut places = [httparse::EMPTY_HEADER; 1024];
    for body in [RequestBody::None, RequestBody::Length(3), RequestBody::Chunked] {
        let Some((method, rest)) = split_at_space(data) else { break };
        let Some((target, _)) = split_at_space(rest) else { break };
        if egress.check_request(data, method, target, body).is_ok() {
            let mut theirs = httparse::Request::new(&mut places);
            assert_eq!(theirs.parse(data), Ok(httparse::Status::Complete(data.len())));
            assert_eq!(theirs.version, Some(1));
            assert_eq!(theirs.method.map(str::as_bytes), Some(method));
            assert_eq!(theirs.path.map(str::as_bytes), Some(target));
            check_framing(
                theirs.headers,
                body == RequestBody::Chunked,
                matches!(body, RequestBody::Length(_)),
            );
            assert!(egress.check_request(data, b"OTHER-METHOD", target, body).is_err());
            assert!(egress.check_request(data, method, b"/another", body).is_err() || target == b"/another");
        }
    }
    let bodies =
        [ResponseBody::None, ResponseBody::Length(3), ResponseBody::Chunked, ResponseBody::UntilClose];
    for body in bodies {
        for status in [200, 204, 304] {
            if egress.check_response(data, status, body, Method::Get).is_ok() {
                let mut theirs = httparse::Response::new(&mut places);
                assert_eq!(theirs.parse(data), Ok(httparse::Status::Complete(data.len())));
                assert_eq!(theirs.code, Some(status));
                assert!(egress.check_response(data, 599, body, Method::Get).is_err());
            }
        }
    }
}

fn check_framing(fields: &[httparse::Header<'_>], is_chunked: bool, has_length: bool) {
    let count = |name: &str| fields.iter().filter(|field| field.name.eq_ignore_ascii_case(name)).count();
    assert_eq!(count("host"), 1);
    assert_eq!(count("transfer-encoding"), usize::from(is_chunked));
    assert!(count("content-length") <= 1 && (count("content-length") == 1 || !has_length));
}

fn split_at_space(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = data.iter().position(|&byte| byte == b' ')?;
    Some((&data[..at], &data[at + 1..]))
}
