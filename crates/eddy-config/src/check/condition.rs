//! Conditions of a rule.

use eddy_route::{HostPattern, PathPattern, ValueMatch, ValueTest};

use crate::problem::{Place, Report};
use crate::read::{At, Either, Named, OneOrMany};
use crate::spec::{MatchSpec, PathSpec, ValueSpec};
use crate::value::{PathText, Text};

/// What a request must look like.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    pub(super) hosts: Vec<HostPattern>,
    pub(super) path: PathPattern,
    pub(super) methods: Vec<String>,
    pub(super) headers: Vec<ValueMatch>,
    pub(super) query: Vec<ValueMatch>,
    pub(super) places: ConditionPlaces,
}

/// Where conditions are written, for what the router says of them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ConditionPlaces {
    pub(super) host: Option<Place>,
    pub(super) path: Option<Place>,
    pub(super) method: Option<Place>,
    pub(super) headers: Option<Place>,
    pub(super) query: Option<Place>,
}

/// Checks conditions; those that aren't given hold for every request.
pub(super) fn check_conditions(spec: Option<At<MatchSpec>>, report: &mut Report) -> Conditions {
    let Some(At { value: spec, .. }) = spec else { return Conditions::default() };
    let places = ConditionPlaces {
        host: spec.host.as_ref().map(|host| host.place),
        path: spec.path.as_ref().map(|path| path.place),
        method: spec.method.as_ref().map(|method| method.place),
        headers: spec.headers.as_ref().map(|headers| headers.place),
        query: spec.query.as_ref().map(|query| query.place),
    };
    Conditions {
        hosts: many("host", spec.host, report),
        path: spec.path.map_or(PathPattern::Any, |path| check_path(path.value)),
        methods: many("method", spec.method, report).into_iter().map(|method| method.0).collect(),
        headers: check_values(spec.headers, |name| name.0, report),
        query: check_values(spec.query, |name| name.0, report),
        places,
    }
}

/// The values of a list; an empty one would match nothing, while one that isn't given matches everything.
fn many<T>(key: &str, written: Option<At<OneOrMany<T>>>, report: &mut Report) -> Vec<T> {
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

fn check_path(path: Either<PathText, PathSpec>) -> PathPattern {
    match path {
        Either::One(PathText(prefix)) => PathPattern::Prefix(prefix),
        Either::Other(PathSpec { exact: Some(At { value: PathText(path), .. }), .. }) => {
            PathPattern::Exact(path)
        }
        Either::Other(PathSpec { prefix: Some(At { value: PathText(path), .. }), .. }) => {
            PathPattern::Prefix(path)
        }
        Either::Other(PathSpec { regex: Some(At { value: Text(regex), .. }), .. }) => {
            PathPattern::Regex(regex)
        }
        Either::Other(PathSpec { template: Some(At { value: PathText(path), .. }), .. }) => {
            PathPattern::Template(path)
        }
        // The reader noted that none is given.
        Either::Other(PathSpec { exact: None, prefix: None, regex: None, template: None }) => {
            PathPattern::Any
        }
    }
}

type Condition = Either<Text<4096>, ValueSpec>;

fn check_values<K>(
    named: Option<At<Named<K, Condition>>>,
    text: impl Fn(K) -> String,
    report: &mut Report,
) -> Vec<ValueMatch> {
    let mut matches = Vec::new();
    for entry in named.into_iter().flat_map(|named| named.value.0) {
        let Some(condition) = entry.value else { continue };
        match check_value(condition.value) {
            Some(test) => matches.push(ValueMatch { name: text(entry.name.value), test }),
            None => debug_assert!(report.has_errors(), "the reader noted that no condition is given"),
        }
    }
    matches
}

fn check_value(condition: Condition) -> Option<ValueTest> {
    let spec = match condition {
        Either::One(Text(exact)) => return Some(ValueTest::Exact(exact)),
        Either::Other(spec) => spec,
    };
    let texts: [(Option<At<Text<4096>>>, fn(String) -> ValueTest); 5] = [
        (spec.exact, ValueTest::Exact),
        (spec.prefix, ValueTest::Prefix),
        (spec.suffix, ValueTest::Suffix),
        (spec.contains, ValueTest::Contains),
        (spec.regex, ValueTest::Regex),
    ];
    let presence = |is_present: bool| if is_present { ValueTest::Present } else { ValueTest::Absent };
    let flag = spec.present.map(|present| presence(present.value));
    let flag = flag.or_else(|| spec.absent.map(|absent| presence(!absent.value)));
    let test = texts.into_iter().find_map(|(written, test)| written.map(|written| test(written.value.0)));
    test.or(flag)
}
