//! Match conditions of generated routes.

use serde_json::{Map, Value, json};

use crate::draw::SeededRng;

/// Paths. Few, so that routes overlap.
pub(crate) const PATHS: [&str; 16] = [
    "/", "/a", "/b", "/a/", "/a/b", "/ab", "/a/b/c", "/A", "//a", "/a;b", "/a%61", "/a.b", "/aa", "/b/a",
    "/a/b/", "/b/A",
];
const SEGMENTS: [&str; 6] = ["/a", "/b", "/a/b", "/ab", "//a", "/A"];
/// Regular expressions, each with a path that matches.
const EXPRESSIONS: [(&str, &str); 14] = [
    ("/a.*", "/abc"),
    ("/[ab]+", "/ab"),
    ("/a(/.*)?", "/a/b"),
    (".*", "/b"),
    ("/a/b", "/a/b"),
    ("/(a|b)/[^/]+", "/b/a"),
    ("(?i)/A+", "/aA"),
    (r"/\w+", "/a_1"),
    (r"/a\.b", "/a.b"),
    ("/aa?b*", "/aabb"),
    ("/[[:alpha:]]/.*", "/a/b/"),
    ("/(?:a|ab)(?:c|bcd)?", "/abcd"),
    (r"/\Qa.b\E", "/a.b"),
    ("/[^/]*/b/?", "/a/b"),
];
pub(crate) const VALUES: [&str; 10] = ["1", "2", "12", "ab", "A", "a", "", "1,2", "-1", "5"];
/// Regular expressions, each with a value that matches.
const VALUE_EXPRESSIONS: [(&str, &str); 6] =
    [("1.*", "12"), ("[12]+", "2"), (".*2", "12"), ("a|b", "a"), ("a?", ""), (r"\d+", "5")];

/// Path templates, each with a path that matches and rewritten paths that use its variables.
const TEMPLATES: [(&str, &str, &[&str]); 7] = [
    ("/a/*", "/a/b", &["/new"]),
    ("/{x}", "/ab", &["/n/{x}", "/{x}{x}"]),
    ("/{x}/b/{y=**}", "/a/b/c/d", &["/{y}", "/{y}/{x}"]),
    ("/**.b", "/a/x.b", &["/n"]),
    ("/a/{rest=b/*}", "/a/b/c", &["/{rest}/end"]),
    ("/*/*/", "/a/b/", &["/n/"]),
    ("/a/{x}.c", "/a/b.c", &["/{x}"]),
];

/// A `RouteMatch`, and the requirements on a request that matches it.
pub(crate) struct GeneratedRouteMatch {
    pub(crate) json: Value,
    pub(crate) path: String,
    pub(crate) method: Option<&'static str>,
    pub(crate) fields: Vec<(String, String)>,
    pub(crate) query: Vec<(String, String)>,
    /// Rewrites that the path template allows.
    pub(crate) rewrites: &'static [&'static str],
}

pub(crate) fn route_match(draw: &mut SeededRng) -> GeneratedRouteMatch {
    let mut own = Map::new();
    let (path, rewrites) = path(draw, &mut own);
    let mut wanted = GeneratedRouteMatch {
        json: Value::Null,
        path,
        method: None,
        fields: Vec::new(),
        query: Vec::new(),
        rewrites,
    };
    if draw.percent(35) {
        let count = *draw.of(&[1, 1, 2]);
        let headers: Vec<Value> = (0..count).map(|_| header(draw, &mut wanted)).collect();
        own.insert("headers".to_owned(), headers.into());
    }
    if draw.percent(30) {
        let count = *draw.of(&[1, 1, 1, 2]);
        let parameters: Vec<Value> = (0..count).map(|_| parameter(draw, &mut wanted)).collect();
        own.insert("query_parameters".to_owned(), parameters.into());
    }
    if draw.percent(10) {
        own.insert("cookies".to_owned(), json!([cookie(draw, &mut wanted)]));
    }
    if draw.percent(4) {
        own.insert("grpc".to_owned(), json!({}));
        wanted.fields.push(("content-type".to_owned(), "application/grpc+proto".to_owned()));
    }
    if draw.percent(6) {
        // Fractions that make the result deterministic.
        let (numerator, denominator) =
            *draw.of(&[(0, "HUNDRED"), (100, "HUNDRED"), (10_000, "TEN_THOUSAND"), (0, "MILLION")]);
        let value = json!({"numerator": numerator, "denominator": denominator});
        own.insert(
            "runtime_fraction".to_owned(),
            json!({"default_value": value, "runtime_key": "none.such"}),
        );
    }
    wanted.json = own.into();
    wanted
}

/// Returns a path, and the rewrites that its template allows.
fn path(draw: &mut SeededRng, own: &mut Map<String, Value>) -> (String, &'static [&'static str]) {
    if draw.percent(10) {
        let (template, path, rewrites) = *draw.of(&TEMPLATES);
        let kind = "type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig";
        let policy = json!({
            "name": "envoy.path.match.uri_template.uri_template_matcher",
            "typed_config": {"@type": kind, "path_template": template}
        });
        own.insert("path_match_policy".to_owned(), policy);
        return (path.to_owned(), rewrites);
    }
    (plain_path(draw, own), &[])
}

