//! Coverage of routing features by the generated requests.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result, anyhow, ensure};
use eddy_dialects::check;
use eddy_e2e::peer::EnvoyQueries;
use eddy_http::{HeadLimits, RequestHead};
use eddy_route::normalise::Normal;
use eddy_route::{PathPattern, RouteRequest, RouteScratch, Rule, ValueMatch, ValueTest};
use eddy_spec::problem::SourceText;
use serde_json::Value;

/// Number of requests by result. A request counts once for each feature of the route that it matches.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    asked: usize,
    counts: BTreeMap<String, usize>,
}

impl Coverage {
    /// Restores the counts that [`Coverage::lines`] wrote.
    pub(crate) fn of_lines(lines: &BTreeMap<String, usize>) -> Self {
        let mut counts = lines.clone();
        Self { asked: counts.remove(ASKED).unwrap_or_default(), counts }
    }

    /// Returns all counts.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&str, usize)> {
        let counts = self.counts.iter().map(|(kind, count)| (kind.as_str(), *count));
        std::iter::once((ASKED, self.asked)).chain(counts)
    }

    /// Adds the requests of a configuration.
    pub(crate) fn add(&mut self, questions: &EnvoyQueries) -> Result<()> {
        let checked = check(&[SourceText::new("envoy.json", &questions.config)])
            .map_err(|problems| anyhow!("{problems:?}"))?;
        let config = checked.config;
        let listener = config.listeners.first().context("no listener")?;
        let router = config.router(listener).map_err(|errors| anyhow!("{errors:?}"))?.context("no routes")?;
        let normaliser = listener.normaliser;
        let trees = trees(&questions.config)?;
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
            let host = String::from_utf8_lossy(request.host).to_ascii_lowercase();
            if let Some(depth) = trees.get(&host) {
                self.count(if *depth > 1 { "matcher in a matcher" } else { "matcher" });
            }
            let Some(found) = router.lookup(&request, &mut scratch) else {
                self.count("no route");
                continue;
            };
            let rule = &config.tables_of(listener)[found.rule.table as usize].routes.rules
                [found.rule.index as usize];
            self.count_rule(rule);
            if router.deciding_step(&request, &mut scratch).is_some() {
                self.count("two routes or more");
            }
        }
        Ok(())
    }

    fn count_rule(&mut self, rule: &Rule) {
        self.count(path_kind(&rule.path));
        let tests = || rule.headers.iter().chain(&rule.query);
        let has = |is: fn(&ValueMatch) -> bool| tests().any(is);
        let fields = |prefix: &str| rule.headers.iter().any(|test| test.name.starts_with(prefix));
        let is_field = |test: &ValueMatch| !test.name.starts_with(':') && !test.name.starts_with("cookie:");
        for (kind, is_there) in [
            ("field", rule.headers.iter().any(is_field)),
            ("parameter of the query", !rule.query.is_empty()),
            ("cookie", fields("cookie:")),
            ("part of the request as a field", fields(":")),
            ("method", !rule.methods.is_empty()),
            ("fraction", rule.fraction.is_some()),
            ("inverted test", has(|test| test.is_inverted)),
            ("test in any case", has(|test| test.is_caseless)),
            ("test for presence", has(|test| test.test == ValueTest::Present)),
            ("test for absence", has(|test| test.test == ValueTest::Absent)),
            ("test for a value", has(|test| matches!(test.test, ValueTest::Exact(_)))),
            ("test for a beginning", has(|test| matches!(test.test, ValueTest::Prefix(_)))),
            ("test for an end", has(|test| matches!(test.test, ValueTest::Suffix(_)))),
            ("test for a part", has(|test| matches!(test.test, ValueTest::Contains(_)))),
            ("test by an expression", has(|test| matches!(test.test, ValueTest::Regex(_)))),
            ("test for a number", has(|test| matches!(test.test, ValueTest::Range(..)))),
        ] {
            if is_there {
                self.count(kind);
            }
        }
    }

    fn count(&mut self, kind: &str) {
        match self.counts.get_mut(kind) {
            Some(count) => *count += 1,
            None => drop(self.counts.insert(kind.to_owned(), 1)),
        }
    }

    /// Checks that each feature is covered by its minimum share of the requests.
    pub(crate) fn check(&self) -> Result<()> {
        for (kind, permille) in LEAST {
            let count = self.counts.get(*kind).copied().unwrap_or_default();
            ensure!(count * 1000 >= self.asked * permille, "{kind}: less than {permille} of 1,000; {self}");
        }
        Ok(())
    }
}

/// Minimum share of each feature, in thousandths of the requests.
const LEAST: &[(&str, usize)] = &[
    ("two routes or more", 100),
    ("no route", 10),
    ("exact path", 10),
    ("prefix by byte", 10),
    ("prefix by segment", 10),
    ("expression", 10),
    ("path in any case", 10),
    ("template", 10),
    ("matcher", 20),
    ("matcher in a matcher", 10),
    ("field", 10),
    ("parameter of the query", 10),
    ("cookie", 5),
    ("part of the request as a field", 5),
    ("inverted test", 5),
    ("test in any case", 5),
    ("test for presence", 2),
    ("test for absence", 2),
    ("test for a value", 5),
    ("test for a beginning", 2),
    ("test for an end", 2),
    ("test for a part", 2),
    ("test by an expression", 2),
    ("test for a number", 1),
];

/// Returns the nesting depth of matchers, for each virtual host that has one.
fn trees(config: &str) -> Result<BTreeMap<String, usize>> {
    fn depth(value: &Value) -> usize {
        match value {
            Value::Object(members) => members
                .iter()
                .map(|(key, value)| usize::from(key == "matcher") + depth(value))
                .max()
                .unwrap_or_default(),
            Value::Array(elements) => elements.iter().map(depth).max().unwrap_or_default(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        }
    }
    let config: Value = serde_json::from_str(config)?;
    let chain = &config["static_resources"]["listeners"][0]["filter_chains"][0];
    let hosts = &chain["filters"][0]["typed_config"]["route_config"]["virtual_hosts"];
    let named = hosts.as_array().into_iter().flatten().filter_map(|host| {
        let depth = depth(host);
        Some((host["name"].as_str()?.to_owned(), depth)).filter(|_| depth > 0)
    });
    Ok(named.collect())
}

fn path_kind(path: &PathPattern) -> &'static str {
    match path {
        PathPattern::Any => "any path",
        PathPattern::Exact(_) => "exact path",
        PathPattern::Prefix(_) => "prefix by segment",
        PathPattern::BytePrefix(_) => "prefix by byte",
        PathPattern::Caseless(_) => "path in any case",
        // Envoy's templates become regular expressions with the characters that it allows in a segment.
        PathPattern::Regex(text) if text.contains("[a-zA-Z0-9") => "template",
        PathPattern::Regex(_) => "expression",
        PathPattern::Search(_) => "search",
        PathPattern::Template(_) => "template",
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "of the requests")?;
        for (number, (kind, count)) in self.counts.iter().enumerate() {
            let permille = count * 1000 / self.asked.max(1);
            let comma = if number == 0 { "" } else { "," };
            write!(out, "{comma} {}.{} % {kind}", permille / 10, permille % 10)?;
        }
        Ok(())
    }
}

/// Name of the total number of requests.
const ASKED: &str = "requests counted";
