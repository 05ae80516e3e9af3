//! Context of a match: the parts of a request that a rule's path and conditions are evaluated on.

use eddy_http::Fields;

use crate::compile::pattern::PatternScratch;
use crate::request::{QueryPairs, RouteRequest};

/// Parts of a request that a rule's path and conditions are evaluated on, and scratch memory.
pub(crate) struct RuleMatchContext<'a> {
    /// Path in the form of the current rules.
    pub(crate) path: &'a [u8],
    whole_path: &'a [u8],
    stripped_path: &'a [u8],
    pub(crate) method: &'a [u8],
    pub(crate) fields: Fields<'a>,
    pub(crate) query: &'a QueryPairs,
    pub(crate) raw_query: &'a [u8],
    target: &'a [u8],
    authority: &'a [u8],
    scheme: &'a [u8],
    pub(crate) random: u64,
    pub(crate) pattern: &'a mut PatternScratch,
    pub(crate) work: Work,
}

/// Work done for a request, counted for explanations.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    /// Steps in the path tries.
    pub(crate) steps: u32,
    /// Passes over the path for many expressions at once.
    pub(crate) passes: u32,
    /// Rules tried one by one.
    pub(crate) tries: u32,
}

impl<'a> RuleMatchContext<'a> {
    /// Creates the context of a request; `stripped_path` is its path without parameters, or the path itself if no rule
    /// needs that.
    pub(crate) fn new(
        request: &RouteRequest<'a>,
        stripped_path: &'a [u8],
        query: &'a QueryPairs,
        pattern: &'a mut PatternScratch,
    ) -> Self {
        let RouteRequest { method, fields, query: raw_query, target, authority, scheme, random, .. } =
            *request;
        let path = request.path();
        Self {
            path,
            whole_path: path,
            stripped_path,
            method,
            fields,
            query,
            raw_query,
            target,
            authority,
            scheme,
            random,
            pattern,
            work: Work::default(),
        }
    }

    /// Selects the path form for the next rules: without parameters, or the whole path.
    pub(crate) fn read_path(&mut self, strips_parameters: bool) {
        self.path = if strips_parameters { self.stripped_path } else { self.whole_path };
    }

    /// Returns a part of the request that is not a field.
    pub(crate) fn part(&self, part: RequestPart) -> &'a [u8] {
        match part {
            RequestPart::Method => self.method,
            RequestPart::Authority => self.authority,
            RequestPart::Target => self.target,
            RequestPart::Scheme => self.scheme,
        }
    }
}

/// Part of a request that conditions can address like a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RequestPart {
    Method,
    Authority,
    Target,
    Scheme,
}

impl RequestPart {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            ":method" => Some(Self::Method),
            ":authority" => Some(Self::Authority),
            ":path" => Some(Self::Target),
            ":scheme" => Some(Self::Scheme),
            _ => None,
        }
    }
}
