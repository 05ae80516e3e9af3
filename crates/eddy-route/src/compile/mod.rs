//! Compilation of rules: checked text becomes matchers that can be evaluated on a request.

mod condition;
mod cookie;
mod host;
mod library;
mod match_context;
mod path;
mod pattern;
mod pattern_set;
mod product;
mod replace;
mod rewrite;
mod rule;
mod template;
#[cfg(test)]
mod tests;

pub(crate) use condition::{CompiledCondition, CompiledTest, ConditionSource, TextTest};
pub(crate) use host::HostKey;
pub(crate) use library::PatternCache;
pub(crate) use match_context::{RequestPart, RuleMatchContext, Work};
pub(crate) use path::{Caseless, PathExtent, PathMatcher, strip_parameters};
pub(crate) use pattern::{Groups, Pattern, PatternScratch, RegexMatchMode, parse};
pub(crate) use pattern_set::PatternSet;
pub(crate) use product::{ComparisonBudget, covers, overlap};
pub use rewrite::RewriteFault;
pub(crate) use rewrite::is_path;
pub use rule::CompiledRule;
pub(crate) use rule::RuleMismatch;
pub(crate) use template::{CompiledPathTemplate, TemplateSegment};
