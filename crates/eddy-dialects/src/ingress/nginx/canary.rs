//! Choice between an upstream and its canary.

use super::directive::{block, line, words};
use super::upstreams::IngressUpstream;
use crate::nginx::{Directive, Targets};

/// Returns the target of `proxy_pass` for an upstream and its canary: the header decides, then the cookie, then the
/// weight.
///
/// A decision that depends on the request becomes a `map` each; one that does not needs no directive.
pub(super) fn choice(
    primary: &str,
    other: &str,
    alternative: &IngressUpstream,
    targets: &mut Targets,
    extra: &mut Vec<Directive>,
) -> String {
    let Some(canary) = &alternative.canary else { return primary.to_owned() };
    let weight = canary.weight.min(canary.weight_total);
    let by_weight = match weight {
        0 => primary.to_owned(),
        weight if weight == canary.weight_total => other.to_owned(),
        weight => {
            let name = format!("{primary}+{other}");
            let shares = vec![(primary.to_owned(), canary.weight_total - weight), (other.to_owned(), weight)];
            targets.splits.insert(name.clone(), shares);
            name
        }
    };
    let mut end = by_weight.clone();
    // Variable names contain the index of the map, which makes them unique.
    let variable = |extra: &[Directive]| format!("$canary_{}", extra.len());
    let yes_no = [("~^always$", other), ("~^never$", primary)];
    if let Some(cookie) = &canary.cookie {
        let name = variable(extra);
        let source = format!("$cookie_{}", cookie.value);
        let rows = yes_no.iter().map(|(key, value)| line(cookie.place, key, &[value]));
        let rows = rows.chain([line(cookie.place, "default", &[&end])]).collect();
        extra.push(block(cookie.place, "map", words(cookie.place, &[&source, &name]), rows));
        end = name;
    }
    if let Some(header) = &canary.header {
        let name = variable(extra);
        let source = format!("$http_{}", header.value.replace('-', "_").to_ascii_lowercase());
        let mut rows = match (&canary.header_value, &canary.header_pattern) {
            (Some(value), _) => {
                let key = format!("~^{}$", escaped(&value.value));
                vec![line(value.place, &key, &[other])]
            }
            (None, Some(pattern)) => vec![line(pattern.place, &format!("~{}", pattern.value), &[other])],
            (None, None) => yes_no.iter().map(|(key, value)| line(header.place, key, &[value])).collect(),
        };
        rows.push(line(header.place, "default", &[&end]));
        extra.push(block(header.place, "map", words(header.place, &[&source, &name]), rows));
        end = name;
    }
    if end.starts_with('$') {
        let mut choices = vec![primary.to_owned(), other.to_owned(), by_weight];
        choices.sort();
        choices.dedup();
        targets.choices.insert(format!("http://{end}"), choices);
    }
    end
}

/// Returns a regular expression that matches the text literally.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}
