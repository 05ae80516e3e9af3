//! Filters of route rules, which change requests and responses.

use std::time::Duration;

use eddy_builtin::{CorsConfig, Listed, OriginPattern};
use eddy_http::FieldEdits;
use eddy_ids::Shared;
use eddy_route::{HostPattern, PathRewrite};
use eddy_spec::problem::{ProblemReport, SourceSpan, shown};
use eddy_spec::read::Spanned;

use super::host::read_host;
use super::matching::path_fault;
use super::route_part::{BackendRef, RouteKind, counted, word_of};
use super::spec::{CorsSpec, FilterSpec, HeadersSpec, MirrorSpec, NewPathSpec, RedirectSpec};
use crate::kubernetes::ApiText;

/// Filters of a rule, checked.
#[derive(Debug, Default)]
pub(super) struct RouteFilters {
    /// Edits of request headers.
    pub(super) request_edits: FieldEdits,
    /// Edits of response headers.
    pub(super) response_edits: FieldEdits,
    /// Redirect, instead of a backend.
    pub(super) redirect: Option<RouteRedirect>,
    /// Host that backends see.
    pub(super) host: Option<Shared<str>>,
    /// Path that backends see.
    pub(super) path: Option<NewPath>,
    /// Mirrors of requests.
    pub(super) mirrors: Vec<RouteMirror>,
    /// CORS settings.
    pub(super) cors: Option<CorsConfig>,
    /// Whether a filter is unsupported: requests are then answered 500.
    pub(super) is_unserved: bool,
    /// Source position of a filter that does not edit headers.
    pub(super) other_place: Option<SourceSpan>,
}

/// Redirect response.
#[derive(Debug)]
pub(super) struct RouteRedirect {
    pub(super) scheme: Option<&'static str>,
    pub(super) host: Option<Shared<str>>,
    pub(super) port: Option<u16>,
    pub(super) path: Option<NewPath>,
    /// Status code.
    pub(super) status: u16,
}

#[derive(Debug)]
pub(super) struct NewPath {
    pub(super) rewrite: PathRewrite,
    pub(super) place: SourceSpan,
}

/// Mirror of requests.
#[derive(Debug)]
pub(super) struct RouteMirror {
    /// Backend that receives the copies.
    pub(super) backend: BackendRef,
    /// Numerator of the share of requests that is copied.
    pub(super) numerator: u32,
    /// Denominator of that share.
    pub(super) denominator: u32,
}

impl RouteFilters {
    /// Returns the source position of a prefix replacement, if there is one.
    pub(super) fn prefix_place(&self) -> Option<SourceSpan> {
        let of_redirect = self.redirect.as_ref().and_then(|redirect| redirect.path.as_ref());
        let paths = [self.path.as_ref(), of_redirect].into_iter().flatten();
        paths.filter(|path| matches!(path.rewrite, PathRewrite::Prefix(_))).map(|path| path.place).next()
    }
}

pub(super) fn read_filters(
    specs: Option<Spanned<Vec<Spanned<FilterSpec>>>>,
    kind: RouteKind,
    namespace: &Shared<str>,
    report: &mut ProblemReport,
) -> RouteFilters {
    let mut filters = RouteFilters::default();
    let mut seen: Vec<&'static str> = Vec::new();
    let (mut has_redirect, mut has_rewrite) = (false, false);
    for Spanned { value: spec, place } in counted(specs, 16, "filters", report) {
        let Some(written) = &spec.kind else { continue };
        let kinds: &[&'static str] = match kind {
            RouteKind::Http => HTTP_KINDS,
            RouteKind::Grpc => GRPC_KINDS,
        };
        let Some(name) = word_of(written, kinds, report) else { continue };
        if seen.contains(&name) && name != "RequestMirror" {
            report.error(place, format!("a filter of type `{name}` is already defined above"));
        }
        seen.push(name);
        has_redirect |= name == "RequestRedirect";
        has_rewrite |= name == "URLRewrite";
        if has_redirect && has_rewrite {
            report.error(place, "`RequestRedirect` and `URLRewrite` can't be combined");
        }
        if !matches!(name, "RequestHeaderModifier" | "ResponseHeaderModifier") {
            filters.other_place.get_or_insert(place);
        }
        if !filters.take(name, spec, place, kind, namespace, report) {
            let key = key_of(name);
            report.error(place, format!("a filter of type `{name}` needs the key `{key}`"));
        }
    }
    filters
}

