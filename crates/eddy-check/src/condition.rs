//! Checks the conditions of a rule.

use eddy_route::{HostPattern, PathPattern, ValueMatch, ValueTest};
use eddy_spec::problem::{ProblemReport, SourceSpan};
use eddy_spec::read::{Boxed, Either, NamedMap, OneOrMany, Spanned};
use eddy_spec::spec::{MatchSpec, PathSpec, ValueSpec};
use eddy_spec::value::{BoundedText, PathText};

/// Checked conditions on a request.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    pub(super) hosts: Vec<HostPattern>,
    pub(super) path: PathPattern,
    pub(super) methods: Vec<String>,
    pub(super) headers: Vec<ValueMatch>,
    pub(super) query: Vec<ValueMatch>,
    pub(super) places: ConditionPositions,
}

/// Positions of the conditions, for messages of the router.
#[derive(Clone, Debug, Default)]
pub struct ConditionPositions {
    /// Hosts.
    pub host: Option<SourceSpan>,
    /// Path.
    pub path: Option<SourceSpan>,
    /// Methods.
    pub method: Option<SourceSpan>,
    /// One for each header condition.
    pub headers: Vec<SourceSpan>,
    /// One for each query condition.
    pub query: Vec<SourceSpan>,
}

/// Checks conditions; a condition that is not given matches every request.
pub(super) fn check_conditions(
    spec: Option<Spanned<Boxed<MatchSpec>>>,
    report: &mut ProblemReport,
) -> Conditions {
    let Some(Spanned { value: Boxed(spec), .. }) = spec else { return Conditions::default() };
    let mut places = ConditionPositions {
        host: spec.host.as_ref().map(|host| host.place),
        path: spec.path.as_ref().map(path_place),
        method: spec.method.as_ref().map(|method| method.place),
        headers: Vec::new(),
        query: Vec::new(),
    };
    Conditions {
        hosts: many("host", spec.host, report),
        path: spec.path.map_or(PathPattern::Any, |path| check_path(path.value)),
        methods: many("method", spec.method, report).into_iter().map(|method| method.0).collect(),
        headers: check_values(spec.headers, |name| name.0, &mut places.headers),
        query: check_values(spec.query, |name| name.0, &mut places.query),
        places,
    }
}

/// Returns the values of a list. An empty list is an error: it would match nothing, while a list that is not given
/// matches everything.
fn many<T>(key: &str, written: Option<Spanned<OneOrMany<T>>>, report: &mut ProblemReport) -> Vec<T> {
    let Some(written) = written else { return Vec::new() };
    let place = written.place;
    let many = OneOrMany::into_many(written);
    if many.is_empty() {
        report
            .error(place, format!("`{key}` is an empty list"))
            .hint(format!("leave `{key}` out to match any"));
    }
    many.into_iter().map(|one| one.value).collect()
}

/// Returns the position of the path text.
fn path_place(path: &Spanned<Either<PathText, Boxed<PathSpec>>>) -> SourceSpan {
    match &path.value {
        Either::One(_) => path.place,
        Either::Other(Boxed(spec)) => {
            let place = |written: &Option<Spanned<PathText>>| written.as_ref().map(|written| written.place);
            let regex = spec.regex.as_ref().map(|regex| regex.place);
            let written = [place(&spec.exact), place(&spec.prefix), regex, place(&spec.template)];
            written.into_iter().flatten().next().unwrap_or(path.place)
        }
    }
}

fn check_path(path: Either<PathText, Boxed<PathSpec>>) -> PathPattern {
    let spec = match path {
        Either::One(PathText(prefix)) => return PathPattern::Prefix(prefix),
        Either::Other(Boxed(spec)) => spec,
    };
    let text = |written: Option<Spanned<PathText>>| written.map(|written| written.value.0);
    let patterns = [
        text(spec.exact).map(PathPattern::Exact),
        text(spec.prefix).map(PathPattern::Prefix),
        spec.regex.map(|regex| PathPattern::Regex(regex.value.0)),
        text(spec.template).map(PathPattern::Template),
    ];
    // The reader has reported if none or several are given.
    patterns.into_iter().flatten().next().unwrap_or_default()
}

type ValueConditionSpec = Either<BoundedText<4096>, Boxed<ValueSpec>>;

fn check_values<K>(
    named: Option<Spanned<NamedMap<K, ValueConditionSpec>>>,
    text: impl Fn(K) -> String,
    places: &mut Vec<SourceSpan>,
) -> Vec<ValueMatch> {
    let mut matches = Vec::new();
    for entry in named.into_iter().flat_map(|named| named.value.0) {
        // The reader has reported a condition that is missing or wrong.
        let Some(condition) = entry.value else { continue };
        let Some(test) = check_value(condition.value) else { continue };
        matches.push(ValueMatch::new(&text(entry.name.value), test));
        places.push(condition.place);
    }
    matches
}

fn check_value(condition: ValueConditionSpec) -> Option<ValueTest> {
    let spec = match condition {
        Either::One(BoundedText(exact)) => return Some(ValueTest::Exact(exact)),
        Either::Other(Boxed(spec)) => spec,
    };
    let text = |written: Option<Spanned<BoundedText<4096>>>| written.map(|written| written.value.0);
    let presence = |is_present: bool| if is_present { ValueTest::Present } else { ValueTest::Absent };
    let tests = [
        text(spec.exact).map(ValueTest::Exact),
        text(spec.prefix).map(ValueTest::Prefix),
        text(spec.suffix).map(ValueTest::Suffix),
        text(spec.contains).map(ValueTest::Contains),
        text(spec.regex).map(ValueTest::Regex),
        spec.present.map(|present| presence(present.value)),
        spec.absent.map(|absent| presence(!absent.value)),
    ];
    tests.into_iter().flatten().next()
}
