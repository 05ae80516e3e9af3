//! CORS filter.

use std::sync::Arc;

use eddy_filter::{FilterEdit, Interest, LoadError, LoadResult, Phase, Verdict};
use eddy_http::{FieldId, Fields, Method};
use regex_automata::meta::Regex;

use super::config::{CorsConfig, Listed};
use super::origin::{OriginPattern, compile};
use crate::library::{Builtin, PhaseContext};

/// Cross-origin resource sharing: tells browsers which other origins may read responses.
///
/// # Spec
/// [Fetch, CORS protocol](https://fetch.spec.whatwg.org/#http-cors-protocol)
#[derive(Debug)]
pub(crate) struct Cors {
    origins: Vec<Origins>,
    /// Whether every origin is allowed without credentials, so that the response is the same for all origins.
    is_open: bool,
    has_credentials: bool,
    /// Methods listed in preflight responses; `None` to allow those requested.
    methods: Option<Box<str>>,
    request_fields: Option<Box<str>>,
    exposed_fields: Box<str>,
    max_age: Box<str>,
}

/// Origin pattern, prepared for matching.
#[derive(Debug)]
enum Origins {
    Any,
    Exact(Arc<str>),
    Below { before: Arc<str>, behind: Arc<str> },
    Regex(Box<Regex>),
}

impl Cors {
    /// Creates the filter.
    ///
    /// # Errors
    /// [`LoadError::Refused`] for a regular expression that is too large.
    pub(crate) fn new(config: &CorsConfig) -> LoadResult<Self> {
        let prepare = |pattern: &OriginPattern| {
            Ok(match pattern {
                OriginPattern::Any => Origins::Any,
                OriginPattern::Exact(origin) => Origins::Exact(Arc::clone(origin)),
                OriginPattern::Below { before, behind } => {
                    Origins::Below { before: Arc::clone(before), behind: Arc::clone(behind) }
                }
                OriginPattern::Regex(expression) => {
                    let regex = compile(expression).map_err(|message| LoadError::Refused { message })?;
                    Origins::Regex(Box::new(regex))
                }
            })
        };
        let listed = |names: &Listed| match names {
            Listed::All => None,
            Listed::Names(names) => Some(names.join(", ").into()),
        };
        Ok(Self {
            origins: config.origins.iter().map(prepare).collect::<Result<_, _>>()?,
            is_open: config.origins.contains(&OriginPattern::Any) && !config.has_credentials,
            has_credentials: config.has_credentials,
            methods: listed(&config.methods),
            request_fields: listed(&config.request_fields),
            exposed_fields: listed(&config.exposed_fields).unwrap_or_else(|| "*".into()),
            max_age: config.max_age.as_secs().to_string().into(),
        })
    }

