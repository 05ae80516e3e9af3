//! What can be wrong with a rule, told with where it is written and what to do.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use crate::normalise::PathFault;
use crate::rule::{Rule, SourceLocation};

/// A rule that cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteError {
    /// Where the rule is written.
    pub origin: SourceLocation,
    /// The rule's name.
    pub rule: Arc<str>,
    /// What is wrong with it.
    pub problem: RouteProblem,
}

impl RouteError {
    pub(crate) fn new(rule: &Rule, problem: RouteProblem) -> Self {
        Self { origin: rule.origin.clone(), rule: Arc::clone(&rule.name), problem }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        self.problem.hint()
    }
}

impl fmt::Display for RouteError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: rule \"{}\": {}", self.origin, self.rule, self.problem)
    }
}

impl std::error::Error for RouteError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.problem)
    }
}

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RouteProblem {
    /// A host is not a host name or address.
    #[error("\"{host}\" is not a host: {reason}")]
    Host {
        /// The host as written.
        host: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A path can match no request, since such paths are refused.
    #[error("the path \"{path}\" can match no request: {}", fault.reason())]
    Path {
        /// The path as written.
        path: String,
        /// Why requests with it are refused.
        fault: PathFault,
    },
    /// A template's captures are not well written.
    #[error("the template \"{template}\" is not well formed: {reason}")]
    Template {
        /// The template as written.
        template: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A regular expression is not well formed.
    #[error("the regular expression \"{pattern}\" is not well formed: {reason}")]
    Regex {
        /// The expression as written.
        pattern: String,
        /// What its parser says, on one line.
        reason: String,
    },
    /// A regular expression needs more memory than one may.
    #[error("the regular expression \"{pattern}\" is too large when compiled")]
    RegexTooLarge {
        /// The expression as written.
        pattern: String,
    },
    /// A method is not a token.
    #[error("\"{method}\" is not a method")]
    Method {
        /// The method as written.
        method: String,
    },
    /// A field's name is not a token.
    #[error("\"{name}\" is not the name of a header")]
    HeaderName {
        /// The name as written.
        name: String,
    },
    /// A parameter has no name.
    #[error("a query match has no name")]
    QueryName,
    /// A rule has more conditions than one may.
    #[error("the rule has {count} {what}, more than {max}")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// How many the rule has.
        count: usize,
        /// How many it may have.
        max: usize,
    },
    /// A rewrite is not a path.
    #[error("the rewrite \"{rewrite}\" is not a path: {reason}")]
    Rewrite {
        /// The rewrite as written.
        rewrite: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A rewrite names a capture that the path does not have.
    #[error("the rewrite uses \"{{{name}}}\", which the path does not capture; it captures {captures}")]
    RewriteCapture {
        /// The name as written.
        name: String,
        /// The names there are, for people.
        captures: String,
    },
    /// A rewrite of the prefix on a path that is none.
    #[error("a prefix rewrite needs a prefix path")]
    RewriteWithoutPrefix,
    /// There are more rules or hosts than a router holds.
    #[error("the tables have more than {max} {what}")]
    TablesTooLarge {
        /// What there are too many of.
        what: &'static str,
        /// How many there may be.
        max: usize,
    },
}

impl RouteProblem {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Host { .. } => {
                "write a host name without port such as \"www.example.com\", or \"*.example.com\" for all hosts below it; \
                 names beyond ASCII in their xn-- form"
            }
            Self::Path { .. } => {
                "write the path as the upstream sees it: it begins with \"/\" and has no dot segments, spaces or raw non-ASCII bytes"
            }
            Self::Template { .. } => {
                "a capture is a whole segment, as in \"/users/{id}\"; the last may take the rest, as in \"/files/{rest...}\"; \
                 for parts of a segment use a regular expression"
            }
            Self::Regex { .. } => {
                "the syntax is that of Rust's regex crate without Unicode classes; look-around and back-references do not exist"
            }
            Self::RegexTooLarge { .. } => {
                "make counted repetitions such as {1,1000} smaller, or split the expression over several rules"
            }
            Self::Method { .. } => "methods are case-sensitive words such as \"GET\"",
            Self::HeaderName { .. } => {
                "header names are letters, digits and - _ . and the like, without spaces or colons"
            }
            Self::QueryName => "name the parameter, as in \"?name=value\"",
            Self::TooMany { .. } => "split the rule into several",
            Self::Rewrite { .. } => {
                "a rewrite is a path that begins with \"/\"; the query is kept as it is and cannot be part of it"
            }
            Self::RewriteCapture { .. } => "name a capture of the path, or capture more there",
            Self::RewriteWithoutPrefix => "use a full rewrite with captures, or make the path a prefix",
            Self::TablesTooLarge { .. } => "split the tables over several listeners",
        }
    }
}
