//! HTTP mapping of methods: `google.api.http` rules, lookup of the method of a request, and the fields that path and
//! query set.

mod bind;
mod error;
mod index;
mod load;
mod options;
mod percent;
mod route;
mod rule;
mod template;
mod trie;

pub use error::{HttpBindError, HttpRuleError, HttpRuleProblem};
pub use index::{HttpIndex, HttpRouteLookup};
pub use options::HttpIndexOptions;
pub use route::{HttpBodyBinding, HttpRoute, PathPart, PathParts};
