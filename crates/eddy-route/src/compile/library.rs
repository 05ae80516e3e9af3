//! Cache of compiled regular expressions: each is compiled once, however many rules of a router use it.

use std::collections::HashMap;

use eddy_ids::Shared;

use crate::compile::pattern::{Groups, Pattern, RegexMatchMode};
use crate::error::RouteProblem;
use crate::rule::PathForm;

/// The path expressions compiled so far, and the path form of the current table.
#[derive(Debug, Default)]
pub(crate) struct PatternCache {
    pub(crate) form: PathForm,
    patterns: HashMap<PatternCacheKey, Shared<Pattern>>,
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
    ) -> Result<Shared<Pattern>, RouteProblem> {
        let key = PatternCacheKey { text: text.into(), form, groups };
        if let Some(known) = self.patterns.get(&key) {
            return Ok(Shared::clone(known));
        }
        let pattern = Shared::new(Pattern::build(text, form, groups)?);
        self.patterns.insert(key, Shared::clone(&pattern));
        Ok(pattern)
    }
}
