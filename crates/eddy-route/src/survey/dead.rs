//! Rules that no request can pass.

use crate::compile::{CompiledRule, Condition, PathMatcher, PatternScratch, Source, Test};

/// Why no request can pass a rule, if so.
pub(super) fn contradiction(rule: &CompiledRule) -> Option<String> {
    if let PathMatcher::Regex(expression) = &rule.path {
        let prefix = expression.prefix();
        if prefix.first().is_some_and(|first| !matches!(first, b'/' | b'*')) {
            let shown = prefix.escape_ascii();
            return Some(format!("its paths begin with \"{shown}\", but every path begins with \"/\""));
        }
    }
    let values: Vec<&Condition> = rule.values().collect();
    values.iter().enumerate().find_map(|(at, first)| {
        let mut others = values[at + 1..].iter();
        let second = others.find(|second| contradicts(first, second))?;
        Some(format!("no request passes both {first} and {second}"))
    })
}

/// Whether no request passes both conditions, as far as single values tell.
pub(super) fn contradicts(a: &Condition, b: &Condition) -> bool {
    if a.source != b.source || a.name != b.name {
        return false;
    }
    match (&a.test, &b.test) {
        (Test::Absent, other) | (other, Test::Absent) => !matches!(other, Test::Absent),
        // A header may be sent twice and pass two tests with two values.
        _ if a.source != Source::Query => false,
        (Test::Exact(value), other) | (other, Test::Exact(value)) => {
            !other.passes(value.as_bytes(), &mut PatternScratch::default())
        }
        (Test::Prefix(a), Test::Prefix(b)) => !a.starts_with(b.as_ref()) && !b.starts_with(a.as_ref()),
        (Test::Suffix(a), Test::Suffix(b)) => !a.ends_with(b.as_ref()) && !b.ends_with(a.as_ref()),
        _ => false,
    }
}
