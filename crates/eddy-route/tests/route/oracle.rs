//! Oracle for the winner: an independent implementation of the documented rule order, on the text of the rules.

use std::cell::RefCell;
use std::collections::HashMap;

use eddy_route::{
    CaselessPath, Dialect, HostForm, HostPattern, Missing, PathForm, PathPattern, QueryForm, RouteTable,
    Rule, ValueMatch, ValueTest,
};
use regex::bytes::Regex;

use crate::request::RouteTestRequest;

/// Sort key of a matching rule; the smallest wins.
type OracleSortKey = (HostKey, usize, i32, PathKey, bool, i64, i64, usize);
/// Exact hosts first, then the longest suffix, one label before many, then the longest prefix.
type HostKey = (u8, i64, bool);
/// Class, length, template before prefix, no rest first, fixed bytes.
type PathKey = (u8, i64, u8, bool, i64);

pub(crate) fn winner(tables: &[RouteTable], ask: &RouteTestRequest) -> Option<String> {
    let mut best: Option<(OracleSortKey, String)> = None;
    for (table, spec) in tables.iter().enumerate() {
        let end = end_of(spec, ask);
        for (at, rule) in spec.rules.iter().enumerate() {
            let Some(key) = key((table, spec), at, rule, ask) else { continue };
            let is_closed_off = end.is_some_and(|end| key.0 > end);
            if !is_closed_off && best.as_ref().is_none_or(|(least, _)| key < *least) {
                best = Some((key, rule.name.to_string()));
            }
        }
    }
    best.map(|(_, name)| name)
}

/// Returns the host at which the search in a table ends.
fn end_of(table: &RouteTable, ask: &RouteTestRequest) -> Option<HostKey> {
    let named = table.ends.iter().filter_map(|end| host_key(end, table.reading.host, &ask.host));
    let first = || table.rules.iter().filter_map(|rule| host_of(rule, table, ask)).min();
    named.chain(table.reading.is_closed.then(first).flatten()).min()
}

/// Returns the most specific matching host of a rule.
fn host_of(rule: &Rule, table: &RouteTable, ask: &RouteTestRequest) -> Option<HostKey> {
    let any = [HostPattern::Any];
    let hosts = if rule.hosts.is_empty() { &any[..] } else { &rule.hosts };
    hosts.iter().filter_map(|host| host_key(host, table.reading.host, &ask.host)).min()
}

fn key(
    (table, spec): (usize, &RouteTable),
    at: usize,
    rule: &Rule,
    ask: &RouteTestRequest,
) -> Option<OracleSortKey> {
    let host = host_of(rule, spec, ask)?;
    let path = if ask.path.is_empty() { "/" } else { &ask.path };
    let stripped = path.split('/').map(|part| part.split(';').next().unwrap()).collect::<Vec<_>>().join("/");
    let is_stripped = spec.reading.path == PathForm::WithoutParameters;
    let path = path_key(&rule.path, if is_stripped { &stripped } else { path })?;
    let query = match spec.reading.query {
        QueryForm::Decoded => form_pairs(&ask.query),
        QueryForm::Raw => raw_pairs(&ask.query),
    };
    let is_met = (rule.methods.is_empty() || rule.methods.contains(&ask.method))
        && rule.fraction.is_none_or(|it| ask.random % u64::from(it.denominator) < u64::from(it.numerator))
        && rule.headers.iter().all(|spec| {
            let is_named = |field: &&(String, String)| field.0.eq_ignore_ascii_case(&spec.name);
            let target = ask.target();
            let values: Vec<&str> = match spec.name.as_str() {
                ":method" => vec![&ask.method],
                ":authority" => vec![&ask.host],
                ":path" => vec![&target],
                ":scheme" => vec!["http"],
                _ => ask.fields.iter().filter(is_named).map(|field| field.1.as_str()).collect(),
            };
            passes(spec, &values)
        })
        && rule.query.iter().all(|spec| {
            let first = query.iter().find(|pair| pair.0 == spec.name);
            passes(spec, &first.map(|pair| pair.1.as_str()).into_iter().collect::<Vec<_>>())
        });
    if !is_met {
        return None;
    }
    if spec.dialect == Dialect::Envoy {
        return Some((host, table, 0, (0, 0, 0, false, 0), false, 0, 0, at));
    }
    let count = |len: usize| -i64::try_from(len).unwrap();
    let rank = rule.rank.unwrap_or(0);
    let (headers, queries) = (count(rule.headers.len()), count(rule.query.len()));
    Some((host, table, rank, path, rule.methods.is_empty(), headers, queries, at))
}

fn host_key(pattern: &HostPattern, form: HostForm, authority: &str) -> Option<HostKey> {
    let undot =
        |text: &str| text.strip_suffix('.').filter(|_| !form.keeps_dot).unwrap_or(text).to_lowercase();
    let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
    let host = undot(host);
    let host = match port {
        Some(port) if form.keeps_port => format!("{host}:{port}"),
        _ => host,
    };
    let length = |text: &str| -i64::try_from(text.len()).unwrap();
    let below = |suffix: &str| {
        let name = undot(suffix.trim_start_matches("*").trim_start_matches('.'));
        let before = host.strip_suffix(&name)?.strip_suffix('.')?;
        (!before.is_empty()).then(|| (before.to_owned(), length(&name) - 1))
    };
    match pattern {
        HostPattern::Any => Some((3, 0, false)),
        HostPattern::Exact(exact) => (undot(exact) == host).then_some((0, 0, false)),
        HostPattern::Suffix(suffix) => below(suffix).map(|(_, length)| (1, length, true)),
        HostPattern::OneLabel(suffix) => {
            below(suffix).filter(|(before, _)| !before.contains('.')).map(|(_, length)| (1, length, false))
        }
        HostPattern::ByteSuffix(text) => {
            let before = host.strip_suffix(&text.to_lowercase())?;
            (!before.is_empty()).then_some((1, length(text), true))
        }
        HostPattern::BytePrefix(text) => {
            let after = host.strip_prefix(&text.to_lowercase())?;
            (!after.is_empty()).then_some((2, length(text), false))
        }
    }
}

