//! How much of what can happen generated requests show.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result, anyhow, ensure};
use eddy_config::{SourceText, check};
use eddy_e2e::peer::Questions;
use eddy_http::{HeadLimits, RequestHead};
use eddy_route::normalise::Normal;
use eddy_route::{PathPattern, RouteRequest, RouteScratch, Router};

/// What became of requests.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    asked: usize,
    /// Requests that a second route would take, too.
    contested: usize,
    /// Requests by the kind of path of the route that took them.
    by_path: BTreeMap<&'static str, usize>,
    by_header: usize,
    by_query: usize,
}

impl Coverage {
    pub(crate) fn add(&mut self, questions: &Questions) -> Result<()> {
        let checked = check(&[SourceText::new("envoy.json", &questions.config)])
            .map_err(|problems| anyhow!("{problems:?}"))?;
        let config = checked.config;
        let router = Router::build(&config.tables).map_err(|errors| anyhow!("{errors:?}"))?;
        let normaliser = config.listeners.first().context("no listener")?.normaliser;
        let (mut scratch, mut normal, mut head) = (RouteScratch::new(), Vec::new(), RequestHead::new());
        for bytes in &questions.requests {
            if head.parse(bytes, &HeadLimits::default()).is_err() {
                continue;
            }
            let sent = head.path.of(bytes);
            let path = match normaliser.apply(sent, &mut normal) {
                Ok(Normal::AsIs) => sent,
                Ok(Normal::Changed) => normal.as_slice(),
                Err(_) => continue,
            };
            let request = RouteRequest {
                host: head.host.of(bytes),
                authority: head.authority.of(bytes),
                path,
                query: head.query.map(|query| query.of(bytes)).unwrap_or_default(),
                target: head.target.of(bytes),
                scheme: b"http",
                method: head.method_name(bytes),
                random: 0,
                fields: head.fields(bytes),
            };
            self.asked += 1;
            let Some(found) = router.lookup(&request, &mut scratch) else {
                *self.by_path.entry("no route").or_default() += 1;
                continue;
            };
            let rule = &config.tables[found.rule.table as usize].rules[found.rule.index as usize];
            *self.by_path.entry(kind(&rule.path)).or_default() += 1;
            self.by_header += usize::from(!rule.headers.is_empty() || !rule.methods.is_empty());
            self.by_query += usize::from(!rule.query.is_empty());
            self.contested += usize::from(router.deciding_step(&request, &mut scratch).is_some());
        }
        Ok(())
    }

    /// Whether the requests are worth their while.
    pub(crate) fn check(&self) -> Result<()> {
        let percent = |count: usize| count * 100 / self.asked.max(1);
        ensure!(percent(self.contested) >= 10, "{self}");
        for kind in ["exact", "prefix by byte", "prefix by segment", "expression", "any case", "no route"] {
            ensure!(percent(self.by_path.get(kind).copied().unwrap_or_default()) >= 1, "{kind}: {self}");
        }
        ensure!(percent(self.by_header) >= 1 && percent(self.by_query) >= 1, "{self}");
        Ok(())
    }
}

fn kind(path: &PathPattern) -> &'static str {
    match path {
        PathPattern::Any => "any path",
        PathPattern::Exact(_) => "exact",
        PathPattern::Prefix(_) => "prefix by segment",
        PathPattern::BytePrefix(_) => "prefix by byte",
        PathPattern::Caseless(_) => "any case",
        PathPattern::Regex(_) => "expression",
        PathPattern::Search(_) => "search",
        PathPattern::Template(_) => "template",
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |count: usize| count * 100 / self.asked.max(1);
        write!(
            out,
            "of the requests {} % fit two routes or more, {} % are taken by a test of a field, {} % by one of the query",
            percent(self.contested),
            percent(self.by_header),
            percent(self.by_query)
        )?;
        self.by_path.iter().try_for_each(|(kind, count)| write!(out, ", {} % {kind}", percent(*count)))
    }
}
