//! Converts tables of other dialects to eddy's own rules, based on the common form of rules in all dialects.
//!
//! Ranks preserve the dialect's order where eddy's own differs. A final catch-all rule per host keeps requests from
//! rules of less specific hosts, if the dialect does so.

use std::collections::HashMap;

use eddy_config::{Action, ActionKind, Respond, TableConfig};
use eddy_ids::Shared;
use eddy_route::normalise::{Normal, eddy};
use eddy_route::{
    CaselessPath, Dialect, HostPattern, PathForm, PathPattern, PathRewrite, RouteTable, Router, Rule,
    SourceLocation,
};

use super::named::{NameAllocator, is_name_letter};
use super::plain::{Loss, PlainRule, hosts_of, matches_all_requests};

/// Converts the rules of a table of any dialect to eddy's own rules.
pub(super) fn rules(config: &TableConfig, is_alone: bool, losses: &mut Vec<Loss>) -> Vec<PlainRule> {
    let mut lowering = RouteTableConverter {
        table: &config.routes,
        losses,
        names: NameAllocator::default(),
        rules: Vec::new(),
    };
    for (index, rule) in config.routes.rules.iter().enumerate() {
        lowering.rule(index, rule, config.action(rule.action));
    }
    lowering.keep_order();
    lowering.add_host_catch_alls(is_alone);
    lowering.rules.into_iter().map(|kept| kept.plain).collect()
}

struct RouteTableConverter<'l> {
    table: &'l RouteTable,
    losses: &'l mut Vec<Loss>,
    names: NameAllocator<usize>,
    rules: Vec<Kept>,
}

/// A rule that can be expressed, and its index in the table.
struct Kept {
    index: usize,
    plain: PlainRule,
}

