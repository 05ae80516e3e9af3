//! Generation of requests that rules match, until one has the wanted result.

use std::collections::BTreeSet;

use crate::compile::{
    CompiledCondition, CompiledRule, CompiledTest, ConditionSource, HostKey, PatternScratch, RequestPart,
};
use crate::request::RouteRequest;
use crate::witness::request::Witness;
use crate::witness::{paths, values};

/// Search for requests that rules match.
pub(crate) struct WitnessSearch {
    /// Names of headers and parameters that some rule requires to be absent: a request with them does not match that
    /// rule.
    shunned: BTreeSet<(bool, String)>,
    /// Whether some rule takes a fraction of requests.
    has_fractions: bool,
}

impl WitnessSearch {
    /// Creates a search for these rules.
    pub(crate) fn new(rules: &[CompiledRule]) -> Self {
        let values = rules.iter().flat_map(CompiledRule::values);
        let absent = values.filter(|condition| matches!(condition.test, CompiledTest::Absent));
        let shunned = absent.map(|condition| (is_of_query(condition), condition.name.to_string()));
        let has_fractions = rules.iter().any(|rule| rule.fraction.is_some());
        Self { shunned: shunned.take(SHUNNED_MAX).collect(), has_fractions }
    }

    /// Returns the first short request of a host that is accepted by `is_wanted`, among those generated for these
    /// rules.
    pub(crate) fn find(
        &self,
        rules: &[&CompiledRule],
        host: &HostKey,
        mut is_wanted: impl FnMut(&RouteRequest<'_>) -> bool,
    ) -> Option<Witness> {
        let (plain, full) = (conditions(rules)?, self.all_conditions(rules)?);
        let mut paths: Vec<String> = rules.iter().flat_map(|rule| paths::paths(rule)).collect();
        paths.extend(part_values(rules, RequestPart::Target));
        paths.sort_by_key(String::len);
        let mut hosts = hosts(host);
        hosts.extend(part_values(rules, RequestPart::Authority));
        let methods = methods(rules);
        let variants = self.variants(rules);
        let mut tries = 0;
        for (conditions, path) in [plain, full].iter().flat_map(|it| paths.iter().map(move |path| (it, path)))
        {
            for (host, method) in
                hosts.iter().flat_map(|host| methods.iter().map(move |method| (host, method)))
            {
                tries += 1;
                if tries > TRIES_MAX {
                    return None;
                }
                let mut witness =
                    Witness { method: method.clone(), host: host.clone(), ..conditions.clone() };
                witness.set_path_and_query(path);
                for (scheme, random) in &variants {
                    (witness.scheme, witness.random) = (scheme.clone(), *random);
                    if witness.with(&mut is_wanted) {
                        return Some(witness);
                    }
                }
            }
        }
        None
    }

    /// Returns schemes and random numbers to try: the usual ones, and others if rules require them.
    fn variants(&self, rules: &[&CompiledRule]) -> Vec<(String, u64)> {
        let mut schemes = vec!["http".to_owned()];
        schemes.extend(part_values(rules, RequestPart::Scheme));
        // The first and the last number for every common denominator.
        let randoms: &[u64] = if self.has_fractions { &[0, 999_999] } else { &[0] };
        schemes.iter().flat_map(|scheme| randoms.iter().map(|random| (scheme.clone(), *random))).collect()
    }

    /// Returns the request of [`conditions`], extended by the names that other rules require to be absent.
    fn all_conditions(&self, rules: &[&CompiledRule]) -> Option<Witness> {
        let mut witness = conditions(rules)?;
        for (is_query, name) in &self.shunned {
            let mut said = rules.iter().flat_map(|rule| rule.values());
            if !said.any(|said| *said.name == **name && is_of_query(said) == *is_query) {
                if *is_query {
                    witness.push_parameter(name, "1");
                } else {
                    witness.push_field(name, "1");
                }
            }
        }
        Some(witness)
    }
}

/// Returns headers and a query that pass the conditions of rules; `None` if none are found.
fn conditions(rules: &[&CompiledRule]) -> Option<Witness> {
    let wanted: Vec<&CompiledCondition> = rules.iter().flat_map(|rule| rule.values()).collect();
    let mut witness = Witness::default();
    let mut scratch = PatternScratch::default();
    for condition in &wanted {
        // Method, path and similar parts are varied by the caller.
        if matches!(condition.source, ConditionSource::Part(_)) || condition.holds_without(&mut scratch) {
            continue;
        }
        let value = value_for(condition, &wanted)?;
        match condition.source {
            ConditionSource::RawQuery => witness.push_raw(&condition.name, &value),
            ConditionSource::Cookie => witness.push_field("cookie", &format!("{}={value}", condition.name)),
            ConditionSource::Query => witness.push_parameter(&condition.name, &value),
            ConditionSource::Header(_) => witness.push_field(&condition.name, &value),
            ConditionSource::Part(_) => {}
        }
    }
    Some(witness)
}

impl Witness {
    /// Sets the path, and the query if the target has one.
    fn set_path_and_query(&mut self, target: &str) {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        path.clone_into(&mut self.path);
        if self.query.is_empty() {
            query.clone_into(&mut self.query);
        }
    }

