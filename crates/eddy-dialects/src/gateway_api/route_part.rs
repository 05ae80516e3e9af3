//! Parts of routes: kinds, matches and references to backends.

use eddy_check::ConditionPositions;
use eddy_http::FieldEdits;
use eddy_route::{PathPattern, ValueMatch, ValueTest};
use eddy_spec::problem::{ProblemReport, SourceSpan, shown};
use eddy_spec::read::Spanned;
use eddy_spec::value::ObjectName;

use crate::kubernetes::ApiText;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RouteKind {
    /// An HTTPRoute.
    Http,
    /// A GRPCRoute.
    Grpc,
}

/// Alternative match of a rule.
#[derive(Debug)]
pub(super) struct RouteMatch {
    pub(super) path: PathPattern,
    /// Length of the path as written; for gRPC, of the service.
    pub(super) path_len: u32,
    /// For gRPC, length of the method.
    pub(super) method_len: u32,
    /// HTTP methods.
    pub(super) methods: Vec<String>,
    /// Header conditions.
    pub(super) headers: Vec<ValueMatch>,
    /// Query parameter conditions.
    pub(super) query: Vec<ValueMatch>,
    pub(super) places: ConditionPositions,
    pub(super) place: SourceSpan,
}

/// Backend that requests are sent to.
#[derive(Debug)]
pub(super) struct BackendRef {
    /// Group and kind, if it is not a Service.
    pub(super) other_kind: Option<String>,
    pub(super) service: ObjectName,
    pub(super) port: u16,
    pub(super) weight: u32,
    /// Edits of request headers.
    pub(super) request_edits: FieldEdits,
    /// Edits of response headers.
    pub(super) response_edits: FieldEdits,
    pub(super) place: SourceSpan,
}

impl RouteKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Http => "HTTPRoute",
            Self::Grpc => "GRPCRoute",
        }
    }
}

/// Returns the elements of a list; more than `most` are reported.
pub(super) fn counted<T>(
    list: Option<Spanned<Vec<Spanned<T>>>>,
    most: usize,
    what: &str,
    report: &mut ProblemReport,
) -> Vec<Spanned<T>> {
    let Some(Spanned { value: list, place }) = list else { return Vec::new() };
    if list.len() > most {
        report.error(place, format!("{} {what} are too many: the API allows {most}", list.len()));
    }
    list
}

/// Returns the word of `words` that is written; any other is reported.
pub(super) fn word_of(
    text: &Spanned<ApiText>,
    words: &[&'static str],
    report: &mut ProblemReport,
) -> Option<&'static str> {
    let found = words.iter().find(|word| ***word == *text.value.0).copied();
    if found.is_none() {
        let meant = report.closest(&text.value.0, words.iter().copied());
        let message =
            format!("expected {}, found `{}`", eddy_spec::read::listed(words, "or"), shown(&text.value.0));
        let told = report.error(text.place, message);
        if let Some(meant) = meant {
            told.hint(format!("did you mean `{meant}`?"));
        }
    }
    found
}

/// Returns a test of a value; regular expressions match the whole value.
pub(super) fn test_of(kind: Option<&Spanned<ApiText>>, value: &str, report: &mut ProblemReport) -> ValueTest {
    match kind.and_then(|kind| word_of(kind, &["Exact", "RegularExpression"], report)) {
        Some("RegularExpression") => ValueTest::Regex(value.to_owned()),
        Some(_) | None => ValueTest::Exact(value.to_owned()),
    }
}
