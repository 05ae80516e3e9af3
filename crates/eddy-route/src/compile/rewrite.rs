//! Rewrites of the path for the upstream, which never produce a path that a request must not have.

use crate::compile::path::{Caseless, PathExtent, PathMatcher, path_text};
use crate::compile::pattern::PatternScratch;
use crate::compile::replace::Replace;
use crate::error::RouteProblem;
use crate::normalise::{self, Normal};
use crate::rule::{PathForm, PathRewrite};

/// Reason why a rewritten path is not sent; the request must be answered 500.
///
/// A rewrite combines checked text with parts of a checked path, but parts captured by an expression may be invalid in
/// a new position: half of an escape, or a dot segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RewriteFault {
    /// Requests with the new path would be rejected.
    NotNormal,
    /// The new path is longer than 16 KiB.
    TooLong,
}

impl RewriteFault {
    /// Returns the fault as one word for access log entries.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NotNormal => "rewrite_not_normal",
            Self::TooLong => "rewrite_too_long",
        }
    }
}

/// A compiled rewrite.
#[derive(Debug)]
pub(crate) struct Rewrite {
    kind: RewriteKind,
    /// Path form of the rule's table: the result must conform to it.
    form: PathForm,
}

#[derive(Debug)]
enum RewriteKind {
    /// Replacement of the prefix, without a final `/` if the prefix is matched by segment.
    Prefix(Box<str>),
    /// Parts to concatenate.
    Full(Vec<RewritePiece>),
    /// Replacement of the bytes that the path pattern names.
    Matched(Box<str>),
    /// Search and replacement.
    Replace(Box<Replace>),
}

/// A part of a new path.
#[derive(Debug)]
pub(crate) enum RewritePiece {
    Text(Box<str>),
    /// Capture of a template, counted from 0, or group of an expression, counted from 1.
    Capture(usize),
}

impl Rewrite {
    pub(crate) fn build(
        rewrite: &PathRewrite,
        path: &PathMatcher,
        form: PathForm,
    ) -> Result<Self, RouteProblem> {
        let kind = match rewrite {
            PathRewrite::Prefix(text) => {
                let is_by_segment = match path {
                    PathMatcher::Prefix(_) | PathMatcher::Any => true,
                    PathMatcher::Caseless(Caseless { reach: PathExtent::Prefix, .. }) => true,
                    PathMatcher::BytePrefix(_) => false,
                    PathMatcher::Caseless(Caseless { reach: PathExtent::Below, .. }) => false,
                    PathMatcher::Exact(_)
                    | PathMatcher::Caseless(_)
                    | PathMatcher::Template(_)
                    | PathMatcher::Regex(_) => return Err(RouteProblem::RewriteWithoutPrefix),
                };
                let text = rewrite_text(text, form)?;
                let stem = text.strip_suffix('/').filter(|_| is_by_segment);
                RewriteKind::Prefix(stem.unwrap_or(&text).into())
            }
            PathRewrite::Full(text) => RewriteKind::Full(split_pieces(&rewrite_text(text, form)?, path)?),
            PathRewrite::Matched(text) => RewriteKind::Matched(rewrite_text(text, form)?.into()),
            PathRewrite::Replace(replace) => RewriteKind::Replace(Box::new(Replace::build(replace)?)),
        };
        Ok(Self { kind, form })
    }

    /// Writes the new path; returns `false` if the path is unchanged: for `*`, which is not a path, and where the path
    /// does not begin with the bytes that the pattern names, because it has parameters in between that its table does
    /// not compare.
    pub(crate) fn write(
        &self,
        matcher: &PathMatcher,
        path: &[u8],
        scratch: &mut PatternScratch,
        out: &mut Vec<u8>,
    ) -> Result<bool, RewriteFault> {
        out.clear();
        if path == b"*" {
            return Ok(false);
        }
        match &self.kind {
            RewriteKind::Prefix(text) => {
                out.extend_from_slice(text.as_bytes());
                // `Any` has no prefix to remove.
                let is_any = matches!(matcher, PathMatcher::Any);
                let rest = if is_any { Some(path) } else { rest_after_match(matcher, path) };
                out.extend_from_slice(rest.unwrap_or_default());
                if out.is_empty() {
                    out.push(b'/');
                }
            }
            RewriteKind::Matched(text) => {
                out.extend_from_slice(text.as_bytes());
                let Some(rest) = rest_after_match(matcher, path) else { return Ok(false) };
                out.extend_from_slice(rest);
            }
            RewriteKind::Full(pieces) => write_pieces(pieces, matcher, path, scratch, out)?,
            RewriteKind::Replace(replace) => replace.write(path, REWRITTEN_BYTES_MAX, scratch, out),
        }
        if out.len() > REWRITTEN_BYTES_MAX {
            return Err(RewriteFault::TooLong);
        }
        let is_sound = match self.form {
            PathForm::Normal => normalise::check(out) == Ok(Normal::AsIs),
            PathForm::Raw | PathForm::WithoutParameters => is_path(out),
        };
        if is_sound { Ok(true) } else { Err(RewriteFault::NotNormal) }
    }
}