impl RouteFilters {
    /// Reads a filter; returns whether it has the key that its type needs.
    fn take(
        &mut self,
        name: &'static str,
        spec: FilterSpec,
        place: SourceSpan,
        kind: RouteKind,
        namespace: &Shared<str>,
        report: &mut ProblemReport,
    ) -> bool {
        let is_there = match name {
            "RequestHeaderModifier" => {
                spec.request_headers.map(|headers| self.request_edits = edits(headers.value, report))
            }
            "ResponseHeaderModifier" => {
                spec.response_headers.map(|headers| self.response_edits = edits(headers.value, report))
            }
            "RequestMirror" => spec
                .mirror
                .map(|mirror| self.mirrors.extend(read_mirror(mirror.value, kind, namespace, report))),
            "RequestRedirect" => {
                spec.redirect.map(|redirect| self.redirect = Some(read_redirect(redirect.value, report)))
            }
            "URLRewrite" => spec.rewrite.map(|rewrite| {
                self.host = rewrite.value.hostname.and_then(|host| precise_host(&host, report));
                self.path = rewrite.value.path.and_then(|path| new_path(path, report));
            }),
            "CORS" => spec.cors.map(|cors| self.cors = Some(read_cors(cors.value, report))),
            _ => {
                report
                    .objection(
                        place,
                        format!(
                            "filters of type `{name}` are not supported: requests of this rule fail with 500"
                        ),
                    )
                    .hint("leave it out, or configure an eddy filter in eddy.yaml");
                self.is_unserved = true;
                Some(())
            }
        };
        is_there.is_some()
    }
}

/// Reads header edits: headers to remove, then to set, then to add.
fn edits(spec: HeadersSpec, report: &mut ProblemReport) -> FieldEdits {
    let mut edits = FieldEdits::new();
    let note = |outcome: Result<(), eddy_http::EditFault>, place: SourceSpan, report: &mut ProblemReport| {
        if let Err(fault) = outcome {
            report.error(place, fault.to_string());
        }
    };
    for name in counted(spec.remove, 16, "names", report) {
        note(edits.remove(&name.value.0), name.place, report);
    }
    for Spanned { value: field, place } in counted(spec.set, 16, "headers", report) {
        let (Some(name), Some(value)) = (field.name, field.value) else { continue };
        note(edits.set(&name.value.0, &value.value.0), place, report);
    }
    for Spanned { value: field, place } in counted(spec.add, 16, "headers", report) {
        let (Some(name), Some(value)) = (field.name, field.value) else { continue };
        note(edits.add(&name.value.0, &value.value.0), place, report);
    }
    edits
}

fn read_mirror(
    spec: MirrorSpec,
    kind: RouteKind,
    namespace: &Shared<str>,
    report: &mut ProblemReport,
) -> Option<RouteMirror> {
    let backend = BackendRef::of(spec.backend?, kind, namespace, report)?;
    if let (Some(percent), Some(_)) = (&spec.percent, &spec.fraction) {
        report.error(percent.place, "`percent` and `fraction` can't be combined");
    }
    let (numerator, denominator) = match (spec.percent, spec.fraction) {
        (Some(percent), _) => (percent.value.to_u32(), 100),
        (None, Some(Spanned { value: fraction, place })) => {
            let numerator = fraction.numerator?.value.to_u32();
            let denominator = fraction.denominator.map_or(100, |denominator| denominator.value.to_u32());
            if numerator > denominator {
                report.error(place, "the numerator is greater than the denominator");
            }
            (numerator, denominator)
        }
        (None, None) => (1, 1),
    };
    Some(RouteMirror { backend, numerator, denominator })
}