    fn push_raw(&mut self, name: &str, value: &str) {
        if !self.query.split('&').any(|pair| pair.split('=').next() == Some(name)) {
            let sign = if self.query.is_empty() { "" } else { "&" };
            self.query.push_str(&format!("{sign}{name}={value}"));
        }
    }

    /// Adds a query parameter, unless there is one with its name.
    fn push_parameter(&mut self, name: &str, value: &str) {
        let is_there = self.query.split('&').any(|pair| pair.split('=').next() == Some(&*encoded(name)));
        if !is_there {
            let sign = if self.query.is_empty() { "" } else { "&" };
            self.query.push_str(&format!("{sign}{}={}", encoded(name), encoded(value)));
        }
    }

    /// Adds a header, unless it is there already.
    fn push_field(&mut self, name: &str, value: &str) {
        if !self.fields.iter().any(|field| field.0 == name && field.1 == value) {
            self.fields.push((name.to_owned(), value.to_owned()));
        }
    }
}

/// Returns a value that passes a condition; for a parameter, of which only the first value counts, one that passes all
/// conditions with its name.
fn value_for(condition: &CompiledCondition, wanted: &[&CompiledCondition]) -> Option<String> {
    let is_alike =
        |other: &&&CompiledCondition| other.source == condition.source && other.name == condition.name;
    let mut candidates = values::of_condition(condition);
    let is_several = wanted.iter().filter(is_alike).any(|other| other.is_inverted);
    if !condition.is_single() && !is_several {
        return candidates.into_iter().next();
    }
    candidates.extend(wanted.iter().filter(is_alike).flat_map(|other| values::of_condition(other)));
    let mut scratch = PatternScratch::default();
    candidates.into_iter().find(|value| {
        wanted.iter().filter(is_alike).all(|other| other.holds_for(value.as_bytes(), &mut scratch))
    })
}

fn is_of_query(condition: &CompiledCondition) -> bool {
    matches!(condition.source, ConditionSource::Query | ConditionSource::RawQuery)
}

/// Returns hosts that match a pattern, the simplest first.
fn hosts(host: &HostKey) -> Vec<String> {
    match host {
        HostKey::Exact(host) => vec![host.to_string()],
        HostKey::Suffix(suffix) => vec![format!("a{suffix}"), format!("other.a{suffix}")],
        HostKey::OneLabel(suffix) => vec![format!("a{suffix}"), format!("other{suffix}")],
        HostKey::Prefix(prefix) => vec![format!("{prefix}a"), format!("{prefix}a.other")],
        HostKey::Any => ["example.com", "a", ""].map(str::to_owned).to_vec(),
    }
}

/// Returns the methods that rules name, or some common ones if no rule names any.
fn methods(rules: &[&CompiledRule]) -> Vec<String> {
    let mut methods: Vec<String> =
        rules.iter().flat_map(|rule| rule.methods.iter().map(ToString::to_string)).collect();
    methods.extend(part_values(rules, RequestPart::Method));
    if methods.is_empty() {
        methods.extend(["GET", "POST", "PUT", "OTHER"].map(str::to_owned));
    }
    methods
}

/// Returns values that pass the conditions on a part of the request.
fn part_values(rules: &[&CompiledRule], part: RequestPart) -> Vec<String> {
    let conditions = rules.iter().flat_map(|rule| rule.values());
    conditions
        .filter(|condition| condition.source == ConditionSource::Part(part))
        .flat_map(values::of_condition)
        .collect()
}

/// Returns a name or value encoded for a query.
fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let piece = |byte: u8| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(piece).collect()
}

/// Maximum requests tried for one example.
const TRIES_MAX: usize = 4_000;

/// Maximum names that are sent to avoid other rules.
const SHUNNED_MAX: usize = 16;
