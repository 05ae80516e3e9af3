//! Generation of paths that a matcher matches, shorter ones first.

use crate::compile::{
    Caseless, CompiledPathTemplate, CompiledRule, PathExtent, PathMatcher, Pattern, PatternScratch,
    TemplateSegment, is_path,
};
use crate::normalise::{self, Normal};
use crate::rule::PathForm;
use crate::witness::values;

/// Returns some matching paths of a rule, shorter ones first; all are valid request paths.
pub(super) fn paths(rule: &CompiledRule) -> Vec<String> {
    let matcher = &rule.path;
    let mut paths = match matcher {
        PathMatcher::Any => below(""),
        PathMatcher::Exact(path) => vec![path.to_string()],
        PathMatcher::Prefix(prefix) => below(prefix),
        PathMatcher::BytePrefix(prefix) => {
            endings().into_iter().map(|ending| format!("{prefix}{ending}")).collect()
        }
        PathMatcher::Caseless(Caseless { text, reach }) => match reach {
            PathExtent::Exact => vec![text.to_string()],
            PathExtent::Prefix => below(text),
            PathExtent::Below => endings().into_iter().map(|ending| format!("{text}{ending}")).collect(),
        },
        PathMatcher::Template(template) => of_template(template),
        PathMatcher::Regex(expression) => of_pattern(&expression.pattern, &expression.below),
    };
    let mut scratch = PatternScratch::default();
    paths.retain(|path| {
        let is_sendable = match rule.path_form {
            PathForm::Normal => normalise::check(path.as_bytes()) == Ok(Normal::AsIs),
            PathForm::Raw | PathForm::WithoutParameters => is_path(path.as_bytes()),
        };
        is_sendable && matcher.matches(path.as_bytes(), &mut scratch)
    });
    paths.sort_by_key(String::len);
    paths
}

fn below(prefix: &str) -> Vec<String> {
    let below = endings().into_iter().map(|ending| format!("{prefix}/{ending}"));
    std::iter::once(prefix.to_owned()).chain(below).collect()
}

fn of_template(template: &CompiledPathTemplate) -> Vec<String> {
    let mut paths = Vec::new();
    for filler in FILLERS {
        let segments = template.segments.iter().map(|segment| match segment {
            TemplateSegment::Fixed(text) => format!("/{text}"),
            TemplateSegment::Capture(_) => format!("/{filler}"),
        });
        let path: String = segments.collect();
        if template.rest.is_some() {
            paths.extend(below(&path));
        } else {
            paths.push(path);
        }
    }
    paths
}

/// Returns matching values of an expression; also with the prefix in front, for an expression below a prefix.
fn of_pattern(pattern: &Pattern, prefix: &str) -> Vec<String> {
    let values = values::of_pattern(pattern);
    let behind: Vec<String> = values.iter().map(|value| format!("{prefix}{value}")).collect();
    let rooted: Vec<String> = values.iter().map(|value| format!("/{value}")).collect();
    values.into_iter().chain(behind).chain(rooted).collect()
}

/// Returns endings for a prefix: all sequences of up to three bytes from a small alphabet.
fn endings() -> Vec<String> {
    let mut endings = vec![String::new()];
    let mut start = 0;
    for _ in 0..ENDING_BYTES_MAX {
        let end = endings.len();
        for at in start..end {
            for piece in ["a", "/", "~"] {
                endings.push(format!("{}{piece}", endings[at]));
            }
        }
        start = end;
    }
    endings
}

/// Texts for captured segments.
const FILLERS: [&str; 4] = ["a", "~", "0", "a~"];

/// Maximum bytes appended to a prefix.
const ENDING_BYTES_MAX: usize = 3;
