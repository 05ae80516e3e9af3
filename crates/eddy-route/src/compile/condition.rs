//! Conditions on headers, cookies and query parameters.

use std::fmt;

use eddy_http::{FieldId, FieldRef};

use crate::compile::cookie::first_cookie;
use crate::compile::match_context::{RequestPart, RuleMatchContext};
use crate::compile::pattern::{Groups, Pattern, PatternScratch, RegexMatchMode};
use crate::error::RouteProblem;
use crate::rule::{Missing, QueryForm, ValueMatch, ValueTest};

/// A condition on the values with one name.
#[derive(Debug)]
pub(crate) struct CompiledCondition {
    pub(crate) source: ConditionSource,
    pub(crate) name: Box<str>,
    pub(crate) test: CompiledTest,
    pub(crate) is_inverted: bool,
    pub(crate) missing: Missing,
}

/// Source of the values of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ConditionSource {
    /// Header fields; the ID avoids name comparisons for well-known names.
    Header(FieldId),
    /// Query parameters, decoded.
    Query,
    /// Query parameters as sent.
    RawQuery,
    /// A part of the request that is not a field.
    Part(RequestPart),
    /// The first cookie with the name.
    Cookie,
}

/// Test of a value.
#[derive(Debug, PartialEq)]
pub(crate) enum CompiledTest {
    Present,
    Absent,
    Exact(Box<str>),
    Prefix(Box<str>),
    Suffix(Box<str>),
    Contains(Box<str>),
    Regex(Box<Pattern>),
    /// Test of a text, ignoring the case of ASCII letters.
    Caseless(Box<TextTest>),
    /// Whole number, at least the first and less than the second bound.
    Range(i64, i64),
}

/// Test of a text, ignoring case; the stored text is in lower case.
#[derive(Debug, PartialEq)]
pub(crate) enum TextTest {
    Exact(Box<str>),
    Prefix(Box<str>),
    Suffix(Box<str>),
    Contains(Box<str>),
}

impl ConditionSource {
    /// Returns the value with this name, if the source has at most one: everything except headers.
    pub(crate) fn single_value<'a>(self, name: &str, probe: &RuleMatchContext<'a>) -> Option<&'a [u8]> {
        match self {
            Self::Query => probe.query.first(name.as_bytes()),
            Self::RawQuery => first_raw(probe.raw_query, name.as_bytes()),
            Self::Cookie => first_cookie(probe.fields, name.as_bytes()),
            Self::Part(part) => Some(probe.part(part)),
            Self::Header(_) => None,
        }
    }
}

impl CompiledCondition {
    pub(crate) fn check_header(spec: &ValueMatch) -> Result<Self, RouteProblem> {
        if let Some(part) = RequestPart::from_name(&spec.name) {
            return Self::check(spec, ConditionSource::Part(part), spec.name.as_str().into());
        }
        if let Some(cookie) = spec.name.strip_prefix(COOKIE) {
            return Self::check(spec, ConditionSource::Cookie, cookie.into());
        }
        if !is_token(&spec.name) {
            return Err(RouteProblem::HeaderName { name: spec.name.clone() });
        }
        let name = spec.name.to_ascii_lowercase();
        let source = ConditionSource::Header(FieldId::from_name(name.as_bytes()));
        Self::check(spec, source, name.into_boxed_str())
    }

    pub(crate) fn check_query(spec: &ValueMatch, form: QueryForm) -> Result<Self, RouteProblem> {
        if spec.name.is_empty() {
            return Err(RouteProblem::QueryName);
        }
        let source = match form {
            QueryForm::Decoded => ConditionSource::Query,
            QueryForm::Raw => ConditionSource::RawQuery,
        };
        Self::check(spec, source, spec.name.as_str().into())
    }

    fn check(spec: &ValueMatch, source: ConditionSource, name: Box<str>) -> Result<Self, RouteProblem> {
        let test = if spec.is_caseless {
            CompiledTest::caseless(&spec.test)?
        } else {
            CompiledTest::build(&spec.test)?
        };
        Ok(Self { source, name, test, is_inverted: spec.is_inverted, missing: spec.missing })
    }

    /// Whether the request passes the condition.
    pub(crate) fn holds(&self, probe: &mut RuleMatchContext<'_>) -> bool {
        if !self.is_plain() {
            return self.holds_specially(probe);
        }
        let is_met = self.is_met(probe);
        // For `Absent`, any value is a failure.
        is_met != matches!(self.test, CompiledTest::Absent)
    }

    /// Whether the condition is a test alone: not inverted, and without special treatment of missing values.
    pub(crate) fn is_plain(&self) -> bool {
        !self.is_inverted && self.missing == Missing::Fails
    }

