//! Which sites are meant: one, all below a name, all, or those of a regular expression.

use std::sync::Arc;

use regex_automata::meta::Regex;
use thiserror::Error;

/// Which sites are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OriginPattern {
    /// `*`: every site.
    Any,
    /// One site, as in `https://example.com`; `null` for those without one.
    Exact(Arc<str>),
    /// All sites below a name, as in `https://*.example.com`.
    Below {
        /// What stands before the wildcard: `https://`.
        before: Arc<str>,
        /// What stands behind it: `.example.com:8443`.
        behind: Arc<str>,
    },
    /// Those that a regular expression matches as a whole.
    Regex(Arc<str>),
}

/// Why a text is no pattern of sites.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum OriginError {
    /// Not of the form of an origin.
    #[error("is not an origin: write scheme and host, as in `https://example.com`, without a path")]
    Form,
    /// A wildcard where it has no meaning.
    #[error("has a wildcard that does not stand for whole labels, as in `https://*.example.com`")]
    Wildcard,
    /// The regular expression cannot be read.
    #[error("is not a regular expression: {0}")]
    Regex(String),
}

impl OriginPattern {
    /// Reads a pattern; a regular expression stands behind a `~`.
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

/// The expression, to be matched as a whole.
pub(super) fn compile(expression: &str) -> Result<Regex, String> {
    let config = Regex::config().nfa_size_limit(Some(1 << 20)).dfa_size_limit(Some(1 << 18));
    Regex::builder()
        .configure(config)
        .build(&format!(r"\A(?:{expression})\z"))
        .map_err(|error| error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string))
}
