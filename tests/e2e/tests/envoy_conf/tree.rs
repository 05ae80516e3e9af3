//! Random matcher trees.

use serde_json::{Map, Value, json};

use crate::draw::SeededRng;
use crate::generate::RouteConfigGenerator;
use crate::matches::{GeneratedRouteMatch, string};

/// Returns a `Matcher`, and adds the matches of its routes to `all`.
pub(crate) fn matcher(
    maker: &mut RouteConfigGenerator<'_>,
    depth: usize,
    all: &mut Vec<GeneratedRouteMatch>,
) -> Value {
    let mut own = json!({});
    if maker.draw.percent(40) {
        let entries: Vec<Value> = (0..=maker.draw.below(3))
            .map(|_| {
                let before = all.len();
                let on_match = on_match(maker, depth, all);
                let mut needed = Vec::new();
                let predicate = predicate(maker.draw, 0, &mut needed);
                need(all, before, &needed);
                json!({"predicate": predicate, "on_match": on_match})
            })
            .collect();
        maker.count("matcher_list");
        own["matcher_list"] = json!({"matchers": entries});
    } else {
        own["matcher_tree"] = map(maker, depth, all);
    }
    if maker.draw.percent(50) {
        own["on_no_match"] = on_match(maker, depth, all);
    }
    own
}

fn map(maker: &mut RouteConfigGenerator<'_>, depth: usize, all: &mut Vec<GeneratedRouteMatch>) -> Value {
    let kind = *maker.draw.of(&["exact_match_map", "prefix_match_map"]);
    let (name, keys): (&str, &[&str]) = match maker.draw.below(3) {
        0 => ("m", &["1", "12", "a", "ab"]),
        _ if kind == "exact_match_map" => (":path", &["/a", "/a/b", "/a?q=1", "/"]),
        _ => (":path", &["/", "/a", "/a/b", "/ab", "/b", "/a?"]),
    };
    let mut entries = Map::new();
    for _ in 0..=maker.draw.below(3) {
        let key = *maker.draw.of(keys);
        let before = all.len();
        let on_match = on_match(maker, depth, all);
        if name == "m" {
            need(all, before, &[("m".to_owned(), key.to_owned())]);
        } else if maker.draw.percent(70) {
            for wanted in all.iter_mut().skip(before) {
                key.trim_end_matches('?').clone_into(&mut wanted.path);
            }
        }
        entries.insert(key.to_owned(), on_match);
    }
    maker.count(kind);
    json!({"input": input(name), kind: {"map": entries}})
}

fn on_match(maker: &mut RouteConfigGenerator<'_>, depth: usize, all: &mut Vec<GeneratedRouteMatch>) -> Value {
    if depth < 2 && maker.draw.percent(25) {
        return json!({"matcher": matcher(maker, depth + 1, all)});
    }
    let action = if maker.draw.percent(70) {
        let mut route = maker.route(all);
        route["@type"] = "type.googleapis.com/envoy.config.route.v3.Route".into();
        route
    } else {
        let routes: Vec<Value> = (0..=maker.draw.below(2)).map(|_| maker.route(all)).collect();
        json!({"@type": "type.googleapis.com/envoy.config.route.v3.RouteList", "routes": routes})
    };
    json!({"action": {"name": "route", "typed_config": action}})
}

fn predicate(draw: &mut SeededRng, depth: usize, needed: &mut Vec<(String, String)>) -> Value {
    match draw.below(if depth < 2 { 6 } else { 3 }) {
        3 => json!({"not_matcher": predicate(draw, depth + 1, &mut Vec::new())}),
        kind @ (4 | 5) => {
            let parts: Vec<Value> = (0..2).map(|_| predicate(draw, depth + 1, needed)).collect();
            json!({if kind == 4 { "or_matcher" } else { "and_matcher" }: {"predicate": parts}})
        }
        _ => {
            let name = *draw.of(&["m", "n"]);
            let (test, value) = string(draw);
            needed.push((name.to_owned(), value));
            json!({"single_predicate": {"input": input(name), "value_match": with_engine(test)}})
        }
    }
}

/// Adds the engine to regular expressions, which is required there.
fn with_engine(mut test: Value) -> Value {
    if let Some(expression) = test.get_mut("safe_regex") {
        expression["google_re2"] = json!({});
    }
    test
}

fn input(name: &str) -> Value {
    let kind = "type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput";
    json!({"name": "header", "typed_config": {"@type": kind, "header_name": name}})
}

/// Adds these fields to the needs of routes made since `before`; each field once, because Envoy joins several lines
/// for matchers.
fn need(all: &mut [GeneratedRouteMatch], before: usize, fields: &[(String, String)]) {
    for wanted in all.iter_mut().skip(before) {
        for (name, value) in fields {
            if wanted.fields.iter().all(|(own, _)| own != name) {
                wanted.fields.push((name.clone(), value.clone()));
            }
        }
    }
}
