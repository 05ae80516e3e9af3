//! Actions of generated routes.

use serde_json::{Value, json};

use crate::draw::SeededRng;

/// Clusters that routes name; all are the same upstream.
pub(crate) const CLUSTERS: [&str; 2] = ["one", "two"];

/// Gives a route an action, and returns the name of its kind.
pub(crate) fn act(
    draw: &mut SeededRng,
    route: &mut Value,
    number: usize,
    templates: &[&str],
) -> &'static str {
    if draw.percent(20) {
        fields(draw, route, "", number);
    }
    match draw.below(100) {
        0..65 => {
            let status = *draw.of(&[200, 200, 200, 200, 403]);
            route["direct_response"] =
                json!({"status": status, "body": {"inline_string": format!("r{number}")}});
            "direct response"
        }
        65..78 => {
            route["redirect"] = redirect(draw, number, !templates.is_empty());
            "redirect"
        }
        _ => {
            route["route"] = forward(draw, number, templates);
            "cluster"
        }
    }
}

fn redirect(draw: &mut SeededRng, number: usize, is_template: bool) -> Value {
    let mut own = json!({});
    match draw.below(6) {
        0 => own["https_redirect"] = true.into(),
        1 => own["scheme_redirect"] = (*draw.of(&["http", "https"])).into(),
        _ => {}
    }
    if draw.percent(30) {
        own["host_redirect"] = format!("new{number}.test").into();
    }
    if draw.percent(15) {
        own["port_redirect"] = (*draw.of(&[80, 443, 8443])).into();
    }
    match draw.below(5) {
        0 => own["path_redirect"] = (*draw.of(&["/new", "/new?n=1", "/"])).into(),
        // Envoy refuses it together with a path template.
        1 if !is_template => own["prefix_rewrite"] = (*draw.of(&["/p", "/p/", "/"])).into(),
        2 => own["regex_rewrite"] = replacement(draw),
        _ => {}
    }
    if draw.percent(20) {
        own["strip_query"] = true.into();
    }
    if draw.percent(40) {
        // FOUND, SEE_OTHER, TEMPORARY_REDIRECT, PERMANENT_REDIRECT. The numbers are used because words in capitals are
        // placeholders here.
        own["response_code"] = (*draw.of(&[1, 2, 3, 4])).into();
    }
    own
}

fn forward(draw: &mut SeededRng, number: usize, templates: &[&str]) -> Value {
    let mut own = if draw.percent(25) {
        // Weights that make the choice deterministic.
        let mut two = json!({"name": "two", "weight": 7});
        if draw.percent(30) {
            fields(draw, &mut two, "share-", number);
        }
        json!({"weighted_clusters": {"clusters": [{"name": "one", "weight": 0}, two]}})
    } else {
        json!({"cluster": *draw.of(&CLUSTERS)})
    };
    if !templates.is_empty() && draw.percent(60) {
        let kind =
            "type.googleapis.com/envoy.extensions.path.rewrite.uri_template.v3.UriTemplateRewriteConfig";
        own["path_rewrite_policy"] = json!({
            "name": "envoy.path.rewrite.uri_template.uri_template_rewriter",
            "typed_config": {"@type": kind, "path_template_rewrite": *draw.of(templates)}
        });
        return own;
    }
    match draw.below(4) {
        0 if templates.is_empty() => {
            own["prefix_rewrite"] = format!("{}{number}", draw.of(&["/p", "/p/", "/"])).into();
        }
        1 => own["regex_rewrite"] = replacement(draw),
        _ => {}
    }
    if draw.below(4) == 0 {
        own["host_rewrite_literal"] = format!("up{number}.test").into();
    }
    own
}

fn replacement(draw: &mut SeededRng) -> Value {
    let (expression, substitution) = *draw.of(&[
        ("a", "z"),
        ("^/(.)(.*)$", r"/\2/of/\1"),
        ("/b", "/"),
        ("^/(a+)", r"/<\1>"),
        ("(?i)/A", "/y"),
        ("[ab]+", r"\0-"),
        ("/", "//"),
    ]);
    json!({"pattern": {"regex": expression}, "substitution": substitution})
}

/// Adds and removes header fields at one level; each level changes what the others do.
pub(crate) fn fields(draw: &mut SeededRng, owner: &mut Value, level: &str, number: usize) {
    let name = format!("x-t-{}", draw.of(&["a", "b", "C"]));
    let header = json!({"key": name, "value": format!("{level}v{number}%%")});
    let how = *draw.of(&["APPEND_IF_EXISTS_OR_ADD", "OVERWRITE_IF_EXISTS_OR_ADD"]);
    let added = json!([{"header": header, "append_action": how}]);
    let removed = json!([*draw.of(&["x-t-a", "x-t-b", "x-t-c"])]);
    let direction = *draw.of(&["request", "request", "response"]);
    match draw.below(4) {
        0 => owner[format!("{direction}_headers_to_remove")] = removed,
        1 => {
            owner[format!("{direction}_headers_to_remove")] = removed;
            owner[format!("{direction}_headers_to_add")] = added;
        }
        _ => owner[format!("{direction}_headers_to_add")] = added,
    }
}