    /// Returns the `Access-Control-Allow-Origin` value for a request; `None` if its origin is not allowed.
    fn allowed_origin<'a>(&self, request: &Fields<'a>) -> Option<&'a [u8]> {
        if self.is_open {
            return Some(b"*");
        }
        let mut sent = request.all(FieldId::Origin);
        let origin = sent.next()?;
        let is_known = sent.next().is_none() && self.origins.iter().any(|origins| origins.has(origin));
        is_known.then_some(origin)
    }

    /// Replies to a preflight request.
    fn answer_preflight(&self, asked: &[u8], answer: &mut PhaseContext<'_>) -> Verdict {
        let fields = &answer.view.request.fields;
        let Some(origin) = self.allowed_origin(fields) else {
            let verdict = answer.reply(403, "origin not allowed\n", "cors");
            answer.reply_field("vary", b"origin");
            return verdict;
        };
        let verdict = answer.reply(204, "", "cors_preflight");
        answer.reply_field(ALLOW_ORIGIN, origin);
        if self.has_credentials {
            answer.reply_field(ALLOW_CREDENTIALS, b"true");
        }
        answer.reply_field(ALLOW_METHODS, self.methods.as_ref().map_or(asked, |methods| methods.as_bytes()));
        let asked_fields = fields.first_named(REQUEST_HEADERS).unwrap_or_default();
        let names = self.request_fields.as_ref().map_or(asked_fields, |names| names.as_bytes());
        if !names.is_empty() {
            answer.reply_field(ALLOW_HEADERS, names);
        }
        answer.reply_field(MAX_AGE, self.max_age.as_bytes());
        answer.reply_field("vary", PREFLIGHT_VARY);
        verdict
    }

    /// Replaces the CORS headers of a response.
    fn mark(&self, answer: &mut PhaseContext<'_>) {
        let Some(response) = answer.view.response else { return };
        let allowed_origin = self.allowed_origin(&answer.view.request.fields);
        let credentials = allowed_origin.filter(|_| self.has_credentials).map(|_| b"true".as_slice());
        let exposed =
            allowed_origin.map(|_| self.exposed_fields.as_bytes()).filter(|names| !names.is_empty());
        for (name, value) in
            [(ALLOW_ORIGIN, allowed_origin), (ALLOW_CREDENTIALS, credentials), (EXPOSE_HEADERS, exposed)]
        {
            let name = name.as_bytes();
            match value {
                Some(value) => answer.edit(&FilterEdit::Set { name, value }),
                None if response.fields.first_named(name).is_some() => {
                    answer.edit(&FilterEdit::Remove { name })
                }
                None => {}
            }
        }
        if !self.is_open && !varies_by_origin(&response.fields) {
            answer.edit(&FilterEdit::Add { name: b"vary", value: b"origin" });
        }
    }
}

impl Builtin for Cors {
    fn interest(&self) -> Interest {
        Interest::of(&[Phase::RequestHead, Phase::ResponseHead])
    }

    fn enter(&self, answer: &mut PhaseContext<'_>) -> Verdict {
        let view = answer.view;
        if view.phase == Phase::ResponseHead {
            self.mark(answer);
            return Verdict::Continue;
        }
        let fields = &view.request.fields;
        let has_origin = fields.first(FieldId::Origin).is_some();
        match fields.first_named(REQUEST_METHOD) {
            Some(asked)
                if view.phase == Phase::RequestHead
                    && view.request.method == Method::Options
                    && has_origin =>
            {
                self.answer_preflight(asked, answer)
            }
            _ => Verdict::Continue,
        }
    }
}

impl Origins {
    fn has(&self, origin: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(exact) => exact.as_bytes().eq_ignore_ascii_case(origin),
            Self::Below { before, behind } => {
                let (before, behind) = (before.as_bytes(), behind.as_bytes());
                let Some(middle) = origin.len().checked_sub(before.len() + behind.len()) else {
                    return false;
                };
                let (start, rest) = origin.split_at_checked(before.len()).unwrap_or_default();
                let (labels, end) = rest.split_at_checked(middle).unwrap_or_default();
                let is_label = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
                start.eq_ignore_ascii_case(before)
                    && end.eq_ignore_ascii_case(behind)
                    && !labels.is_empty()
                    && labels.iter().all(is_label)
            }
            Self::Regex(regex) => regex.is_match(origin),
        }
    }
}

fn varies_by_origin(fields: &Fields<'_>) -> bool {
    let names = fields.all(FieldId::Vary).flat_map(|value| value.split(|byte| *byte == b','));
    names.map(<[u8]>::trim_ascii).any(|name| name == b"*" || name.eq_ignore_ascii_case(b"origin"))
}

const ALLOW_ORIGIN: &str = "access-control-allow-origin";
const ALLOW_CREDENTIALS: &str = "access-control-allow-credentials";
const ALLOW_METHODS: &str = "access-control-allow-methods";
const ALLOW_HEADERS: &str = "access-control-allow-headers";
const EXPOSE_HEADERS: &str = "access-control-expose-headers";
const MAX_AGE: &str = "access-control-max-age";
const REQUEST_METHOD: &[u8] = b"access-control-request-method";
const REQUEST_HEADERS: &[u8] = b"access-control-request-headers";
const PREFLIGHT_VARY: &[u8] = b"origin, access-control-request-method, access-control-request-headers";
