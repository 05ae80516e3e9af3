//! Local replies of routes: redirects and fixed responses.

use base64ct::{Base64, Encoding as _};
use eddy_config::{Redirect, Respond};
use eddy_ids::Shared;
use eddy_spec::problem::{ProblemReport, shown};
use eddy_spec::read::Spanned;

use super::spec::{DirectResponseSpec, RedirectSpec};

/// Returns the redirect of a route at a port, or `None` when it is invalid; the problem is reported.
pub(super) fn redirect(
    spec: &Spanned<RedirectSpec>,
    listener_port: u16,
    report: &mut ProblemReport,
) -> Option<Redirect> {
    let RedirectSpec { uri, authority, port, derive_port, scheme, code } = &spec.value;
    let text = |text: &Spanned<_>| Some(Shared::clone(text_of(text))).filter(|text| !text.is_empty());
    let status = match code.as_ref().map(|code| (code.value.to_u16(), code.place)) {
        None | Some((0, _)) => 301,
        Some((status @ (301 | 302 | 303 | 307 | 308), _)) => status,
        Some((other, place)) => {
            report.error(
                place,
                format!("`{other}` is not a redirect status: expected 301, 302, 303, 307 or 308"),
            );
            return None;
        }
    };
    let scheme = scheme.as_ref().and_then(|scheme| Some((text(scheme)?, scheme.place)));
    if let Some((other, place)) = scheme.as_ref().filter(|(scheme, _)| !matches!(&**scheme, "http" | "https"))
    {
        report.error(
            *place,
            format!("`{}` is not a supported scheme: expected `http` or `https`", shown(other)),
        );
        return None;
    }
    let scheme = scheme.map(|(scheme, _)| scheme);
    let number = match (port, derive_port) {
        (Some(port), None) => Some(port.value.to_u16()),
        (None, Some(derived)) => match &**text_of(derived) {
            "FROM_REQUEST_PORT" => Some(listener_port),
            "FROM_PROTOCOL_DEFAULT" => None,
            other => {
                let message = format!("`{}` is not a valid `derivePort`", shown(other));
                report
                    .error(derived.place, message)
                    .hint("write `FROM_PROTOCOL_DEFAULT` or `FROM_REQUEST_PORT`");
                return None;
            }
        },
        (None, None) => None,
        (Some(_), Some(derived)) => {
            report
                .error(derived.place, "`derivePort` can't be combined with `port`")
                .hint("keep one of them");
            return None;
        }
    };
    let belongs_to_scheme =
        |port: &u16| matches!((scheme.as_deref().unwrap_or("http"), port), ("http", 80) | ("https", 443));
    Some(Redirect {
        status,
        host: authority.as_ref().and_then(text),
        port: number.filter(|port| !belongs_to_scheme(port)),
        path: uri.as_ref().and_then(text),
        strip_query: false,
        is_absolute: true,
        scheme,
    })
}

/// Returns the fixed response of a route, or `None` when it is invalid; the problem is reported.
pub(super) fn respond(spec: &DirectResponseSpec, report: &mut ProblemReport) -> Option<Respond> {
    let mut body: Shared<[u8]> = Shared::default();
    if let Some(Spanned { value: written, place }) = &spec.body {
        body = match (&written.text, &written.bytes) {
            (Some(text), None) => text_of(text).as_bytes().into(),
            (None, Some(bytes)) => match Base64::decode_vec(text_of(bytes)) {
                Ok(decoded) => decoded.into(),
                Err(_) => {
                    report
                        .error(bytes.place, "this is not valid Base64")
                        .hint("for plain text, write `string`");
                    return None;
                }
            },
            _ => {
                report.error(*place, "a body needs exactly one of the keys `string` and `bytes`");
                return None;
            }
        };
        if body.len() > BODY_BYTES_MAX {
            report.error(*place, format!("the body is too long: at most {BODY_BYTES_MAX} bytes"));
            return None;
        }
    }
    Some(Respond { status: spec.status?.value.to_u16(), body, content_type: "text/plain".into() })
}

fn text_of(text: &Spanned<crate::kubernetes::ApiText>) -> &Shared<str> {
    &text.value.0
}

/// Maximum body of a fixed response, in bytes; Istio's own limit.
const BODY_BYTES_MAX: usize = 1 << 20;