fn plain_path(draw: &mut SeededRng, own: &mut Map<String, Value>) -> String {
    let kind = *draw.of(&["prefix", "prefix", "path", "path_separated_prefix", "safe_regex"]);
    if kind == "safe_regex" {
        let (expression, path) = *draw.of(&EXPRESSIONS);
        own.insert(kind.to_owned(), json!({"regex": expression}));
        return path.to_owned();
    }
    let text = if kind == "path_separated_prefix" { *draw.of(&SEGMENTS) } else { *draw.of(&PATHS) };
    own.insert(kind.to_owned(), text.into());
    if draw.percent(25) {
        own.insert("case_sensitive".to_owned(), false.into());
        if draw.percent(50) {
            return text.to_ascii_uppercase();
        }
    }
    text.to_owned()
}

fn header(draw: &mut SeededRng, wanted: &mut GeneratedRouteMatch) -> Value {
    let name = *draw.of(&["x", "y", "x", "X-Y", ":method", "host", ":path", ":authority", ":scheme"]);
    let mut own = json!({"name": name});
    let mut value = None;
    match *draw.of(&["string", "string", "string", "present", "range", "none", "absent"]) {
        "string" if name == ":method" => {
            let method = *draw.of(&["GET", "POST", "DELETE"]);
            own["string_match"] = json!({"exact": method});
            wanted.method = Some(method);
        }
        "string" if name == ":path" => {
            own["string_match"] = draw
                .of(&[json!({"prefix": "/a"}), json!({"exact": "/a/b?q=1"}), json!({"contains": "?"})])
                .clone();
        }
        "string" if matches!(name, "host" | ":authority") => {
            own["string_match"] = draw.of(&[json!({"exact": "t0.test"}), json!({"suffix": "test"})]).clone();
        }
        "string" if name == ":scheme" => own["string_match"] = json!({"exact": *draw.of(&["http", "https"])}),
        "string" => {
            let (test, sample) = string(draw);
            own["string_match"] = test;
            value = Some(sample);
        }
        "present" => {
            own["present_match"] = true.into();
            value = Some("2".to_owned());
        }
        "absent" => own["present_match"] = false.into(),
        "range" => {
            own["range_match"] = json!({"start": *draw.of(&[-3, 0, 2]), "end": *draw.of(&[2, 13])});
            value = Some((*draw.of(&["1", "2", "12", "-1"])).to_owned());
        }
        _ => value = Some("1".to_owned()),
    }
    if draw.percent(25) {
        own["invert_match"] = true.into();
    }
    if draw.percent(25) {
        own["treat_missing_header_as_empty"] = true.into();
    }
    if let Some(value) = value.filter(|_| !name.starts_with(':') && name != "host") {
        wanted.fields.push((name.to_owned(), value));
    }
    own
}

fn parameter(draw: &mut SeededRng, wanted: &mut GeneratedRouteMatch) -> Value {
    let name = *draw.of(&["q", "r"]);
    let mut own = json!({"name": name});
    let mut value = Some("1".to_owned());
    match *draw.of(&["string", "string", "string", "present", "absent", "none"]) {
        "string" => {
            let (test, sample) = string(draw);
            own["string_match"] = test;
            value = Some(sample);
        }
        "present" => own["present_match"] = true.into(),
        "absent" => {
            own["present_match"] = false.into();
            value = None;
        }
        _ => {}
    }
    wanted.query.extend(value.map(|value| (name.to_owned(), value)));
    own
}

fn cookie(draw: &mut SeededRng, wanted: &mut GeneratedRouteMatch) -> Value {
    let name = *draw.of(&["c", "d"]);
    let (test, value) = string(draw);
    let mut own = json!({"name": name, "string_match": test});
    if draw.percent(30) {
        own["invert_match"] = true.into();
    }
    let line = match draw.below(4) {
        0 => format!("{name}=\"{value}\""),
        1 => format!("e=1; {name}={value};d=2"),
        2 => format!("{name}={value}; {name}=12"),
        _ => format!("{name}={value}"),
    };
    wanted.fields.push(("cookie".to_owned(), line));
    own
}

/// Returns a `StringMatcher`, and a value that it matches.
pub(crate) fn string(draw: &mut SeededRng) -> (Value, String) {
    let kind = *draw.of(&["exact", "prefix", "suffix", "contains", "safe_regex"]);
    if kind == "safe_regex" {
        let (expression, value) = *draw.of(&VALUE_EXPRESSIONS);
        return (json!({"safe_regex": {"regex": expression}}), value.to_owned());
    }
    let text = *draw.of(&["1", "2", "12", "ab", "A"]);
    let mut own = json!({kind: text});
    if draw.percent(30) {
        own["ignore_case"] = true.into();
        return (own, text.to_ascii_lowercase());
    }
    let sample = match kind {
        "prefix" => format!("{text}2"),
        "suffix" => format!("1{text}"),
        _ => text.to_owned(),
    };
    (own, sample)
}