impl RouteTableConverter<'_> {
    fn add_loss(&mut self, origin: &SourceLocation, reason: &str) {
        self.losses.push(Loss { origin: origin.clone(), reason: reason.to_owned() });
    }

    fn add_rule_loss(&mut self, rule: &Rule, reason: &str) {
        self.losses.push(Loss::of_rule(rule, reason));
    }

    fn rule(&mut self, index: usize, rule: &Rule, action: &Action) {
        if let ActionKind::Sites(_) = action.kind {
            return self.losses.push(mixed_sites_loss(rule));
        }
        let (mut own, mut action) = (rule.clone(), action.clone());
        match own.fraction {
            Some(fraction) if fraction.numerator == 0 => return,
            Some(fraction) if fraction.numerator >= fraction.denominator => own.fraction = None,
            Some(_) | None => {}
        }
        own.claim = None;
        own.rank = None;
        own.name = self.names.of(index, &rule.name, is_name_letter).into();
        own.hosts = rule.hosts.iter().map(own_host).collect();
        let unsupported: Vec<String> =
            own.hosts.iter().filter(|host| !is_convertible_host(host)).map(text_of).collect();
        if !unsupported.is_empty() {
            let reason =
                format!("hosts like `{}` cannot be expressed; they are left out", unsupported.join("`, `"));
            self.add_rule_loss(rule, &reason);
            own.hosts.retain(is_convertible_host);
            if own.hosts.is_empty() {
                return;
            }
        }
        if let Some(text) = literal(&own.path)
            && self.table.reading.path != PathForm::Normal
            && !matches!(eddy(text.as_bytes(), &mut Vec::new()), Ok(Normal::AsIs))
        {
            self.add_rule_loss(rule, &format!("no normalised path matches `{text}`; it is left out"));
            return;
        }
        if !self.convert_rewrite(rule, &mut own) || !self.convert_redirect(rule, &mut own, &mut action) {
            return;
        }
        own.path = own_path(&own.path);
        self.rules.push(Kept { index, plain: PlainRule { rule: own, action } });
    }

    /// Converts a rewrite of the matched bytes of a path to a rewrite of eddy.yaml; returns `false` if that is
    /// impossible.
    fn convert_rewrite(&mut self, rule: &Rule, own: &mut Rule) -> bool {
        let Some(PathRewrite::Matched(by)) = &rule.rewrite else { return true };
        if by.contains(['{', '}']) {
            self.add_rule_loss(rule, "braces in a new path would refer to captures; it is left out");
            return false;
        }
        let rest = match &rule.path {
            PathPattern::BytePrefix(prefix) => Some((prefix, "", "(?<rest>(?s:.*))")),
            PathPattern::Prefix(prefix) => Some((prefix, "", "(?<rest>(?:/(?s:.*))?)")),
            PathPattern::Caseless(CaselessPath::BytePrefix(prefix)) => {
                Some((prefix, "i", "(?<rest>(?s:.*))"))
            }
            PathPattern::Caseless(CaselessPath::Prefix(prefix)) => {
                Some((prefix, "i", "(?<rest>(?:/(?s:.*))?)"))
            }
            PathPattern::Any
            | PathPattern::Exact(_)
            | PathPattern::Caseless(CaselessPath::Exact(_))
            | PathPattern::Regex(_)
            | PathPattern::Search(_)
            | PathPattern::Template(_) => None,
        };
        let Some((prefix, flag, rest)) = rest else {
            own.rewrite = Some(PathRewrite::Full(by.clone()));
            return true;
        };
        own.path = PathPattern::Regex(format!("(?{flag}:{}){rest}", regex_syntax::escape(prefix)));
        own.rewrite = Some(PathRewrite::Full(format!("{by}{{rest}}")));
        true
    }

    /// Converts the parts of a redirect to eddy.yaml; returns `false` if that is impossible.
    fn convert_redirect(&mut self, rule: &Rule, own: &mut Rule, action: &mut Action) -> bool {
        let ActionKind::Redirect(redirect) = &mut action.kind else { return true };
        if let Some(path) = redirect.path.take() {
            if path.contains(['?', '{', '}']) {
                self.add_rule_loss(
                    rule,
                    "a redirect target with its own query cannot be expressed; it is left out",
                );
                return false;
            }
            own.rewrite = Some(PathRewrite::Full(path.to_string()));
        }
        match (redirect.port.take(), &redirect.host) {
            (None, _) => {}
            (Some(port), Some(host)) => redirect.host = Some(format!("{host}:{port}").into()),
            (Some(_), None) => {
                self.add_rule_loss(rule, "a port without a host cannot be expressed; it is left out");
                return false;
            }
        }
        redirect.is_absolute = false;
        true
    }

    /// Gives ranks to the rules of hosts for which eddy's own order differs from the dialect's.
    fn keep_order(&mut self) {
        let rules: Vec<&Rule> = self.rules.iter().map(|kept| &self.table.rules[kept.index]).collect();
        let theirs = order(self.table, rules.into_iter().cloned());
        let own_table = RouteTable::new(&self.table.name, Dialect::Eddy);
        let ours = order(&own_table, self.rules.iter().map(|kept| kept.plain.rule.clone()));
        let (Some(theirs), Some(ours)) = (theirs, ours) else { return self.add_order_loss() };
        let mut is_ranked = vec![false; self.rules.len()];
        for (host, rules) in &ours {
            if theirs.get(host).is_some_and(|wanted| wanted != rules) {
                rules.iter().for_each(|rule| is_ranked[*rule] = true);
            }
        }
        // A rule with several hosts has a single rank: a rule that precedes another under one host precedes it under
        // every host.
        let mut places: Vec<usize> = vec![0; self.rules.len()];
        let mut is_moved = true;
        for _ in 0..ROUNDS_MAX {
            if !std::mem::take(&mut is_moved) {
                break;
            }
            for rules in theirs.values() {
                for pair in rules.windows(2) {
                    if let [before, after] = *pair
                        && places[after] <= places[before]
                    {
                        places[after] = places[before] + 1;
                        is_moved = true;
                    }
                }
            }
        }
        if is_moved {
            return self.add_order_loss();
        }
        for (kept, (place, is_ranked)) in self.rules.iter_mut().zip(places.into_iter().zip(is_ranked)) {
            if is_ranked {
                kept.plain.rule.rank = i32::try_from(place + 1).ok();
            }
        }
    }

    fn add_order_loss(&mut self) {
        let Some(first) = self.table.rules.first() else { return };
        let reason = format!("table `{}`: the order of its rules cannot be expressed", self.table.name);
        self.add_loss(&first.origin, &reason);
    }

    /// Adds a final catch-all rule to hosts whose requests do not fall through to less specific hosts.
    fn add_host_catch_alls(&mut self, is_alone: bool) {
        let mut hosts: Vec<HostPattern> = self.table.ends.iter().map(own_host).collect();
        if self.table.reading.is_closed {
            hosts.extend(self.table.rules.iter().flat_map(|rule| rule.hosts.iter().map(own_host)));
        }
        let all: Vec<HostPattern> = self.rules.iter().flat_map(|kept| hosts_of(&kept.plain.rule)).collect();
        let mut done: Vec<HostPattern> = Vec::new();
        for host in hosts {
            let is_wider = |other: &HostPattern| *other != host && is_below(&host, other);
            let is_covered = self.rules.iter().any(|kept| matches_all_requests(&kept.plain.rule, &host));
            if !is_convertible_host(&host) || done.contains(&host) || is_covered || !all.iter().any(is_wider)
            {
                continue;
            }
            let first =
                self.table.rules.iter().find(|rule| rule.hosts.iter().map(own_host).any(|own| own == host));
            let origin =
                first.map_or_else(|| SourceLocation { file: "".into(), line: 0 }, |rule| rule.origin.clone());
            if !is_alone {
                let reason = format!(
                    "unmatched requests for {} go to later tables in the original, and get 404 here",
                    text_of(&host)
                );
                self.add_loss(&origin, &reason);
            }
            let index = self.table.rules.len() + done.len();
            let name = self.names.of(index, &format!("end-of-{}", text_of(&host)), is_name_letter);
            let mut rule = Rule::new(&name, origin);
            rule.hosts = vec![host.clone()];
            rule.rank = Some(LAST_RANK);
            self.rules.push(Kept { index, plain: PlainRule { rule, action: not_found() } });
            done.push(host);
        }
    }
}

