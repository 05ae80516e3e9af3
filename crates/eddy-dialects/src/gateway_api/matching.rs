//! Match conditions of route rules.

use eddy_check::ConditionPositions;
use eddy_route::nginx::LetterCase;
use eddy_route::{PathPattern, ValueMatch};
use eddy_spec::problem::{ProblemReport, SourceSpan, shown};
use eddy_spec::read::{FromNode, Spanned, ValueSchema, WordInfo};
use eddy_spec::yaml::{YamlNode, YamlNodeKind};

use super::route_part::{RouteKind, RouteMatch, counted, test_of, word_of};
use super::spec::{GrpcMethodSpec, MatchSpec, MethodSpec, PathSpec, ValueSpec};
use crate::kubernetes::ApiText;

/// Reads the alternative matches of a rule; without any, one that matches all requests.
pub(super) fn read_matches(
    specs: Option<Spanned<Vec<Spanned<MatchSpec>>>>,
    kind: RouteKind,
    rule: SourceSpan,
    report: &mut ProblemReport,
) -> Vec<RouteMatch> {
    let mut matches: Vec<RouteMatch> = counted(specs, 64, "matches", report)
        .into_iter()
        .filter_map(|spec| read_match(spec, kind, report))
        .collect();
    if matches.is_empty() {
        matches.extend(read_match(Spanned { value: MatchSpec::default(), place: rule }, kind, report));
    }
    matches
}

fn read_match(spec: Spanned<MatchSpec>, kind: RouteKind, report: &mut ProblemReport) -> Option<RouteMatch> {
    let Spanned { value: spec, place } = spec;
    let mut places = ConditionPositions::default();
    if kind == RouteKind::Grpc {
        for key in [spec.path.as_ref().map(|path| path.place), spec.query.as_ref().map(|query| query.place)]
            .into_iter()
            .flatten()
        {
            report
                .objection(key, "a GRPCRoute can't match paths or query parameters")
                .hint("match on `method` and `headers`");
        }
    }
    let (mut methods, mut method_len) = (Vec::new(), 0);
    let mut path = (PathPattern::Prefix("/".to_owned()), 1);
    if let Some(Spanned { value: spec, place }) = spec.path.filter(|_| kind == RouteKind::Http) {
        places.path = Some(place);
        path = http_path(spec, place, report)?;
    }
    match spec.method {
        Some(Spanned { value: MethodSpec::Http(name), place }) if kind == RouteKind::Http => {
            places.method = Some(place);
            methods.push(word_of(&Spanned { value: name, place }, METHODS, report)?.to_owned());
        }
        Some(Spanned { value: MethodSpec::Grpc(spec), place }) if kind == RouteKind::Grpc => {
            places.path = Some(place);
            let (pattern, service_len, own_len) = grpc_path(*spec, place, report)?;
            (path, method_len) = ((pattern, service_len), own_len);
        }
        Some(Spanned { place, .. }) => {
            let expected =
                if kind == RouteKind::Http { "a method such as `GET`" } else { "a mapping (a gRPC method)" };
            report.error(place, format!("expected {expected}"));
            return None;
        }
        None if kind == RouteKind::Grpc => path.1 = 0,
        None => {}
    }
    let headers = values(spec.headers, "headers", LetterCase::Ignored, &mut places.headers, report);
    let query = values(
        spec.query.filter(|_| kind == RouteKind::Http),
        "queryParams",
        LetterCase::Counts,
        &mut places.query,
        report,
    );
    let (path, path_len) = path;
    Some(RouteMatch { path, path_len, method_len, methods, headers, query, places, place })
}

fn http_path(spec: PathSpec, place: SourceSpan, report: &mut ProblemReport) -> Option<(PathPattern, u32)> {
    let kind = match &spec.kind {
        Some(kind) => word_of(kind, &["PathPrefix", "Exact", "RegularExpression"], report)?,
        None => "PathPrefix",
    };
    let (text, place) = spec.value.map_or_else(|| ("/".into(), place), |value| (value.value.0, value.place));
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    if text.len() > PATH_BYTES_MAX {
        report.error(place, format!("the path is too long: at most {PATH_BYTES_MAX} bytes"));
        return None;
    }
    let text = text.to_string();
    if kind == "RegularExpression" {
        return Some((PathPattern::Regex(text), length));
    }
    if let Some(reason) = path_fault(&text) {
        report.error(place, format!("`{}` is not a valid path: {reason}", shown(&text)));
        return None;
    }
    Some((if kind == "Exact" { PathPattern::Exact(text) } else { PathPattern::Prefix(text) }, length))
}

