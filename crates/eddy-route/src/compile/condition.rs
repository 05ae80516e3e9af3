//! Conditions on fields and parameters of the query.

use std::fmt;

use eddy_http::{FieldId, FieldRef};

use crate::compile::pattern::{Form, Groups, Pattern, PatternScratch};
use crate::compile::rule::Probe;
use crate::error::RouteProblem;
use crate::rule::{ValueMatch, ValueTest};

/// A condition on the values of one name.
#[derive(Debug)]
pub(crate) struct Condition {
    pub(crate) source: Source,
    pub(crate) name: Box<str>,
    pub(crate) test: Test,
}

/// Where the values of a condition come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// The request's fields; the id spares comparing well-known names.
    Header(FieldId),
    /// The parameters of the query.
    Query,
}

/// What a value must be like.
#[derive(Debug)]
pub(crate) enum Test {
    Present,
    Absent,
    Exact(Box<str>),
    Prefix(Box<str>),
    Suffix(Box<str>),
    Contains(Box<str>),
    Regex(Box<Pattern>),
}

impl Condition {
    pub(crate) fn check_header(spec: &ValueMatch) -> Result<Self, RouteProblem> {
        if !is_token(&spec.name) {
            return Err(RouteProblem::HeaderName { name: spec.name.clone() });
        }
        let name = spec.name.to_ascii_lowercase();
        let source = Source::Header(FieldId::from_name(name.as_bytes()));
        Ok(Self { source, name: name.into_boxed_str(), test: Test::build(&spec.test)? })
    }

    pub(crate) fn check_query(spec: &ValueMatch) -> Result<Self, RouteProblem> {
        if spec.name.is_empty() {
            return Err(RouteProblem::QueryName);
        }
        Ok(Self { source: Source::Query, name: spec.name.as_str().into(), test: Test::build(&spec.test)? })
    }

    /// Whether the request passes.
    pub(crate) fn holds(&self, probe: &mut Probe<'_>) -> bool {
        let is_met = match self.source {
            Source::Query => {
                let value = probe.query.first(self.name.as_bytes());
                value.is_some_and(|value| self.test.passes(value, probe.pattern))
            }
            Source::Header(FieldId::Other) => {
                let mut fields = probe.fields.iter().filter(|field| self.is_for(field));
                fields.any(|field| self.test.passes(field.value, probe.pattern))
            }
            Source::Header(id) => probe.fields.all(id).any(|value| self.test.passes(value, probe.pattern)),
        };
        // Of `Absent`, any value at all is the failure.
        is_met != matches!(self.test, Test::Absent)
    }

    /// Whether a field of an unknown name is the one.
    fn is_for(&self, field: &FieldRef<'_>) -> bool {
        field.id == FieldId::Other && field.name.eq_ignore_ascii_case(self.name.as_bytes())
    }

    /// The exact value that is asked for, if one is.
    pub(crate) fn exact_value(&self) -> Option<&str> {
        if let Test::Exact(value) = &self.test { Some(value) } else { None }
    }

    /// What was sent instead, for people: each value, or `none`.
    pub(crate) fn show_got(&self, probe: &Probe<'_>) -> String {
        let shown: Vec<String> = match self.source {
            Source::Query => probe.query.first(self.name.as_bytes()).map(show_value).into_iter().collect(),
            Source::Header(_) => probe.fields.all_named(self.name.as_bytes()).map(show_value).collect(),
        };
        if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
    }

    /// `header` or `query parameter`, for people.
    pub(crate) fn kind(&self) -> &'static str {
        match self.source {
            Source::Header(_) => "header",
            Source::Query => "query parameter",
        }
    }
}

impl Test {
    fn build(test: &ValueTest) -> Result<Self, RouteProblem> {
        Ok(match test {
            ValueTest::Present => Self::Present,
            ValueTest::Absent => Self::Absent,
            ValueTest::Exact(text) => Self::Exact(text.as_str().into()),
            ValueTest::Prefix(text) => Self::Prefix(text.as_str().into()),
            ValueTest::Suffix(text) => Self::Suffix(text.as_str().into()),
            ValueTest::Contains(text) => Self::Contains(text.as_str().into()),
            ValueTest::Regex(text) => {
                Self::Regex(Box::new(Pattern::build(text, Form::Whole, Groups::Ignored)?))
            }
        })
    }

    /// Whether a value that is there passes; for `Absent` the answer is about the opposite.
    pub(crate) fn passes(&self, value: &[u8], scratch: &mut PatternScratch) -> bool {
        match self {
            Self::Present | Self::Absent => true,
            Self::Exact(text) => value == text.as_bytes(),
            Self::Prefix(text) => value.starts_with(text.as_bytes()),
            Self::Suffix(text) => value.ends_with(text.as_bytes()),
            Self::Contains(text) => memchr::memmem::find(value, text.as_bytes()).is_some(),
            Self::Regex(pattern) => pattern.matches(value, scratch),
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Present => out.write_str("any value"),
            Self::Absent => out.write_str("none"),
            Self::Exact(text) => write!(out, "exact {text:?}"),
            Self::Prefix(text) => write!(out, "prefix {text:?}"),
            Self::Suffix(text) => write!(out, "suffix {text:?}"),
            Self::Contains(text) => write!(out, "containing {text:?}"),
            Self::Regex(pattern) => write!(out, "regex {}", pattern.text()),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}: {}", self.kind(), self.name, self.test)
    }
}

/// Whether a method or a field's name is a token, RFC 9110 §5.6.2.
pub(crate) fn is_token(text: &str) -> bool {
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_token_byte)
}

/// A value of a request in quotes, whatever its bytes.
fn show_value(value: &[u8]) -> String {
    format!("\"{}\"", value.escape_ascii())
}