    /// Whether there is at most one value.
    pub(crate) fn is_single(&self) -> bool {
        !matches!(self.source, ConditionSource::Header(_))
    }

    /// Whether a request with this single value passes.
    pub(crate) fn holds_for(&self, value: &[u8], scratch: &mut PatternScratch) -> bool {
        self.test != CompiledTest::Absent && self.test.passes(value, scratch) != self.is_inverted
    }

    /// Whether a request without a value passes.
    pub(crate) fn holds_without(&self, scratch: &mut PatternScratch) -> bool {
        match (&self.test, self.missing) {
            (CompiledTest::Absent, _) | (_, Missing::Passes) => true,
            (_, Missing::Fails) => false,
            (test, Missing::IsEmpty) => test.passes(b"", scratch) != self.is_inverted,
        }
    }

    fn holds_specially(&self, probe: &mut RuleMatchContext<'_>) -> bool {
        if !self.has_value(probe) {
            return self.holds_without(probe.pattern);
        }
        let is_met = self.is_met(probe);
        if matches!(self.test, CompiledTest::Absent) { !is_met } else { is_met != self.is_inverted }
    }

    fn has_value(&self, probe: &RuleMatchContext<'_>) -> bool {
        match self.source {
            ConditionSource::Header(FieldId::Other) => probe.fields.iter().any(|field| self.is_for(&field)),
            ConditionSource::Header(id) => probe.fields.all(id).next().is_some(),
            source @ (ConditionSource::Query
            | ConditionSource::RawQuery
            | ConditionSource::Cookie
            | ConditionSource::Part(_)) => source.single_value(&self.name, probe).is_some(),
        }
    }

    /// Whether any value passes the test.
    fn is_met(&self, probe: &mut RuleMatchContext<'_>) -> bool {
        match self.source {
            ConditionSource::Header(FieldId::Other) => {
                let mut fields = probe.fields.iter().filter(|field| self.is_for(field));
                fields.any(|field| self.test.passes(field.value, probe.pattern))
            }
            ConditionSource::Header(id) => {
                probe.fields.all(id).any(|value| self.test.passes(value, probe.pattern))
            }
            source @ (ConditionSource::Query
            | ConditionSource::RawQuery
            | ConditionSource::Cookie
            | ConditionSource::Part(_)) => source
                .single_value(&self.name, probe)
                .is_some_and(|value| self.test.passes(value, probe.pattern)),
        }
    }

    /// Whether a field with an unknown name has the name of the condition.
    fn is_for(&self, field: &FieldRef<'_>) -> bool {
        field.id == FieldId::Other && field.name.eq_ignore_ascii_case(self.name.as_bytes())
    }

    /// Returns the exact value that is required, if any.
    pub(crate) fn exact_value(&self) -> Option<&str> {
        if let (CompiledTest::Exact(value), true) = (&self.test, self.is_plain()) {
            Some(value)
        } else {
            None
        }
    }

    /// Returns the values of the request in readable form, or `none`.
    pub(crate) fn format_actual(&self, probe: &RuleMatchContext<'_>) -> String {
        let shown: Vec<String> = if self.is_single() {
            self.source.single_value(&self.name, probe).map(show_value).into_iter().collect()
        } else {
            probe.fields.all_named(self.name.as_bytes()).map(show_value).collect()
        };
        if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
    }

    /// Returns `header`, `cookie` or `query parameter`, for explanations.
    pub(crate) fn kind(&self) -> &'static str {
        match self.source {
            ConditionSource::Header(_) | ConditionSource::Part(_) => "header",
            ConditionSource::Cookie => "cookie",
            ConditionSource::Query | ConditionSource::RawQuery => "query parameter",
        }
    }
}

impl CompiledTest {
    fn build(test: &ValueTest) -> Result<Self, RouteProblem> {
        Ok(match test {
            ValueTest::Present => Self::Present,
            ValueTest::Absent => Self::Absent,
            ValueTest::Exact(text) => Self::Exact(text.as_str().into()),
            ValueTest::Prefix(text) => Self::Prefix(text.as_str().into()),
            ValueTest::Suffix(text) => Self::Suffix(text.as_str().into()),
            ValueTest::Contains(text) => Self::Contains(text.as_str().into()),
            ValueTest::Regex(text) => {
                Self::Regex(Box::new(Pattern::build(text, RegexMatchMode::Whole, Groups::Ignored)?))
            }
            ValueTest::Range(start, end) => Self::Range(*start, *end),
        })
    }

