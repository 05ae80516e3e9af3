//! Makes requests that a rule matches until one of them is as wanted.

use std::collections::BTreeSet;

use crate::compile::{CompiledRule, Condition, HostKey, PatternScratch, Source, Test};
use crate::request::RouteRequest;
use crate::witness::request::Witness;
use crate::witness::{paths, values};

/// Searches for requests that rules match.
pub(crate) struct Search {
    /// Names of fields and parameters that some rule wants to be absent: sending them leads past that rule.
    shunned: BTreeSet<(bool, String)>,
}

impl Search {
    /// A search among these rules.
    pub(crate) fn new(rules: &[CompiledRule]) -> Self {
        let values = rules.iter().flat_map(CompiledRule::values);
        let absent = values.filter(|condition| matches!(condition.test, Test::Absent));
        let shunned = absent.map(|condition| (condition.source == Source::Query, condition.name.to_string()));
        Self { shunned: shunned.take(SHUNNED_MAX).collect() }
    }

    /// A short request of a host that these rules match and that is as wanted; the first of those tried.
    pub(crate) fn find(
        &self,
        rules: &[&CompiledRule],
        host: &HostKey,
        mut is_wanted: impl FnMut(&RouteRequest<'_>) -> bool,
    ) -> Option<Witness> {
        let (plain, full) = (conditions(rules)?, self.all_conditions(rules)?);
        let mut paths: Vec<String> = rules.iter().flat_map(|rule| paths::paths(&rule.path)).collect();
        paths.sort_by_key(String::len);
        let hosts = hosts(host);
        let methods = methods(rules);
        let mut tries = 0;
        for (conditions, path) in [plain, full].iter().flat_map(|it| paths.iter().map(move |path| (it, path)))
        {
            for (host, method) in
                hosts.iter().flat_map(|host| methods.iter().map(move |method| (host, *method)))
            {
                tries += 1;
                if tries > TRIES_MAX {
                    return None;
                }
                let (host, path) = (host.clone(), path.clone());
                let witness = Witness { method: method.to_owned(), host, path, ..conditions.clone() };
                if witness.with(&mut is_wanted) {
                    return Some(witness);
                }
            }
        }
        None
    }

    /// What [`conditions`] are, and the names that other rules shun.
    fn all_conditions(&self, rules: &[&CompiledRule]) -> Option<Witness> {
        let mut witness = conditions(rules)?;
        for (is_query, name) in &self.shunned {
            let mut said = rules.iter().flat_map(|rule| rule.values());
            if !said.any(|said| *said.name == **name && (said.source == Source::Query) == *is_query) {
                witness.push(*is_query, name, "1");
            }
        }
        Some(witness)
    }
}

/// Fields and a query that pass the conditions of rules; `None` if none are found.
fn conditions(rules: &[&CompiledRule]) -> Option<Witness> {
    let wanted: Vec<&Condition> = rules.iter().flat_map(|rule| rule.values()).collect();
    let mut witness = Witness::default();
    for condition in wanted.iter().filter(|condition| !matches!(condition.test, Test::Absent)) {
        let value = value_for(condition, &wanted)?;
        witness.push(condition.source == Source::Query, &condition.name, &value);
    }
    Some(witness)
}

impl Witness {
    fn push(&mut self, is_query: bool, name: &str, value: &str) {
        if is_query {
            let first = self.query.split('&').any(|pair| pair.split('=').next() == Some(&*encoded(name)));
            if !first {
                let sign = if self.query.is_empty() { "" } else { "&" };
                self.query.push_str(&format!("{sign}{}={}", encoded(name), encoded(value)));
            }
        } else if !self.fields.iter().any(|field| field.0 == name && field.1 == value) {
            self.fields.push((name.to_owned(), value.to_owned()));
        }
    }
}

/// A value that passes a condition; of a parameter, of which only the first counts, one that passes all of its name.
fn value_for(condition: &Condition, wanted: &[&Condition]) -> Option<String> {
    let is_alike = |other: &&&Condition| other.source == condition.source && other.name == condition.name;
    let mut candidates = values::of_test(&condition.test);
    if condition.source != Source::Query {
        return candidates.into_iter().next();
    }
    candidates.extend(wanted.iter().filter(is_alike).flat_map(|other| values::of_test(&other.test)));
    let mut scratch = PatternScratch::default();
    candidates.into_iter().find(|value| {
        wanted.iter().filter(is_alike).all(|other| other.test.passes(value.as_bytes(), &mut scratch))
    })
}

/// Hosts of a pattern, the plainest first.
fn hosts(host: &HostKey) -> Vec<String> {
    match host {
        HostKey::Exact(host) => vec![host.to_string()],
        HostKey::Suffix(suffix) => vec![format!("a{suffix}"), format!("other.a{suffix}")],
        HostKey::Any => ["example.com", "a", ""].map(str::to_owned).to_vec(),
    }
}

/// Methods that rules name, some common ones if none of them names any.
fn methods<'r>(rules: &[&'r CompiledRule]) -> Vec<&'r str> {
    let mut methods: Vec<&str> =
        rules.iter().flat_map(|rule| rule.methods.iter().map(AsRef::as_ref)).collect();
    if methods.is_empty() {
        methods.extend(["GET", "POST", "PUT", "OTHER"]);
    }
    methods
}

/// A name or value as a query has it.
fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let piece = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(piece).collect()
}

/// Most requests tried for one witness.
const TRIES_MAX: usize = 4_000;

/// Most names that are sent to lead past other rules.
const SHUNNED_MAX: usize = 16;
