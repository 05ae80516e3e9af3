//! CORS response headers, as ingress-nginx writes them.

use eddy_spec::read::Spanned;

use super::directive::{block, line, words};
use super::settings::Cors;
use crate::nginx::Directive;

/// Adds directives that answer preflight requests to `inner`, before all others; the returned ones come after them.
pub(super) fn cors_lines(cors: &Cors, inner: &mut Vec<Directive>) -> Vec<Directive> {
    let place = cors.place;
    let is_any = cors.origins.is_empty() || cors.origins.iter().any(|origin| origin.value == "*");
    let origin = if is_any { "*" } else { "$http_origin" };
    let age = cors.max_age.to_string();
    let mut fields = vec![("Access-Control-Allow-Origin", origin)];
    if cors.allows_credentials {
        fields.push(("Access-Control-Allow-Credentials", "true"));
    }
    fields.push(("Access-Control-Allow-Methods", &cors.methods));
    fields.push(("Access-Control-Allow-Headers", &cors.headers));
    if !cors.exposed.is_empty() {
        fields.push(("Access-Control-Expose-Headers", &cors.exposed));
    }
    fields.push(("Access-Control-Max-Age", &age));
    let lines: Vec<Directive> =
        fields.iter().map(|(name, value)| line(place, "add_header", &[name, value, "always"])).collect();
    let mut preflight = lines.clone();
    preflight.push(line(place, "return", &["204"]));
    if is_any {
        inner.push(block(place, "if", words(place, &["($request_method", "=", "OPTIONS)"]), preflight));
        return lines;
    }
    inner.push(line(place, "set", &["$cors", ""]));
    let condition = words(place, &["($http_origin", "~*", &format!("{})", origin_pattern(&cors.origins))]);
    inner.push(block(place, "if", condition, vec![line(place, "set", &["$cors", "true"])]));
    let options = words(place, &["($request_method", "=", "OPTIONS)"]);
    inner.push(block(place, "if", options, vec![line(place, "set", &["$cors", "${cors}options"])]));
    inner.push(block(place, "if", words(place, &["($cors", "=", "true)"]), lines));
    inner.push(block(place, "if", words(place, &["($cors", "=", "trueoptions)"]), preflight));
    Vec::new()
}

/// Returns a regular expression for origins, in which `*.` stands for one label.
fn origin_pattern(origins: &[Spanned<String>]) -> String {
    let one = |origin: &str| origin.replace('.', r"\.").replace(r"*\.", r"[A-Za-z0-9-]+\.");
    let all: Vec<String> = origins.iter().map(|origin| one(&origin.value)).collect();
    format!("^({})$", all.join("|"))
}
