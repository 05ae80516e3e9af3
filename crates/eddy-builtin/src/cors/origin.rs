//! Origin patterns: one origin, all subdomains of a name, any origin, or a regular expression.

use std::sync::Arc;

use regex_automata::meta::Regex;
use thiserror::Error;

/// Pattern of allowed origins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OriginPattern {
    /// `*`: any origin.
    Any,
    /// One origin, such as `https://example.com`; `null` matches opaque origins.
    Exact(Arc<str>),
    /// All subdomains of a name, such as `https://*.example.com`.
    Below {
        /// Part before the wildcard: `https://`.
        before: Arc<str>,
        /// Part after the wildcard: `.example.com:8443`.
        behind: Arc<str>,
    },
    /// Origins that match a regular expression as a whole.
    Regex(Arc<str>),
}

/// Error of parsing an origin pattern.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum OriginError {
    /// The text is not an origin.
    #[error("is not an origin: write scheme and host, as in `https://example.com`, without a path")]
    Form,
    /// The wildcard is in an invalid position.
    #[error("has a wildcard that does not replace whole labels, as in `https://*.example.com`")]
    Wildcard,
    /// The regular expression is invalid.
    #[error("is not a regular expression: {0}")]
    Regex(String),
}

impl OriginPattern {
    /// Parses a pattern; a regular expression is preceded by `~`.
    ///
    /// # Errors
    /// Any [`OriginError`].
    pub fn parse(text: &str) -> Result<Self, OriginError> {
        if let Some(expression) = text.strip_prefix('~') {
            compile(expression).map_err(|error| {
                let last = error.lines().last().unwrap_or_default();
                OriginError::Regex(last.trim_start_matches("error: ").trim().to_owned())
            })?;
            return Ok(Self::Regex(expression.into()));
        }
        match text {
            "*" => return Ok(Self::Any),
            "null" => return Ok(Self::Exact(text.into())),
            _ => {}
        }
        let lower = text.to_ascii_lowercase();
        let (scheme, authority) = lower.split_once("://").ok_or(OriginError::Form)?;
        let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:[]".contains(&byte);
        if let Some(behind) = authority.strip_prefix("*.") {
            if !is_scheme || behind.is_empty() || !behind.bytes().all(is_host) {
                return Err(OriginError::Wildcard);
            }
            return Ok(Self::Below {
                before: format!("{scheme}://").into(),
                behind: format!(".{behind}").into(),
            });
        }
        if authority.contains('*') {
            return Err(OriginError::Wildcard);
        }
        if !is_scheme || authority.is_empty() || !authority.bytes().all(is_host) {
            return Err(OriginError::Form);
        }
        Ok(Self::Exact(lower.into()))
    }
}

/// Compiles a regular expression that must match the whole origin.
pub(super) fn compile(expression: &str) -> Result<Regex, String> {
    let config = Regex::config().nfa_size_limit(Some(1 << 20)).dfa_size_limit(Some(1 << 18));
    Regex::builder()
        .configure(config)
        .build(&format!(r"\A(?:{expression})\z"))
        .map_err(|error| error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string))
}
