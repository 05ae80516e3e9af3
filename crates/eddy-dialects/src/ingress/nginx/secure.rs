//! Redirects of ingress-nginx, above all to HTTPS.

use eddy_config::CertificateFiles;
use eddy_spec::problem::SourceSpan;

use super::directive::{block, line, words};
use crate::nginx::Directive;

/// Whether a host has a certificate of its own, not the one that is shown when there is none.
pub(super) fn has_certificate(host: &str, certificates: &[CertificateFiles]) -> bool {
    let is_for = |known: &String| {
        let below = known.strip_prefix("*.").filter(|parent| !parent.is_empty());
        known == host
            || below.is_some_and(|parent| host.split_once('.').is_some_and(|(_, rest)| rest == parent))
    };
    certificates.iter().any(|certificate| certificate.hosts.iter().flatten().any(is_for))
}

/// Redirects all requests to HTTPS.
pub(super) fn to_https(place: SourceSpan, keeps_slash: bool) -> Vec<Directive> {
    if keeps_slash {
        return vec![line(place, "return", &["308", "https://$host$request_uri"])];
    }
    redirect_without_slash(place, "https://$host").to_vec()
}

/// Redirects requests without TLS to HTTPS.
pub(super) fn redirect_cleartext_to_https(place: SourceSpan, keeps_slash: bool) -> Vec<Directive> {
    let when = |text: &str, address: &str| {
        let condition = words(place, &["($to_https", "=", &format!("{text})")]);
        block(place, "if", condition, vec![line(place, "return", &["308", address])])
    };
    let mut lines = vec![line(place, "set", &["$to_https", "$scheme"])];
    if !keeps_slash {
        let condition = words(place, &["($request_uri", "~", "^(?<redirected>.*)/$)"]);
        lines.push(block(place, "if", condition, vec![line(place, "set", &["$to_https", "${scheme}/"])]));
        lines.push(when("http/", "https://$host$redirected"));
    }
    lines.push(when("http", "https://$host$request_uri"));
    lines
}

/// Redirects to an address followed by the request target without its trailing `/`.
pub(super) fn redirect_without_slash(place: SourceSpan, address: &str) -> [Directive; 2] {
    let inner = line(place, "return", &["308", &format!("{address}$redirected")]);
    let condition = words(place, &["($request_uri", "~", "^(?<redirected>.*)/$)"]);
    [
        block(place, "if", condition, vec![inner]),
        line(place, "return", &["308", &format!("{address}$request_uri")]),
    ]
}
