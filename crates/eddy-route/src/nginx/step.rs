//! Rewrite directives of a server or location: `set`, `rewrite`, `if`, `break` and `return`, in file order.

use super::pattern::SearchPattern;
use super::text::TextTemplate;

/// A directive.
#[derive(Debug)]
pub enum RewriteDirective {
    /// `set $name value`.
    Set {
        /// Variable.
        slot: u32,
        /// Value.
        value: TextTemplate,
    },
    /// `set $args value`.
    SetArgs {
        /// Query.
        value: TextTemplate,
    },
    /// `return`: ends the directives and responds.
    Return {
        /// Status; 444 closes the connection.
        status: u16,
        /// Address of a redirect, or body.
        text: Option<TextTemplate>,
    },
    /// `rewrite`.
    Rewrite(Box<RewriteStep>),
    /// `break`: ends the directives.
    Break,
    /// `if`: continues with the next directive if the condition holds, else after its block.
    If {
        /// Condition.
        test: Box<IfCondition>,
        /// Place that represents the content of the `if`, in a location.
        place: Option<u32>,
        /// Number of following directives in its block.
        steps: u32,
    },
}

/// `rewrite expression replacement flag`.
#[derive(Debug)]
pub struct RewriteStep {
    /// Expression that is searched for in the path.
    pub pattern: SearchPattern,
    /// Replacement: all of it for a redirect, else the part before its first `?`.
    pub path: TextTemplate,
    /// Part after that `?`; `None` for a redirect.
    pub query: Option<TextTemplate>,
    /// Whether the replacement has a `?`.
    pub has_query: bool,
    /// Whether the query of the request is appended.
    pub keeps_query: bool,
    /// Continuation after a match.
    pub end: RewriteEnd,
    /// Replacement as written, for explanations.
    pub text: Box<str>,
}

/// Continuation after a matching `rewrite`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RewriteEnd {
    /// The next directive, and at the end another location search.
    Next,
    /// `last`: another location search.
    Last,
    /// `break`: the location is kept.
    Break,
    /// A redirect with this status.
    Redirect(u16),
}

/// Condition of an `if`.
#[expect(clippy::large_enum_variant, reason = "read in place; there are few of them")]
#[derive(Debug)]
pub enum IfCondition {
    /// `($name)`: not empty and not `0`.
    IsSet(TextTemplate),
    /// `($name = text)`, `!=`.
    Equals {
        /// Variable.
        value: TextTemplate,
        /// Text that it is compared with.
        other: TextTemplate,
        /// Whether it must differ.
        is_negated: bool,
    },
    /// `($name ~ expression)`, `~*`, `!~`, `!~*`.
    Matches {
        /// Variable.
        value: TextTemplate,
        /// Expression.
        pattern: SearchPattern,
        /// Whether it must not match.
        is_negated: bool,
    },
}