fn path_key(pattern: &PathPattern, path: &str) -> Option<PathKey> {
    let length = |text: &str| -i64::try_from(text.len()).unwrap();
    match pattern {
        PathPattern::Any => Some((3, 0, 0, false, 0)),
        PathPattern::Exact(exact) => (exact == path).then_some((0, 0, 1, false, 0)),
        PathPattern::Regex(text) => whole_regex(text, path).then_some((2, 0, 0, false, 0)),
        PathPattern::Caseless(caseless) => {
            let path = path.to_ascii_lowercase();
            let (inner, kind) = match caseless {
                CaselessPath::Exact(text) => (PathPattern::Exact(text.to_ascii_lowercase()), 2),
                CaselessPath::Prefix(text) => (PathPattern::Prefix(text.to_ascii_lowercase()), 3),
                CaselessPath::BytePrefix(text) => (PathPattern::BytePrefix(text.to_ascii_lowercase()), 4),
            };
            path_key(&inner, &path).map(|key| (key.0, key.1, kind, key.3, key.4))
        }
        PathPattern::BytePrefix(prefix) => {
            path.starts_with(prefix).then_some((1, length(prefix), 2, false, 0))
        }
        PathPattern::Search(search) => {
            let flags = if search.is_caseless { "(?i-u)" } else { "(?-u)" };
            let is_met =
                path.starts_with(&search.below) && is_match(&format!("{flags}{}", search.expression), path);
            is_met.then_some((2, 0, 0, false, 0))
        }
        PathPattern::Prefix(prefix) => {
            let stem = prefix.strip_suffix('/').unwrap_or(prefix);
            let rest = path.strip_prefix(stem)?;
            (rest.is_empty() || rest.starts_with('/')).then_some((1, length(stem), 1, false, 0))
        }
        PathPattern::Template(template) => {
            if !template.contains('{') {
                return path_key(&PathPattern::Exact(template.clone()), path);
            }
            // The template as an expression: captures become groups.
            let mut expression = String::new();
            let mut fixed = 0;
            for segment in template[1..].split('/') {
                if segment == "{rest...}" {
                    expression.push_str("(/.*)?");
                    continue;
                }
                fixed += 1;
                expression.push('/');
                if segment.starts_with('{') {
                    expression.push_str("[^/]+");
                } else {
                    fixed += i64::try_from(segment.len()).unwrap();
                    expression.push_str(&regex::escape(segment));
                }
            }
            let before = template.split('{').next().unwrap();
            let before = before.strip_suffix('/').unwrap();
            let has_rest = template.contains("...}");
            let is_met = path.starts_with('/') && whole_regex(&expression, path);
            is_met.then_some((1, length(before), 0, has_rest, -fixed))
        }
    }
}

fn passes(spec: &ValueMatch, values: &[&str]) -> bool {
    if spec.test == ValueTest::Absent {
        return values.is_empty();
    }
    match (values, spec.missing) {
        ([], Missing::Fails) => false,
        ([], Missing::Passes) => true,
        ([], Missing::IsEmpty) => is_met(spec, "") != spec.is_inverted,
        (values, _) => values.iter().any(|value| is_met(spec, value)) != spec.is_inverted,
    }
}

fn is_met(spec: &ValueMatch, value: &str) -> bool {
    let fold = |text: &str| if spec.is_caseless { text.to_ascii_lowercase() } else { text.to_owned() };
    match &spec.test {
        ValueTest::Present => true,
        ValueTest::Absent => false,
        ValueTest::Exact(text) => fold(value) == fold(text),
        ValueTest::Prefix(text) => fold(value).starts_with(&fold(text)),
        ValueTest::Suffix(text) => fold(value).ends_with(&fold(text)),
        ValueTest::Contains(text) => fold(value).contains(&fold(text)),
        ValueTest::Regex(text) => whole_regex(text, value),
        ValueTest::Range(start, end) => {
            value.parse::<i64>().is_ok_and(|number| *start <= number && number < *end)
        }
    }
}

fn whole_regex(text: &str, value: &str) -> bool {
    is_match(&format!(r"(?s-u)\A(?:{text})\z"), value)
}

/// Caches expressions: there are few, and compiling them takes longer than everything else.
fn is_match(expression: &str, value: &str) -> bool {
    thread_local! { static KNOWN: RefCell<HashMap<String, Regex>> = RefCell::default() }
    KNOWN.with_borrow_mut(|known| {
        if !known.contains_key(expression) {
            known.insert(expression.to_owned(), Regex::new(expression).unwrap());
        }
        known[expression].is_match(value.as_bytes())
    })
}

fn raw_pairs(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').map(|part| part.split_once('=').unwrap_or((part, "")));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn form_pairs(query: &str) -> Vec<(String, String)> {
    let decode = |text: &str| text.replace("%78", "x").replace("%31", "1");
    let parts = query.split('&').filter(|part| !part.is_empty());
    let pairs = parts.map(|part| part.split_once('=').unwrap_or((part, "")));
    pairs.map(|(name, value)| (decode(name), decode(value))).collect()
}
