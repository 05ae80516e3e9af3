//! The winner by the letter of the rules' documentation: another reading of it than the crate's, on the rules' text.

use std::cell::RefCell;
use std::collections::HashMap;

use eddy_route::{HostPattern, PathPattern, RouteTable, Rule, ValueMatch, ValueTest};
use regex::bytes::Regex;

use crate::request::Ask;

/// What a rule that matches is compared by; the least wins.
type Key = (HostKey, usize, i32, PathKey, bool, i64, i64, usize);
/// Exact hosts first, then the longest suffix.
type HostKey = (u8, i64);
/// Class, length, template before prefix, no rest first, fixed bytes.
type PathKey = (u8, i64, u8, bool, i64);

pub(crate) fn winner(tables: &[RouteTable], ask: &Ask) -> Option<String> {
    let mut best: Option<(Key, String)> = None;
    for (table, spec) in tables.iter().enumerate() {
        for (at, rule) in spec.rules.iter().enumerate() {
            let Some(key) = key(table, at, rule, ask) else { continue };
            if best.as_ref().is_none_or(|(least, _)| key < *least) {
                best = Some((key, rule.name.to_string()));
            }
        }
    }
    best.map(|(_, name)| name)
}

fn key(table: usize, at: usize, rule: &Rule, ask: &Ask) -> Option<Key> {
    let any = [HostPattern::Any];
    let hosts = if rule.hosts.is_empty() { &any[..] } else { &rule.hosts };
    let host = hosts.iter().filter_map(|host| host_key(host, &ask.host)).min()?;
    let path = path_key(&rule.path, if ask.path.is_empty() { "/" } else { &ask.path })?;
    let query = form_pairs(&ask.query);
    let is_met = (rule.methods.is_empty() || rule.methods.contains(&ask.method))
        && rule.headers.iter().all(|spec| {
            let is_named = |field: &&(String, String)| field.0.eq_ignore_ascii_case(&spec.name);
            let values: Vec<&str> =
                ask.fields.iter().filter(is_named).map(|field| field.1.as_str()).collect();
            passes(spec, &values)
        })
        && rule.query.iter().all(|spec| {
            let first = query.iter().find(|pair| pair.0 == spec.name);
            passes(spec, &first.map(|pair| pair.1.as_str()).into_iter().collect::<Vec<_>>())
        });
    let count = |len: usize| -i64::try_from(len).unwrap();
    let rank = rule.rank.unwrap_or(0);
    let (headers, queries) = (count(rule.headers.len()), count(rule.query.len()));
    is_met.then_some((host, table, rank, path, rule.methods.is_empty(), headers, queries, at))
}

fn host_key(pattern: &HostPattern, host: &str) -> Option<HostKey> {
    let fold = |text: &str| text.strip_suffix('.').unwrap_or(text).to_lowercase();
    let host = fold(host);
    match pattern {
        HostPattern::Any => Some((2, 0)),
        HostPattern::Exact(exact) => (fold(exact) == host).then_some((0, 0)),
        HostPattern::Suffix(suffix) => {
            let name = fold(suffix.trim_start_matches("*").trim_start_matches('.'));
            let below = host.strip_suffix(&name)?.strip_suffix('.')?;
            (!below.is_empty()).then_some((1, -i64::try_from(name.len()).unwrap()))
        }
    }
}

fn path_key(pattern: &PathPattern, path: &str) -> Option<PathKey> {
    let length = |text: &str| -i64::try_from(text.len()).unwrap();
    match pattern {
        PathPattern::Any => Some((3, 0, 0, false, 0)),
        PathPattern::Exact(exact) => (exact == path).then_some((0, 0, 0, false, 0)),
        PathPattern::Regex(text) => whole_regex(text, path).then_some((2, 0, 0, false, 0)),
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
    match &spec.test {
        ValueTest::Present => !values.is_empty(),
        ValueTest::Absent => values.is_empty(),
        ValueTest::Exact(text) => values.contains(&text.as_str()),
        ValueTest::Prefix(text) => values.iter().any(|value| value.starts_with(text)),
        ValueTest::Suffix(text) => values.iter().any(|value| value.ends_with(text)),
        ValueTest::Contains(text) => values.iter().any(|value| value.contains(text)),
        ValueTest::Regex(text) => values.iter().any(|value| whole_regex(text, value)),
    }
}

fn whole_regex(text: &str, value: &str) -> bool {
    is_match(&format!(r"(?s-u)\A(?:{text})\z"), value)
}

/// Expressions are kept: there are few, and compiling them takes longer than all else.
fn is_match(expression: &str, value: &str) -> bool {
    thread_local! { static KNOWN: RefCell<HashMap<String, Regex>> = RefCell::default() }
    KNOWN.with_borrow_mut(|known| {
        if !known.contains_key(expression) {
            known.insert(expression.to_owned(), Regex::new(expression).unwrap());
        }
        known[expression].is_match(value.as_bytes())
    })
}

fn form_pairs(query: &str) -> Vec<(String, String)> {
    let decode = |text: &str| text.replace("%78", "x").replace("%31", "1");
    let parts = query.split('&').filter(|part| !part.is_empty());
    let pairs = parts.map(|part| part.split_once('=').unwrap_or((part, "")));
    pairs.map(|(name, value)| (decode(name), decode(value))).collect()
}
