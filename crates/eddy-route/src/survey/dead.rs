//! Detection of rules that no request can match.

use crate::compile::{CompiledCondition, CompiledRule, CompiledTest, PathMatcher, PatternScratch};

/// Returns why no request can match a rule, if so.
pub(super) fn contradiction(rule: &CompiledRule) -> Option<String> {
    if let PathMatcher::Regex(expression) = &rule.path {
        let prefix = expression.prefix();
        if prefix.first().is_some_and(|first| !matches!(first, b'/' | b'*')) {
            let shown = prefix.escape_ascii();
            return Some(format!("its paths begin with \"{shown}\", but every path begins with \"/\""));
        }
    }
    if let Some(text) = text_of(&rule.path).filter(|text| text.contains(['?', '#'])) {
        return Some(format!("its paths contain a path delimiter: \"{text}\""));
    }
    if rule.fraction.is_some_and(|fraction| fraction.numerator == 0) {
        return Some("its fraction of the requests is 0".to_owned());
    }
    let values: Vec<&CompiledCondition> = rule.values().collect();
    values.iter().enumerate().find_map(|(at, first)| {
        let mut others = values[at + 1..].iter();
        let second = others.find(|second| contradicts(first, second))?;
        Some(format!("no request matches both {first} and {second}"))
    })
}

/// Returns the text with which paths begin.
fn text_of(path: &PathMatcher) -> Option<&str> {
    match path {
        PathMatcher::Exact(text) | PathMatcher::Prefix(text) | PathMatcher::BytePrefix(text) => Some(text),
        PathMatcher::Caseless(caseless) => Some(&caseless.text),
        PathMatcher::Any | PathMatcher::Template(_) | PathMatcher::Regex(_) => None,
    }
}

/// Whether no request passes both conditions, as far as single values decide.
pub(super) fn contradicts(a: &CompiledCondition, b: &CompiledCondition) -> bool {
    if a.source != b.source || a.name != b.name {
        return false;
    }
    let mut scratch = PatternScratch::default();
    match (&a.test, &b.test) {
        (CompiledTest::Absent, CompiledTest::Absent) => false,
        (CompiledTest::Absent, _) => !b.holds_without(&mut scratch),
        (_, CompiledTest::Absent) => !a.holds_without(&mut scratch),
        // A header may be sent twice and pass two tests with two values.
        _ if !a.is_single() => false,
        (CompiledTest::Exact(value), _) if a.is_plain() => !b.holds_for(value.as_bytes(), &mut scratch),
        (_, CompiledTest::Exact(value)) if b.is_plain() => !a.holds_for(value.as_bytes(), &mut scratch),
        _ if !a.is_plain() || !b.is_plain() => false,
        (CompiledTest::Prefix(a), CompiledTest::Prefix(b)) => {
            !a.starts_with(b.as_ref()) && !b.starts_with(a.as_ref())
        }
        (CompiledTest::Suffix(a), CompiledTest::Suffix(b)) => {
            !a.ends_with(b.as_ref()) && !b.ends_with(a.as_ref())
        }
        _ => false,
    }
}
