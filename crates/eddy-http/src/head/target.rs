//! Request targets.

use super::HeadFault;
use crate::method::Method;
use crate::octet::{find_path_end, find_query_end};
use crate::span::Span;

/// The form of a request target.
///
/// # Spec
/// [RFC 9112 §3.2](https://www.rfc-editor.org/rfc/rfc9112#section-3.2)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TargetForm {
    /// `/path?query`.
    #[default]
    Origin,
    /// `http://host/path?query`; its authority wins over `Host`.
    Absolute,
    /// `host:port`, of `CONNECT` only.
    Authority,
    /// `*`, of `OPTIONS` only.
    Asterisk,
}

/// A parsed target.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RequestTarget {
    pub(super) form: TargetForm,
    pub(super) whole: Span,
    pub(super) path: Span,
    pub(super) query: Option<Span>,
    /// The authority of an absolute form or `CONNECT`, not yet validated.
    pub(super) authority: Option<Span>,
}

/// Parses the target that begins at `at` and ends at a space.
pub(super) fn parse_target(
    bytes: &[u8],
    at: usize,
    method: Method,
    target_bytes_max: u32,
) -> Result<RequestTarget, HeadFault> {
    let text = bytes.get(at..).unwrap_or_default();
    let path_end = at + find_path_end(text);
    let query = bytes.get(path_end..).and_then(|rest| rest.strip_prefix(b"?"));
    let end = query.map_or(path_end, |query| path_end + 1 + find_query_end(query));
    let whole = Span::new(at, end);
    if whole.len() > target_bytes_max as usize {
        return Err(HeadFault::TargetTooLong);
    }
    match bytes.get(end) {
        Some(b' ') => {}
        Some(b'\n') => return Err(HeadFault::BareLf),
        Some(_) => return Err(HeadFault::BadTarget),
        None => return Err(HeadFault::Truncated),
    }
    let path = Span::new(at, path_end);
    let query = query.map(|_| Span::new(path_end + 1, end));
    let text = whole.of(bytes);
    if method == Method::Connect {
        return Ok(RequestTarget {
            form: TargetForm::Authority,
            whole,
            path: Span::new(end, end),
            query: None,
            authority: Some(whole),
        });
    }
    match text {
        [b'/', ..] => Ok(RequestTarget { form: TargetForm::Origin, whole, path, query, authority: None }),
        b"*" => Ok(RequestTarget { form: TargetForm::Asterisk, whole, path, query: None, authority: None }),
        _ => parse_absolute(bytes, whole, path_end, query),
    }
}

/// Parses `http://authority[/path][?query]`; targets with another scheme are not accepted.
fn parse_absolute(
    bytes: &[u8],
    whole: Span,
    path_end: usize,
    query: Option<Span>,
) -> Result<RequestTarget, HeadFault> {
    let text = whole.of(bytes);
    let scheme_len = [b"http://".as_slice(), b"https://"]
        .into_iter()
        .find(|scheme| text.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme)))
        .map(<[u8]>::len)
        .ok_or(HeadFault::BadTarget)?;
    let start = whole.start as usize + scheme_len;
    let rest = bytes.get(start..path_end).ok_or(HeadFault::BadTarget)?;
    let authority_end = start + rest.iter().position(|&byte| byte == b'/').unwrap_or(rest.len());
    Ok(RequestTarget {
        form: TargetForm::Absolute,
        whole,
        path: Span::new(authority_end, path_end),
        query,
        authority: Some(Span::new(start, authority_end)),
    })
}

/// Whether the text is a valid path and query for a request.
pub(super) fn is_origin_target(text: &[u8]) -> bool {
    let path_end = find_path_end(text);
    let end = match text.get(path_end..).and_then(|rest| rest.strip_prefix(b"?")) {
        Some(query) => path_end + 1 + find_query_end(query),
        None => path_end,
    };
    text.first() == Some(&b'/') && end == text.len() && text.len() <= TARGET_BYTES_EDITED_MAX
}

/// Maximum length of a target that a filter can set, bytes.
const TARGET_BYTES_EDITED_MAX: usize = 64 * 1024;
