//! Path matchers of rules.

use std::fmt;

use eddy_ids::Shared;

use crate::compile::library::PatternCache;
use crate::compile::pattern::{Groups, Pattern, PatternScratch, RegexMatchMode};
use crate::compile::template::CompiledPathTemplate;
use crate::error::RouteProblem;
use crate::normalise::{self, Normal, PathFault};
use crate::rule::{CaselessPath, PathForm, PathPattern, PathSearch};

/// A compiled path pattern, its text in the form of the paths that the dialect compares.
#[derive(Debug)]
pub(crate) enum PathMatcher {
    Any,
    Exact(Box<str>),
    /// Prefix without a final `/`: the rest of the path is empty or begins with `/`.
    Prefix(Box<str>),
    /// Prefix with any rest.
    BytePrefix(Box<str>),
    /// Path, ignoring the case of ASCII letters.
    Caseless(Caseless),
    Template(CompiledPathTemplate),
    Regex(Expression),
}

/// A path pattern that ignores the case of ASCII letters.
#[derive(Debug, PartialEq)]
pub(crate) struct Caseless {
    /// Text in lower case; of a prefix by segment, without a final `/`.
    pub(crate) text: Box<str>,
    pub(crate) reach: PathExtent,
}

/// Extent of the paths that begin with a text and match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathExtent {
    /// The path that ends there.
    Exact,
    /// Paths that end there or continue with `/`.
    Prefix,
    /// All paths.
    Below,
}

/// A regular expression for paths.
#[derive(Debug)]
pub(crate) struct Expression {
    /// Shared by all rules with the same expression.
    pub(crate) pattern: Shared<Pattern>,
    /// Additional literal prefix of the path, compared byte by byte.
    pub(crate) below: Box<str>,
}

impl PathMatcher {
    pub(crate) fn build(
        pattern: &PathPattern,
        groups: Groups,
        library: &mut PatternCache,
    ) -> Result<Self, RouteProblem> {
        let form = library.form;
        Ok(match pattern {
            PathPattern::Any => Self::Any,
            PathPattern::Exact(path) => Self::Exact(path_text(path, form)?.into_boxed_str()),
            PathPattern::Prefix(prefix) => {
                let prefix = path_text(prefix, form)?;
                Self::Prefix(prefix.strip_suffix('/').unwrap_or(&prefix).into())
            }
            PathPattern::BytePrefix(prefix) if prefix.is_empty() => Self::BytePrefix(Box::default()),
            PathPattern::BytePrefix(prefix) => Self::BytePrefix(path_text(prefix, form)?.into_boxed_str()),
            PathPattern::Caseless(path) => Self::Caseless(Caseless::build(path, form)?),
            PathPattern::Template(template) => {
                let text = path_text(template, form)?;
                match CompiledPathTemplate::check(&text)? {
                    Some(template) => Self::Template(template),
                    None => Self::Exact(text.into_boxed_str()),
                }
            }
            PathPattern::Regex(text) => Self::Regex(Expression {
                pattern: library.pattern(text, RegexMatchMode::Whole, groups)?,
                below: Box::default(),
            }),
            PathPattern::Search(search) => {
                let PathSearch { expression, is_caseless, below } = search;
                let form = if *is_caseless {
                    RegexMatchMode::UnanchoredCaseless
                } else {
                    RegexMatchMode::Unanchored
                };
                let pattern = library.pattern(expression, form, groups)?;
                Self::Regex(Expression { pattern, below: below.as_str().into() })
            }
        })
    }

    /// Whether a normalised path matches.
    pub(crate) fn matches(&self, path: &[u8], scratch: &mut PatternScratch) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(exact) => path == exact.as_bytes(),
            Self::Prefix(prefix) => match path.strip_prefix(prefix.as_bytes()) {
                Some(rest) => rest.is_empty() || rest.starts_with(b"/"),
                None => false,
            },
            Self::Caseless(caseless) => caseless.matches(path),
            Self::BytePrefix(prefix) => path.starts_with(prefix.as_bytes()),
            Self::Template(template) => template.matches(path),
            Self::Regex(expression) => {
                path.starts_with(expression.below.as_bytes()) && expression.pattern.matches(path, scratch)
            }
        }
    }
}

