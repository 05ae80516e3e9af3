//! What the rules of a router share while they are compiled: each expression is compiled once, however many rules have it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::compile::pattern::{Groups, Pattern, RegexMatchMode};
use crate::error::RouteProblem;
use crate::rule::PathForm;

/// The expressions of paths so far, and how the table in hand reads requests.
#[derive(Debug, Default)]
pub(crate) struct PatternCache {
    pub(crate) form: PathForm,
    patterns: HashMap<PatternCacheKey, Arc<Pattern>>,
}

/// What a pattern is compiled from.
#[derive(Debug, PartialEq, Eq, Hash)]
struct PatternCacheKey {
    text: Box<str>,
    form: RegexMatchMode,
    groups: Groups,
}

impl PatternCache {
    /// The pattern of an expression.
    pub(crate) fn pattern(
        &mut self,
        text: &str,
        form: RegexMatchMode,
        groups: Groups,
    ) -> Result<Arc<Pattern>, RouteProblem> {
        let key = PatternCacheKey { text: text.into(), form, groups };
        if let Some(known) = self.patterns.get(&key) {
            return Ok(Arc::clone(known));
        }
        let pattern = Arc::new(Pattern::build(text, form, groups)?);
        self.patterns.insert(key, Arc::clone(&pattern));
        Ok(pattern)
    }
}
