//! Errors in rules, with the location of the rule and a hint.

use std::fmt;

use eddy_ids::Shared;
use thiserror::Error;

use crate::normalise::PathFault;
use crate::rule::{Rule, SourceLocation};

/// A rule that cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteError {
    /// Location of the rule in the configuration.
    pub origin: SourceLocation,
    /// Name of the rule.
    pub rule: Shared<str>,
    /// Problem of the rule.
    pub problem: RouteProblem,
}

impl RouteError {
    pub(crate) fn new(rule: &Rule, problem: RouteProblem) -> Self {
        Self { origin: rule.origin.clone(), rule: Shared::clone(&rule.name), problem }
    }

    /// Returns advice for correcting the problem.
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

/// Problem of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RouteProblem {
    /// A host is not a host name or address.
    #[error("\"{host}\" is not a host: {reason}")]
    Host {
        /// The host as written.
        host: String,
        /// Reason.
        reason: &'static str,
    },
    /// A path that no request can have, because requests with it are rejected.
    #[error("the path \"{path}\" can match no request: {}", fault.reason())]
    Path {
        /// The path as written.
        path: String,
        /// Reason for rejecting requests with it.
        fault: PathFault,
    },
    /// The captures of a template are malformed.
    #[error("the template \"{template}\" is not well formed: {reason}")]
    Template {
        /// The template as written.
        template: String,
        /// Reason.
        reason: &'static str,
    },
    /// A regular expression is malformed.
    #[error("the regular expression \"{pattern}\" is not well formed: {reason}")]
    Regex {
        /// The expression as written.
        pattern: String,
        /// Message of the regex parser, on one line.
        reason: String,
    },
    /// A compiled regular expression exceeds the memory limit.
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
    /// A header name is not a token.
    #[error("\"{name}\" is not a header name")]
    HeaderName {
        /// The name as written.
        name: String,
    },
    /// A query match has no parameter name.
    #[error("a query match needs a name")]
    QueryName,
    /// A rule exceeds the maximum number of conditions.
    #[error("the rule has {count} {what}, more than {max}")]
    TooMany {
        /// Kind of the conditions.
        what: &'static str,
        /// Number in the rule.
        count: usize,
        /// Maximum number.
        max: usize,
    },
    /// A rewrite is not a path.
    #[error("the rewrite \"{rewrite}\" is not a path: {reason}")]
    Rewrite {
        /// The rewrite as written.
        rewrite: String,
        /// Reason.
        reason: &'static str,
    },
    /// A rewrite names a capture that the path does not have.
    #[error("the rewrite uses \"{{{name}}}\", which the path does not capture; it captures {captures}")]
    RewriteCapture {
        /// The name as written.
        name: String,
        /// Available capture names, in readable form.
        captures: String,
    },
    /// A prefix rewrite on a path that is not a prefix.
    #[error("a prefix rewrite needs a prefix path")]
    RewriteWithoutPrefix,
    /// The tables exceed the maximum number of rules or hosts.
    #[error("the tables have more than {max} {what}")]
    TablesTooLarge {
        /// Kind of the items.
        what: &'static str,
        /// Maximum number.
        max: usize,
    },
}

impl RouteProblem {
    /// Returns advice for correcting the problem.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Host { .. } => {
                "write a host name without port such as \"www.example.com\", or \"*.example.com\" for all \
                 its subdomains; write non-ASCII names in their xn-- form"
            }
            Self::Path { .. } => {
                "write the path as the upstream sees it: it must begin with \"/\" and have no dot segments, spaces or raw non-ASCII bytes"
            }
            Self::Template { .. } => {
                "a capture matches a whole segment, as in \"/users/{id}\"; the last one can match the rest \
                 of the path, as in \"/files/{rest...}\"; for parts of a segment use a regular expression"
            }
            Self::Regex { .. } => {
                "the syntax is that of Rust's regex crate without Unicode classes; look-around and back-references are not supported"
            }
            Self::RegexTooLarge { .. } => {
                "make counted repetitions such as {1,1000} smaller, or split the expression over several rules"
            }
            Self::Method { .. } => "methods are case-sensitive words such as \"GET\"",
            Self::HeaderName { .. } => {
                "header names consist of letters, digits and marks such as - _ . without spaces or colons"
            }
            Self::QueryName => "name the parameter, as in \"?name=value\"",
            Self::TooMany { .. } => "split the rule into several",
            Self::Rewrite { .. } => {
                "a rewrite is a path that begins with \"/\"; the query is kept unchanged and cannot be part of it"
            }
            Self::RewriteCapture { .. } => "use a capture of the path, or add a capture to it",
            Self::RewriteWithoutPrefix => "use a full rewrite with captures, or make the path a prefix",
            Self::TablesTooLarge { .. } => "split the tables over several listeners",
        }
    }
}
