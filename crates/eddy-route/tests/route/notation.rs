//! Short notation of tables for tests: one rule per line, `name: word word ...`.
//!
//! ```text
//! table site
//! users: host=www.t host=*.t prefix=/user method=GET header=x:exact:1 query=v:present rank=-1 to-prefix=/new
//! ```

use eddy_ids::{ActionId, Shared};
use eddy_route::{
    Dialect, HostPattern, PathPattern, PathRewrite, PathSearch, RouteTable, Router, Rule, SourceLocation,
    ValueMatch, ValueTest,
};

/// Parses tables; rules before any `table` line are in a table called `site`.
pub(crate) fn tables(text: &str) -> Vec<RouteTable> {
    let mut tables: Vec<RouteTable> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix("table ") {
            tables.push(table(name));
            continue;
        }
        if tables.is_empty() {
            tables.push(table("site"));
        }
        let last = tables.last_mut().unwrap();
        last.rules.push(rule(line, number));
    }
    tables
}

/// Builds the router of tables in the notation.
pub(crate) fn router(text: &str) -> Router {
    Router::build(&tables(text)).unwrap_or_else(|errors| panic!("{errors:#?}"))
}

fn table(name: &str) -> RouteTable {
    match name.split_once(" as ") {
        Some((name, "envoy")) => RouteTable::new(name, Dialect::Envoy),
        _ => RouteTable::new(name, Dialect::Eddy),
    }
}

fn rule(line: &str, number: u32) -> Rule {
    let (name, words) = line.split_once(':').unwrap();
    let mut rule = empty_rule(name, number);
    for word in words.split_whitespace() {
        let (key, value) = word.split_once('=').unwrap_or_else(|| panic!("{line}"));
        let text = value.to_owned();
        match key {
            "host" if value.starts_with("*.") => rule.hosts.push(HostPattern::Suffix(text)),
            "host" if value == "any" => rule.hosts.push(HostPattern::Any),
            "host" => rule.hosts.push(HostPattern::Exact(text)),
            "exact" => rule.path = PathPattern::Exact(text),
            "prefix" => rule.path = PathPattern::Prefix(text),
            "byte-prefix" => rule.path = PathPattern::BytePrefix(text),
            "search" => rule.path = PathPattern::Search(search(value)),
            "regex" => rule.path = PathPattern::Regex(text),
            "template" => rule.path = PathPattern::Template(text),
            "method" => rule.methods.push(text),
            "header" => rule.headers.push(value_match(value)),
            "query" => rule.query.push(value_match(value)),
            "rank" => rule.rank = Some(value.parse().unwrap()),
            "to-prefix" => rule.rewrite = Some(PathRewrite::Prefix(text)),
            "to" => rule.rewrite = Some(PathRewrite::Full(text)),
            "to-matched" => rule.rewrite = Some(PathRewrite::Matched(text)),
            other => panic!("no key {other}"),
        }
    }
    rule
}

/// Parses `EXPRESSION` or `EXPRESSION@BELOW`, caseless if it begins with `~*`.
fn search(text: &str) -> PathSearch {
    let (expression, below) = text.split_once('@').unwrap_or((text, ""));
    let caseless = expression.strip_prefix("~*");
    let expression = caseless.unwrap_or(expression).to_owned();
    PathSearch { expression, is_caseless: caseless.is_some(), below: below.to_owned() }
}

/// Creates a rule for every request.
pub(crate) fn empty_rule(name: &str, line: u32) -> Rule {
    let origin = SourceLocation { file: Shared::from("site.yaml"), line };
    Rule { action: ActionId::at(line as usize), ..Rule::new(name, origin) }
}

fn value_match(text: &str) -> ValueMatch {
    let mut parts = text.splitn(3, ':');
    let name = parts.next().unwrap().to_owned();
    let kind = parts.next().unwrap();
    let value = parts.next().unwrap_or_default().to_owned();
    let test = match kind {
        "present" => ValueTest::Present,
        "absent" => ValueTest::Absent,
        "exact" => ValueTest::Exact(value),
        "prefix" => ValueTest::Prefix(value),
        "suffix" => ValueTest::Suffix(value),
        "contains" => ValueTest::Contains(value),
        "regex" => ValueTest::Regex(value),
        other => panic!("no test {other}"),
    };
    ValueMatch::new(&name, test)
}