/// Returns the rest of a path after the bytes that its pattern names: more segments, or parameters where its table does
/// not compare them. `None` where parameters interrupt these bytes.
fn rest_after_match<'a>(matcher: &PathMatcher, path: &'a [u8]) -> Option<&'a [u8]> {
    match matcher {
        PathMatcher::Exact(text) | PathMatcher::Prefix(text) | PathMatcher::BytePrefix(text) => {
            path.strip_prefix(text.as_bytes())
        }
        PathMatcher::Caseless(Caseless { text, .. }) => {
            let (named, rest) = path.split_at_checked(text.len())?;
            named.eq_ignore_ascii_case(text.as_bytes()).then_some(rest)
        }
        PathMatcher::Any | PathMatcher::Template(_) | PathMatcher::Regex(_) => Some(b""),
    }
}

/// Whether the bytes are valid as the path of a request target.
pub(crate) fn is_path(path: &[u8]) -> bool {
    path.first() == Some(&b'/')
        && path.iter().all(|byte| (0x21..0x7f).contains(byte) && !matches!(byte, b'?' | b'#'))
}

fn write_pieces(
    pieces: &[RewritePiece],
    matcher: &PathMatcher,
    path: &[u8],
    scratch: &mut PatternScratch,
    out: &mut Vec<u8>,
) -> Result<(), RewriteFault> {
    if let PathMatcher::Regex(expression) = matcher {
        expression.pattern.find_groups(path, scratch);
    }
    for piece in pieces {
        match (piece, matcher) {
            (RewritePiece::Text(text), _) => out.extend_from_slice(text.as_bytes()),
            (RewritePiece::Capture(number), PathMatcher::Template(template)) => {
                out.extend_from_slice(template.capture(path, *number));
            }
            (RewritePiece::Capture(number), _) => {
                out.extend_from_slice(&path[scratch.group(*number)]);
            }
        }
        if out.len() > REWRITTEN_BYTES_MAX {
            return Err(RewriteFault::TooLong);
        }
    }
    Ok(())
}

/// Returns the normal form of a rewrite's text, with its captures still in braces.
fn rewrite_text(text: &str, form: PathForm) -> Result<String, RouteProblem> {
    let fault = |reason| RouteProblem::Rewrite { rewrite: text.to_owned(), reason };
    if text.contains(['?', '#']) {
        return Err(fault("it has a query or fragment"));
    }
    if !text.starts_with('/') {
        return Err(fault("it must begin with \"/\""));
    }
    path_text(text, form).map_err(|_| fault("requests with such a path are rejected"))
}

fn split_pieces(text: &str, path: &PathMatcher) -> Result<Vec<RewritePiece>, RouteProblem> {
    let fault = |reason| RouteProblem::Rewrite { rewrite: text.to_owned(), reason };
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').ok_or_else(|| fault("a \"{\" is not closed"))?;
        push_text(&mut pieces, before);
        pieces.push(RewritePiece::Capture(capture_number(name, path)?));
        rest = after;
    }
    push_text(&mut pieces, rest);
    let has_stray_brace =
        |piece: &RewritePiece| matches!(piece, RewritePiece::Text(text) if text.contains('}'));
    if pieces.iter().any(has_stray_brace) {
        return Err(fault("a \"}\" has no matching \"{\""));
    }
    Ok(pieces)
}

fn push_text(pieces: &mut Vec<RewritePiece>, text: &str) {
    if !text.is_empty() {
        pieces.push(RewritePiece::Text(text.into()));
    }
}

/// Returns the number of the capture with this name.
fn capture_number(name: &str, path: &PathMatcher) -> Result<usize, RouteProblem> {
    let (number, known): (Option<usize>, Vec<String>) = match path {
        PathMatcher::Template(template) => (
            template.capture_names().position(|known| known == name),
            template.capture_names().map(|name| format!("{{{name}}}")).collect(),
        ),
        PathMatcher::Regex(expression) => {
            let groups = expression.pattern.group_names();
            let is_named =
                |group: &&(usize, Option<&str>)| group.1 == Some(name) || group.0.to_string() == name;
            let shown = groups.iter().map(|(number, name)| match name {
                Some(name) => format!("{{{name}}}"),
                None => format!("{{{number}}}"),
            });
            (groups.iter().find(is_named).map(|group| group.0), shown.collect())
        }
        PathMatcher::Any
        | PathMatcher::Exact(_)
        | PathMatcher::Prefix(_)
        | PathMatcher::BytePrefix(_)
        | PathMatcher::Caseless(_) => (None, Vec::new()),
    };
    let captures = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
    number.ok_or_else(|| RouteProblem::RewriteCapture { name: name.to_owned(), captures })
}

/// Maximum length of a rewritten path; twice the default limit of a request target.
const REWRITTEN_BYTES_MAX: usize = 16 << 10;
