//! Paths that rules serve.

use std::fmt;

use crate::compile::pattern::{Groups, Pattern, PatternScratch};
use crate::compile::template::Template;
use crate::error::RouteProblem;
use crate::normalise::{self, Normal};
use crate::rule::PathPattern;

/// A path pattern, its text normalised as the requests' paths are.
#[derive(Debug)]
pub(crate) enum PathMatcher {
    Any,
    Exact(Box<str>),
    /// The prefix without one final `/`: what follows it in a path is nothing or a `/`.
    Prefix(Box<str>),
    Template(Template),
    Regex(Box<Pattern>),
}

impl PathMatcher {
    pub(crate) fn build(pattern: &PathPattern, groups: Groups) -> Result<Self, RouteProblem> {
        Ok(match pattern {
            PathPattern::Any => Self::Any,
            PathPattern::Exact(path) => Self::Exact(normal_text(path)?.into_boxed_str()),
            PathPattern::Prefix(prefix) => {
                let prefix = normal_text(prefix)?;
                Self::Prefix(prefix.strip_suffix('/').unwrap_or(&prefix).into())
            }
            PathPattern::Template(template) => {
                let text = normal_text(template)?;
                match Template::check(&text)? {
                    Some(template) => Self::Template(template),
                    None => Self::Exact(text.into_boxed_str()),
                }
            }
            PathPattern::Regex(text) => Self::Regex(Box::new(Pattern::build(text, groups)?)),
        })
    }

    /// Whether a normalised path is served.
    pub(crate) fn matches(&self, path: &[u8], scratch: &mut PatternScratch) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(exact) => path == exact.as_bytes(),
            Self::Prefix(prefix) => match path.strip_prefix(prefix.as_bytes()) {
                Some(rest) => rest.is_empty() || rest.starts_with(b"/"),
                None => false,
            },
            Self::Template(template) => template.matches(path),
            Self::Regex(pattern) => pattern.matches(path, scratch),
        }
    }
}

impl fmt::Display for PathMatcher {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => out.write_str("any path"),
            Self::Exact(path) => write!(out, "exact {path}"),
            Self::Prefix(prefix) => write!(out, "prefix {}", if prefix.is_empty() { "/" } else { prefix }),
            Self::Template(template) => write!(out, "template {}", template.text),
            Self::Regex(pattern) => write!(out, "regex {}", pattern.text()),
        }
    }
}

/// The normal form of a path that a rule names.
pub(crate) fn normal_text(path: &str) -> Result<String, RouteProblem> {
    let mut out = Vec::new();
    match normalise::eddy(path.as_bytes(), &mut out) {
        Ok(Normal::AsIs) => Ok(path.to_owned()),
        // Invariant: the normaliser refuses what is not ASCII and writes nothing else.
        Ok(Normal::Changed) => Ok(String::from_utf8_lossy(&out).into_owned()),
        Err(fault) => Err(RouteProblem::Path { path: path.to_owned(), fault }),
    }
}
