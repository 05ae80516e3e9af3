//! The program of a server or location: its `set`, `rewrite`, `if`, `break` and `return`, in the order of the file.

use super::pattern::SearchPattern;
use super::text::TextTemplate;

/// One step.
#[derive(Debug)]
pub enum RewriteDirective {
    /// `set $name value`.
    Set {
        /// The variable.
        slot: u32,
        /// Its value.
        value: TextTemplate,
    },
    /// `set $args value`.
    SetArgs {
        /// The query.
        value: TextTemplate,
    },
    /// `return`: ends the program and the request.
    Return {
        /// The status; 444 closes the connection.
        status: u16,
        /// The address of a redirect, or the body.
        text: Option<TextTemplate>,
    },
    /// `rewrite`.
    Rewrite(Box<RewriteStep>),
    /// `break`: ends the program.
    Break,
    /// `if`: goes on with the next step if the test passes, else behind those that belong to it.
    If {
        /// The test.
        test: Box<IfCondition>,
        /// The place that stands for what the `if` holds, in a location.
        place: Option<u32>,
        /// How many of the next steps belong to it.
        steps: u32,
    },
}

/// `rewrite expression replacement flag`.
#[derive(Debug)]
pub struct RewriteStep {
    /// The expression, which is looked for in the path.
    pub pattern: SearchPattern,
    /// The replacement: all of it for a redirect, else what stands before its first `?`.
    pub path: TextTemplate,
    /// What stands behind that `?`; a redirect has none.
    pub query: Option<TextTemplate>,
    /// Whether the replacement has a `?`.
    pub has_query: bool,
    /// Whether the request's query is put behind it.
    pub keeps_query: bool,
    /// What happens then.
    pub end: RewriteEnd,
    /// The replacement as written, for people.
    pub text: Box<str>,
}

/// What happens once a `rewrite` has matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RewriteEnd {
    /// The next step, and in the end another search for a location.
    Next,
    /// `last`: another search for a location.
    Last,
    /// `break`: the location is kept.
    Break,
    /// A redirect with this status.
    Redirect(u16),
}

/// The condition of an `if`.
#[expect(clippy::large_enum_variant, reason = "read in place; there are few of them")]
#[derive(Debug)]
pub enum IfCondition {
    /// `($name)`: not empty and not `0`.
    IsSet(TextTemplate),
    /// `($name = text)`, `!=`.
    Equals {
        /// The variable.
        value: TextTemplate,
        /// What it is compared with.
        other: TextTemplate,
        /// Whether it must differ.
        is_negated: bool,
    },
    /// `($name ~ expression)`, `~*`, `!~`, `!~*`.
    Matches {
        /// The variable.
        value: TextTemplate,
        /// The expression.
        pattern: SearchPattern,
        /// Whether it must not match.
        is_negated: bool,
    },
}