fn read_redirect(spec: RedirectSpec, report: &mut ProblemReport) -> RouteRedirect {
    let status = spec.status.as_ref().map_or(302, |status| status.value.to_u16());
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        let place = spec.status.as_ref().map_or_else(SourceSpan::default, |status| status.place);
        report
            .error(place, format!("`{status}` is not a redirect status: expected 301, 302, 303, 307 or 308"));
    }
    RouteRedirect {
        scheme: spec.scheme.and_then(|scheme| word_of(&scheme, &["http", "https"], report)),
        host: spec.hostname.and_then(|host| precise_host(&host, report)),
        port: spec.port.map(|port| port.value.to_u16()),
        path: spec.path.and_then(|path| new_path(path, report)),
        status,
    }
}

/// Returns a host without wildcard.
fn precise_host(text: &Spanned<ApiText>, report: &mut ProblemReport) -> Option<Shared<str>> {
    if let HostPattern::Exact(host) = read_host(text, report)? {
        return Some(host.into());
    }
    report.error(text.place, format!("`{}` is not a single host", shown(&text.value.0)));
    None
}

fn new_path(spec: Spanned<NewPathSpec>, report: &mut ProblemReport) -> Option<NewPath> {
    let Spanned { value: NewPathSpec { kind, full, prefix }, place } = spec;
    let kind = word_of(&kind?, &["ReplaceFullPath", "ReplacePrefixMatch"], report)?;
    let (mine, other, key) = match kind {
        "ReplaceFullPath" => (full, prefix, "replaceFullPath"),
        _ => (prefix, full, "replacePrefixMatch"),
    };
    if let Some(other) = other {
        report.error(other.place, format!("a path of type `{kind}` can have only the key `{key}`"));
    }
    let Some(Spanned { value: ApiText(text), place: at }) = mine else {
        report.error(place, format!("a path of type `{kind}` needs the key `{key}`"));
        return None;
    };
    // An empty replacement and `/` both keep what follows the prefix.
    let text = if text.is_empty() { "/" } else { &*text };
    if let Some(reason) = path_fault(text) {
        report.error(at, format!("`{}` is not a valid path: {reason}", shown(text)));
        return None;
    }
    let rewrite = match kind {
        "ReplaceFullPath" => PathRewrite::Full(text.to_owned()),
        _ => PathRewrite::Prefix(text.to_owned()),
    };
    Some(NewPath { rewrite, place: at })
}

fn read_cors(spec: CorsSpec, report: &mut ProblemReport) -> CorsConfig {
    let mut config = CorsConfig::default();
    for origin in spec.origins.into_iter().flat_map(|origins| origins.value) {
        match OriginPattern::parse(&origin.value.0) {
            Ok(pattern) => config.origins.push(pattern),
            Err(error) => {
                report.error(origin.place, format!("`{}` {error}", shown(&origin.value.0)));
            }
        }
    }
    let listed = |names: Spanned<Vec<Spanned<ApiText>>>| {
        let is_any = names.value.iter().any(|name| &*name.value.0 == "*");
        let names = names.value.into_iter().map(|name| name.value.0.into());
        if is_any { Listed::All } else { Listed::Names(names.collect()) }
    };
    if let Some(methods) = spec.methods {
        config.methods = listed(methods);
    }
    if let Some(headers) = spec.headers {
        config.request_fields = listed(headers);
    }
    if let Some(exposed) = spec.exposed {
        config.exposed_fields = listed(exposed);
    }
    config.has_credentials = spec.credentials.is_some_and(|credentials| credentials.value);
    config.max_age = Duration::from_secs(spec.max_age.map_or(5, |age| age.value.0));
    config
}

fn key_of(name: &str) -> &'static str {
    match name {
        "RequestHeaderModifier" => "requestHeaderModifier",
        "ResponseHeaderModifier" => "responseHeaderModifier",
        "RequestMirror" => "requestMirror",
        "RequestRedirect" => "requestRedirect",
        "URLRewrite" => "urlRewrite",
        _ => "cors",
    }
}

const HTTP_KINDS: &[&str] = &[
    "RequestHeaderModifier",
    "ResponseHeaderModifier",
    "RequestMirror",
    "RequestRedirect",
    "URLRewrite",
    "CORS",
    "ExtensionRef",
    "ExternalAuth",
];
const GRPC_KINDS: &[&str] =
    &["RequestHeaderModifier", "ResponseHeaderModifier", "RequestMirror", "ExtensionRef"];
