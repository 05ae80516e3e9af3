//! Errors of HTTP rules, and of requests that match a rule.

use std::fmt;

use crate::fault::ProtobufError;

/// An invalid HTTP rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRuleError {
    /// Full name of the method, `package.Service.Method`, or of the service.
    pub method: String,
    /// Path of the rule; empty if it has none.
    pub path: String,
    /// Kind of problem.
    pub problem: HttpRuleProblem,
}

/// Kinds of problems of a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpRuleProblem {
    /// No service has this name.
    #[error("the descriptors do not define this service; they define: {known}")]
    ServiceMissing {
        /// The existing services.
        known: String,
    },
    /// The option is malformed.
    #[error("the option google.api.http is malformed: {0}")]
    Malformed(ProtobufError),
    /// A rule without a path.
    #[error("a rule has no path")]
    PathMissing,
    /// A binding nested in an additional binding.
    #[error("a binding of additional_bindings has additional_bindings itself")]
    Nested,
    /// The path is not a valid template.
    #[error("the path is not a valid template: {what} (at byte {at})")]
    Template {
        /// Description of the problem.
        what: &'static str,
        /// Byte offset in the path.
        at: usize,
    },
    /// The message has no field of this name.
    #[error("\"{field}\" is not a field of {message}")]
    FieldMissing {
        /// Path of the field.
        field: String,
        /// Full name of the message.
        message: String,
    },
    /// The type of a field in the path can't be set from a path segment.
    #[error("the field \"{0}\" can't be set from the path: it is repeated, or a message")]
    FieldKind(String),
    /// A field occurs twice in a path.
    #[error("the field \"{0}\" occurs twice in the path")]
    FieldTwice(String),
    /// A field is both in the path and the body.
    #[error("the field \"{0}\" is in the path, so it can't be the body")]
    BodyInPath(String),
    /// Another rule matches the same requests.
    #[error("the rule matches the same requests as {0}")]
    Conflict(String),
}

impl fmt::Display for HttpRuleError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.method)?;
        if !self.path.is_empty() {
            write!(formatter, " ({})", self.path)?;
        }
        write!(formatter, ": {}", self.problem)
    }
}

impl std::error::Error for HttpRuleError {}

/// Error in the path or query of a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpBindError {
    /// Invalid percent-encoding, or bytes that are not UTF-8.
    #[error("the {0} is not percent-encoded UTF-8")]
    Encoding(String),
    /// A parameter that is not a field.
    #[error("the parameter \"{0}\" is not a field of the request")]
    Unknown(String),
    /// A parameter for a field that the path or the body sets.
    #[error("the parameter \"{0}\" is already set by the path or the body")]
    SetElsewhere(String),
    /// A parameter for a field whose type can't be written as text.
    #[error(
        "the parameter \"{0}\" is a message, a map, or in a repeated field: it is only allowed in the body"
    )]
    Kind(String),
    /// A duplicate parameter.
    #[error("the parameter \"{0}\" occurs twice, and its field is not repeated")]
    Twice(String),
    /// An invalid value for the field.
    #[error("the value of \"{name}\" is invalid: {kind}")]
    Value {
        /// Name of the field or parameter.
        name: String,
        /// Kind of error.
        kind: crate::ProtobufErrorKind,
    },
    /// Too many parameters, or parameters that are too long.
    #[error("too many parameters")]
    TooMany,
}