    /// Builds the variant of a text test that ignores the case of ASCII letters.
    fn caseless(test: &ValueTest) -> Result<Self, RouteProblem> {
        let folded = |text: &str| text.to_ascii_lowercase().into_boxed_str();
        let caseless = match test {
            ValueTest::Exact(text) => TextTest::Exact(folded(text)),
            ValueTest::Prefix(text) => TextTest::Prefix(folded(text)),
            ValueTest::Suffix(text) => TextTest::Suffix(folded(text)),
            ValueTest::Contains(text) => TextTest::Contains(folded(text)),
            ValueTest::Present | ValueTest::Absent | ValueTest::Regex(_) | ValueTest::Range(..) => {
                return Self::build(test);
            }
        };
        Ok(Self::Caseless(Box::new(caseless)))
    }

    /// Whether an existing value passes; for `Absent` the result is about the opposite.
    pub(crate) fn passes(&self, value: &[u8], scratch: &mut PatternScratch) -> bool {
        match self {
            Self::Present | Self::Absent => true,
            Self::Exact(text) => value == text.as_bytes(),
            Self::Prefix(text) => value.starts_with(text.as_bytes()),
            Self::Suffix(text) => value.ends_with(text.as_bytes()),
            Self::Contains(text) => memchr::memmem::find(value, text.as_bytes()).is_some(),
            Self::Regex(pattern) => pattern.matches(value, scratch),
            Self::Caseless(caseless) => caseless.passes(value),
            Self::Range(start, end) => {
                whole_number(value).is_some_and(|number| (*start..*end).contains(&number))
            }
        }
    }
}

impl TextTest {
    fn passes(&self, value: &[u8]) -> bool {
        let (Self::Exact(text) | Self::Prefix(text) | Self::Suffix(text) | Self::Contains(text)) = self;
        let text = text.as_bytes();
        let is_at =
            |at: usize| value.get(at..at + text.len()).is_some_and(|part| part.eq_ignore_ascii_case(text));
        match self {
            Self::Exact(_) => value.eq_ignore_ascii_case(text),
            Self::Prefix(_) => is_at(0),
            Self::Suffix(_) => value.len().checked_sub(text.len()).is_some_and(is_at),
            Self::Contains(_) => (0..=value.len().saturating_sub(text.len())).any(is_at),
        }
    }
}

impl fmt::Display for CompiledTest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Present => out.write_str("any value"),
            Self::Absent => out.write_str("none"),
            Self::Exact(text) => write!(out, "exact {text:?}"),
            Self::Prefix(text) => write!(out, "prefix {text:?}"),
            Self::Suffix(text) => write!(out, "suffix {text:?}"),
            Self::Contains(text) => write!(out, "containing {text:?}"),
            Self::Regex(pattern) => write!(out, "regex {}", pattern.text()),
            Self::Caseless(caseless) => match &**caseless {
                TextTest::Exact(text) => write!(out, "exact {text:?} in any case"),
                TextTest::Prefix(text) => write!(out, "prefix {text:?} in any case"),
                TextTest::Suffix(text) => write!(out, "suffix {text:?} in any case"),
                TextTest::Contains(text) => write!(out, "containing {text:?} in any case"),
            },
            Self::Range(start, end) => write!(out, "a number from {start} to less than {end}"),
        }
    }
}

impl CompiledCondition {
    /// Returns the requirement in readable form.
    pub(crate) fn wanted(&self) -> String {
        let not = if self.is_inverted { "not " } else { "" };
        let missing = match self.missing {
            _ if matches!(self.test, CompiledTest::Absent) => "",
            Missing::Fails => "",
            Missing::IsEmpty => ", missing counts as empty",
            Missing::Passes => ", or missing",
        };
        format!("{not}{}{missing}", self.test)
    }
}

impl fmt::Display for CompiledCondition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}: {}", self.kind(), self.name, self.wanted())
    }
}

/// Prefix of a cookie name in place of a field name.
const COOKIE: &str = "cookie:";

/// Returns the value of the first parameter with this name, as sent.
fn first_raw<'q>(query: &'q [u8], name: &[u8]) -> Option<&'q [u8]> {
    query.split(|byte| *byte == b'&').find_map(|part| {
        let rest = part.strip_prefix(name)?;
        if rest.is_empty() { Some(rest) } else { rest.strip_prefix(b"=") }
    })
}

/// Parses a whole decimal number with an optional sign.
fn whole_number(value: &[u8]) -> Option<i64> {
    std::str::from_utf8(value).ok()?.trim_ascii().parse().ok()
}

/// Whether a method or field name is a token, RFC 9110 §5.6.2.
pub(crate) fn is_token(text: &str) -> bool {
    let is_token_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_token_byte)
}

/// Returns a value of a request in quotes, with any bytes escaped.
fn show_value(value: &[u8]) -> String {
    format!("\"{}\"", value.escape_ascii())
}
