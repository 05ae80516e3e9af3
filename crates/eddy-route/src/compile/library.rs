//! Cache of compiled regular expressions: each is compiled once, however many rules of a router use it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::compile::pattern::{Groups, Pattern, RegexMatchMode};
use crate::error::RouteProblem;
use crate::rule::PathForm;

/// The path expressions compiled so far, and the path form of the current table.
#[derive(Debug, Default)]
pub(crate) struct PatternCache {
    pub(crate) form: PathForm,
    patterns: HashMap<PatternCacheKey, Arc<Pattern>>,
}

/// Input of the compilation of a pattern.
#[derive(Debug, PartialEq, Eq, Hash)]
struct PatternCacheKey {
    text: Box<str>,
    form: RegexMatchMode,
    groups: Groups,
}

impl PatternCache {
    /// Returns the pattern of an expression, compiling it if it is new.
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