/// Returns the loss for a rule that leads to NGINX servers among other tables.
pub(super) fn mixed_sites_loss(rule: &Rule) -> Loss {
    let reason = "an NGINX table next to other tables is not converted: run `eddy convert` with its file";
    Loss { origin: rule.origin.clone(), reason: reason.to_owned() }
}

/// Returns the indexes of the rules of each host, in the order of the table's dialect; `None` if the rules cannot be
/// compiled, which the configuration check has reported.
fn order(table: &RouteTable, rules: impl Iterator<Item = Rule>) -> Option<HashMap<String, Vec<usize>>> {
    let own = RouteTable { rules: rules.collect(), ends: Vec::new(), ..table.clone() };
    let router = Router::build(std::slice::from_ref(&own)).ok()?;
    let mut hosts: HashMap<String, Vec<usize>> = HashMap::new();
    for ranked in router.ordered() {
        hosts.entry(ranked.rule.host).or_default().push(ranked.rule.index as usize);
    }
    Some(hosts)
}

/// Converts a host to the form of eddy's own rules, if possible.
fn own_host(host: &HostPattern) -> HostPattern {
    match host {
        HostPattern::ByteSuffix(suffix) if suffix.starts_with('.') => {
            HostPattern::Suffix(suffix.trim_start_matches('.').to_owned())
        }
        HostPattern::Any
        | HostPattern::Exact(_)
        | HostPattern::Suffix(_)
        | HostPattern::OneLabel(_)
        | HostPattern::ByteSuffix(_)
        | HostPattern::BytePrefix(_) => host.clone(),
    }
}

/// Converts a path to the form of eddy's own rules.
fn own_path(path: &PathPattern) -> PathPattern {
    match path {
        PathPattern::BytePrefix(prefix) if prefix == "/" => PathPattern::Prefix(prefix.clone()),
        PathPattern::BytePrefix(prefix) => {
            PathPattern::Regex(format!("{}(?s:.*)", regex_syntax::escape(prefix)))
        }
        PathPattern::Caseless(path) => PathPattern::Regex(super::eddy::caseless(path)),
        PathPattern::Any
        | PathPattern::Exact(_)
        | PathPattern::Prefix(_)
        | PathPattern::Regex(_)
        | PathPattern::Search(_)
        | PathPattern::Template(_) => path.clone(),
    }
}

/// Returns the text of a path that is compared byte by byte.
fn literal(path: &PathPattern) -> Option<&str> {
    match path {
        PathPattern::Exact(text)
        | PathPattern::Prefix(text)
        | PathPattern::BytePrefix(text)
        | PathPattern::Caseless(
            CaselessPath::Exact(text) | CaselessPath::Prefix(text) | CaselessPath::BytePrefix(text),
        ) => Some(text),
        PathPattern::Any | PathPattern::Regex(_) | PathPattern::Search(_) | PathPattern::Template(_) => None,
    }
}

/// Whether a request for `host` can also match `other`, which is less specific.
fn is_below(host: &HostPattern, other: &HostPattern) -> bool {
    let ends_in = |host: &str, suffix: &str| {
        host.strip_suffix(suffix.trim_start_matches("*."))
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    match (host, other) {
        (HostPattern::Any, _) | (_, HostPattern::Exact(_) | HostPattern::OneLabel(_)) => false,
        (_, HostPattern::Any | HostPattern::BytePrefix(_) | HostPattern::ByteSuffix(_)) => true,
        (
            HostPattern::Exact(host) | HostPattern::Suffix(host) | HostPattern::OneLabel(host),
            HostPattern::Suffix(suffix),
        ) => ends_in(host.trim_start_matches("*."), suffix),
        (HostPattern::BytePrefix(_) | HostPattern::ByteSuffix(_), HostPattern::Suffix(_)) => true,
    }
}

fn text_of(host: &HostPattern) -> String {
    match host {
        HostPattern::Any => "any host".to_owned(),
        HostPattern::Exact(host) => host.clone(),
        HostPattern::Suffix(host) | HostPattern::OneLabel(host) => {
            format!("*.{}", host.trim_start_matches("*."))
        }
        HostPattern::ByteSuffix(suffix) => format!("*{suffix}"),
        HostPattern::BytePrefix(prefix) => format!("{prefix}*"),
    }
}

/// Whether eddy.yaml can express a host pattern.
fn is_convertible_host(host: &HostPattern) -> bool {
    match host {
        HostPattern::Any | HostPattern::Suffix(_) => true,
        HostPattern::Exact(host) => !host.contains(':') || host.starts_with('['),
        HostPattern::OneLabel(_) | HostPattern::ByteSuffix(_) | HostPattern::BytePrefix(_) => false,
    }
}

/// Returns the action for requests that match no rule.
fn not_found() -> Action {
    let respond = Respond { status: 404, body: Shared::default(), content_type: "text/plain".into() };
    Action::new(ActionKind::Respond(respond))
}

/// Rank of rules that follow all others; it is within the range of eddy.yaml.
const LAST_RANK: i32 = 1_000_000;

/// Maximum number of passes; a table whose hosts have compatible orders needs fewer passes than it has hosts.
const ROUNDS_MAX: usize = 1_000;
