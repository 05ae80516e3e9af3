//! What is wrong with rules, and with requests that match one.

use std::fmt;

use crate::fault::ProtobufError;

/// A rule that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRuleError {
    /// The full name of the method, `package.Service.Method`, or of the service.
    pub method: String,
    /// The path of the rule; empty where it has none.
    pub path: String,
    /// What is wrong.
    pub problem: HttpRuleProblem,
}

/// What is wrong with a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpRuleProblem {
    /// No service has this name.
    #[error("the descriptors have no such service; they have: {known}")]
    ServiceMissing {
        /// The services that there are.
        known: String,
    },
    /// The option is not what it should be.
    #[error("the option google.api.http can't be read: {0}")]
    Malformed(ProtobufError),
    /// A rule without a path.
    #[error("a rule has no path")]
    PathMissing,
    /// A binding within a binding.
    #[error("a binding of additional_bindings has additional_bindings itself")]
    Nested,
    /// The path is not what a template is.
    #[error("the path is no template: {what} (at byte {at})")]
    Template {
        /// What is wrong.
        what: &'static str,
        /// Bytes of the path before it.
        at: usize,
    },
    /// A field that is named is not in the message.
    #[error("\"{field}\" is no field of {message}")]
    FieldMissing {
        /// The field, with those it is in.
        field: String,
        /// The message.
        message: String,
    },
    /// A field of the path can't be told by a part of a path.
    #[error("the field \"{0}\" can't stand in a path: it is repeated, or a message")]
    FieldKind(String),
    /// A field stands twice in a path.
    #[error("the field \"{0}\" stands in the path twice")]
    FieldTwice(String),
    /// A field is in the path and is the body.
    #[error("the field \"{0}\" is in the path, so it can't be the body")]
    BodyInPath(String),
    /// Another rule is for the same requests.
    #[error("the same requests are those of {0}")]
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

/// What is wrong with the path or query of a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpBindError {
    /// Percent signs that encode nothing, or bytes that are not UTF-8.
    #[error("the {0} is not percent-encoded UTF-8")]
    Encoding(String),
    /// A parameter that is no field.
    #[error("the parameter \"{0}\" is no field of the request")]
    Unknown(String),
    /// A parameter for a field that the path or the body tells.
    #[error("the parameter \"{0}\" is told by the path or the body")]
    ToldElsewhere(String),
    /// A parameter for a field that no text can tell.
    #[error(
        "the parameter \"{0}\" is a message, a map, or in something repeated: it can only stand in a body"
    )]
    Kind(String),
    /// A parameter that is there twice.
    #[error("the parameter \"{0}\" is there twice, and its field is not repeated")]
    Twice(String),
    /// A value that the field can't have.
    #[error("the value of \"{name}\" is none that the field can have: {kind}")]
    Value {
        /// The field or parameter.
        name: String,
        /// What is wrong with it.
        kind: crate::ProtobufErrorKind,
    },
    /// Too many parameters, or too long ones.
    #[error("there are too many parameters")]
    TooMany,
}