impl Caseless {
    fn build(path: &CaselessPath, form: PathForm) -> Result<Self, RouteProblem> {
        let (text, reach) = match path {
            CaselessPath::Exact(text) => (text, PathExtent::Exact),
            CaselessPath::Prefix(text) => (text, PathExtent::Prefix),
            CaselessPath::BytePrefix(text) => (text, PathExtent::Below),
        };
        let normal = if text.is_empty() { String::new() } else { path_text(text, form)? };
        let stem = normal.strip_suffix('/').filter(|_| reach == PathExtent::Prefix).unwrap_or(&normal);
        Ok(Self { text: stem.to_ascii_lowercase().into_boxed_str(), reach })
    }

    fn matches(&self, path: &[u8]) -> bool {
        let Some((begin, rest)) = path.split_at_checked(self.text.len()) else { return false };
        begin.eq_ignore_ascii_case(self.text.as_bytes())
            && match self.reach {
                PathExtent::Exact => rest.is_empty(),
                PathExtent::Prefix => rest.is_empty() || rest.starts_with(b"/"),
                PathExtent::Below => true,
            }
    }
}

impl Expression {
    /// Returns the common literal prefix of all matching paths.
    pub(crate) fn prefix(&self) -> &[u8] {
        let (literal, below) = (self.pattern.prefix(), self.below.as_bytes());
        if literal.starts_with(below) { literal } else { below }
    }

    /// Returns the pattern if it alone determines the matching paths; `None` if there is a further condition.
    pub(crate) fn whole(&self) -> Option<&Pattern> {
        (self.below.is_empty() || self.pattern.prefix().starts_with(self.below.as_bytes()))
            .then_some(&*self.pattern)
    }
}

impl PartialEq for Expression {
    /// Whether both have the same text.
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (&self.pattern, &other.pattern);
        a.text() == b.text() && a.form() == b.form() && self.below == other.below
    }
}

impl fmt::Display for PathMatcher {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => out.write_str("any path"),
            Self::Exact(path) => write!(out, "exact {path}"),
            Self::Prefix(prefix) => write!(out, "prefix {}", if prefix.is_empty() { "/" } else { prefix }),
            Self::BytePrefix(prefix) => write!(out, "byte prefix {prefix}"),
            Self::Caseless(Caseless { text, reach }) => {
                let kind = match reach {
                    PathExtent::Exact => "exact",
                    PathExtent::Prefix => "prefix",
                    PathExtent::Below => "byte prefix",
                };
                write!(out, "{kind} {} in any case", if text.is_empty() { "/" } else { text })
            }
            Self::Template(template) => write!(out, "template {}", template.text),
            Self::Regex(expression) => write!(out, "{expression}"),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.pattern.form() {
            RegexMatchMode::Whole => "regex",
            RegexMatchMode::Unanchored => "search",
            RegexMatchMode::UnanchoredCaseless => "caseless search",
        };
        write!(out, "{kind} {}", self.pattern.text())?;
        if self.below.is_empty() { Ok(()) } else { write!(out, " below {}", self.below) }
    }
}

/// Returns a path of a rule in the form of the request paths that a table's rules are compared with.
pub(crate) fn path_text(path: &str, form: PathForm) -> Result<String, RouteProblem> {
    let mut out = Vec::new();
    let normal = match form {
        PathForm::Normal => normalise::eddy(path.as_bytes(), &mut out),
        // A NUL would be a wildcard of the index.
        PathForm::Raw | PathForm::WithoutParameters if path.contains('\0') => Err(PathFault::Control),
        PathForm::Raw | PathForm::WithoutParameters => Ok(Normal::AsIs),
    };
    match normal {
        Ok(Normal::AsIs) => Ok(path.to_owned()),
        // Invariant: the normaliser rejects what is not ASCII and writes nothing else.
        Ok(Normal::Changed) => Ok(String::from_utf8_lossy(&out).into_owned()),
        Err(fault) => Err(RouteProblem::Path { path: path.to_owned(), fault }),
    }
}

/// Removes the part after `;` from each segment of a path; `out` is cleared and written.
pub(crate) fn strip_parameters(path: &[u8], out: &mut Vec<u8>) {
    out.clear();
    for (at, segment) in path.split(|byte| *byte == b'/').enumerate() {
        if at > 0 {
            out.push(b'/');
        }
        let end = memchr::memchr(b';', segment).unwrap_or(segment.len());
        out.extend_from_slice(&segment[..end]);
    }
}