/// Returns the reason why a text is not a path of type `Exact` or `PathPrefix`, or `None` when it is one.
pub(super) fn path_fault(text: &str) -> Option<&'static str> {
    let has = |part: &str| text.contains(part);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte);
    let bytes = text.as_bytes();
    let is_escape =
        |at: usize| bytes.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
    let is_fine = |(at, byte): (usize, &u8)| is_plain(*byte) || (*byte == b'%' && is_escape(at));
    if !text.starts_with('/') {
        Some("it must begin with `/`")
    } else if has("//") {
        Some("it must not contain `//`")
    } else if has("/./") || has("/../") || text.ends_with("/.") || text.ends_with("/..") {
        Some("it must not contain dot segments")
    } else if has("%2f") || has("%2F") {
        Some("it must not contain `%2F`")
    } else if !bytes.iter().enumerate().all(is_fine) {
        Some("it has characters that are not allowed in a path")
    } else {
        None
    }
}

/// Returns the path of a gRPC method, `/package.Service/Method`, and the lengths that determine its rank.
fn grpc_path(
    spec: GrpcMethodSpec,
    place: SourceSpan,
    report: &mut ProblemReport,
) -> Option<(PathPattern, u32, u32)> {
    let kind = match &spec.kind {
        Some(kind) => word_of(kind, &["Exact", "RegularExpression"], report)?,
        None => "Exact",
    };
    let is_given = |text: &Spanned<ApiText>| !text.value.0.is_empty();
    let (service, method) = (spec.service.filter(is_given), spec.method.filter(is_given));
    if service.is_none() && method.is_none() {
        report.error(place, "a gRPC method needs `service`, `method` or both");
        return None;
    }
    let length = |text: &Option<Spanned<ApiText>>| {
        text.as_ref().map_or(0, |text| u32::try_from(text.value.0.len()).unwrap_or(u32::MAX))
    };
    let lengths = (length(&service), length(&method));
    let pattern = if kind == "Exact" {
        for (text, has_dots) in
            service.iter().map(|text| (text, true)).chain(method.iter().map(|text| (text, false)))
        {
            if !is_grpc_name(&text.value.0, has_dots) {
                report
                    .error(text.place, format!("`{}` is not a valid gRPC name", shown(&text.value.0)))
                    .hint("for a regular expression write `type: RegularExpression`");
                return None;
            }
        }
        match (service, method) {
            (Some(service), Some(method)) => {
                PathPattern::Exact(format!("/{}/{}", service.value.0, method.value.0))
            }
            (Some(service), None) => PathPattern::Template(format!("/{}/{{method}}", service.value.0)),
            (None, Some(method)) => PathPattern::Template(format!("/{{service}}/{}", method.value.0)),
            (None, None) => return None,
        }
    } else {
        let part = |text: &Option<Spanned<ApiText>>| {
            text.as_ref().map_or_else(|| "[^/]+".to_owned(), |text| format!("(?:{})", text.value.0))
        };
        PathPattern::Regex(format!("/{}/{}", part(&service), part(&method)))
    };
    Some((pattern, lengths.0, lengths.1))
}

fn is_grpc_name(text: &str, has_dots: bool) -> bool {
    let is_word = |word: &str| {
        let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        word.bytes().next().is_some_and(|first| !first.is_ascii_digit()) && word.bytes().all(is_inner)
    };
    if has_dots { text.strip_prefix('.').unwrap_or(text).split('.').all(is_word) } else { is_word(text) }
}

/// Reads tests of values; of several for the same name, the first counts. `case` is that of names.
fn values(
    specs: Option<Spanned<Vec<Spanned<ValueSpec>>>>,
    what: &str,
    case: LetterCase,
    places: &mut Vec<SourceSpan>,
    report: &mut ProblemReport,
) -> Vec<ValueMatch> {
    let mut values: Vec<ValueMatch> = Vec::new();
    for Spanned { value: spec, place } in counted(specs, 16, what, report) {
        let (Some(name), Some(value)) = (spec.name, spec.value) else { continue };
        let same = |other: &str| match case {
            LetterCase::Ignored => other.eq_ignore_ascii_case(&name.value.0),
            LetterCase::Counts => *other == *name.value.0,
        };
        if values.iter().any(|other| same(&other.name)) {
            report.warning(
                place,
                format!("`{}` is already defined above, and only the first one counts", shown(&name.value.0)),
            );
            continue;
        }
        values.push(ValueMatch::new(&name.value.0, test_of(spec.kind.as_ref(), &value.value.0, report)));
        places.push(place);
    }
    values
}

impl FromNode for MethodSpec {
    fn read(node: &YamlNode<'_>, report: &mut ProblemReport) -> Option<Self> {
        match &node.form {
            YamlNodeKind::Mapping { .. } => {
                GrpcMethodSpec::read(node, report).map(|spec| Self::Grpc(Box::new(spec)))
            }
            YamlNodeKind::Text { .. } | YamlNodeKind::List(_) | YamlNodeKind::Refused => {
                ApiText::read(node, report).map(Self::Http)
            }
        }
    }

    fn shape() -> ValueSchema {
        ValueSchema::Word(WordInfo::text("a method"))
    }

    fn fits(node: &YamlNode<'_>) -> bool {
        matches!(node.form, YamlNodeKind::Text { .. } | YamlNodeKind::Mapping { .. })
    }
}

const METHODS: &[&str] = &["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];
/// Maximum length of a path in a match, in bytes.
const PATH_BYTES_MAX: usize = 1024;
