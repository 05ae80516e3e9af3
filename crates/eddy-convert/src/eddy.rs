//! Writes eddy.yaml.

use eddy_config::{
    Action, ActionKind, ClusterSlots, Connect, Failover, FailoverReason, Protocols, RetryConfig, Upgrades,
};
use eddy_http::{FieldEdits, GrpcStatus};
use eddy_ids::ClusterId;
use eddy_route::{CaselessPath, PathPattern, PathRewrite, Rule, ValueMatch, ValueTest};
use serde_json::{Map, Value, json};

use super::cluster::{cluster_value, unsupported_settings};
use super::named::NameAllocator;
use super::plain::{
    Loss, PlainConfig, PlainRule, has_unsupported_hosts, host_text, unsupported_action_settings,
};
use super::tls::{listener_tls_value, unsupported_listener_tls};
use super::yaml::{block, put, time};

/// Writes the listeners, their tables and the clusters in use.
pub(super) fn write(plain: &PlainConfig<'_>, losses: &mut Vec<Loss>) -> String {
    let mut writer = EddyYamlWriter {
        clusters: plain.clusters,
        names: NameAllocator::default(),
        used: Vec::new(),
        losses,
    };
    let mut tables = Map::new();
    let mut listeners = Vec::new();
    for listener in &plain.listeners {
        let mut names = Vec::new();
        for table in &listener.tables {
            let rules: Vec<Value> = table.rules.iter().filter_map(|rule| writer.rule(rule)).collect();
            names.push(Value::from(table.name.clone()));
            tables.insert(table.name.clone(), Value::from(rules));
        }
        let mut own = json!({"address": listener.address.to_string(), "routes": names});
        if listener.name != listener.address.to_string() {
            own["name"] = listener.name.clone().into();
        }
        if let Some(tls) = listener.tls {
            match unsupported_listener_tls(tls) {
                Some(reason) => listener.add_tls_losses(reason, writer.losses),
                None => own["tls"] = listener_tls_value(tls),
            }
        }
        // The other settings are limits, which every dialect leaves at eddy's defaults.
        let spoken = [("tls", listener.http2.over_tls), ("cleartext", listener.http2.in_cleartext)];
        for (key, _) in spoken.into_iter().filter(|(_, is_spoken)| !is_spoken) {
            own["http2"][key] = false.into();
        }
        listeners.push(own);
    }
    let mut clusters = Map::new();
    let mut done = 0;
    while let Some(id) = writer.used.get(done).copied() {
        done += 1;
        clusters.insert(writer.name(id), cluster_value(&plain.clusters[id]));
    }
    let mut text = block(&json!({"listeners": listeners}), 0);
    if let Some(zone) = plain.clusters.values().find_map(|cluster| cluster.zone.as_ref()) {
        text.push_str(&block(&json!({"zone": &**zone}), 0));
    }
    text.push_str(&block(&json!({"routes": tables}), 0));
    if !clusters.is_empty() {
        text.push_str(&block(&json!({"clusters": clusters}), 0));
    }
    text
}

struct EddyYamlWriter<'w> {
    clusters: &'w ClusterSlots,
    names: NameAllocator<ClusterId>,
    used: Vec<ClusterId>,
    losses: &'w mut Vec<Loss>,
}

impl EddyYamlWriter<'_> {
    fn name(&mut self, id: ClusterId) -> String {
        self.names.of(id, &self.clusters[id].name, |letter| {
            letter.is_ascii_alphanumeric() || "_.-".contains(letter)
        })
    }

    /// Returns the name of a cluster that a rule uses; reports its settings that eddy.yaml cannot express.
    fn use_cluster(&mut self, id: ClusterId, rule: &Rule) -> String {
        if !self.used.contains(&id) {
            self.used.push(id);
            let cluster = &self.clusters[id];
            for reason in unsupported_settings(cluster) {
                let reason = format!("cluster `{}`: {reason}", cluster.name);
                self.losses.push(Loss { origin: rule.origin.clone(), reason });
            }
        }
        self.name(id)
    }

    fn add_loss(&mut self, rule: &Rule, reason: &str) {
        self.losses.push(Loss::of_rule(rule, reason));
    }

    fn rule(&mut self, plain: &PlainRule) -> Option<Value> {
        let PlainRule { rule, action } = plain;
        let mut own = Map::new();
        own.insert("name".to_owned(), rule.name.to_string().into());
        let Some(conditions) = conditions(rule) else {
            self.add_loss(rule, "its conditions cannot be expressed in eddy.yaml; it is left out");
            return None;
        };
        if !conditions.is_empty() {
            own.insert("match".to_owned(), conditions.into());
        }
        if let Some(rank) = rule.rank {
            own.insert("rank".to_owned(), rank.into());
        }
        if matches!(rule.rewrite, Some(PathRewrite::Matched(_) | PathRewrite::Replace(_))) {
            self.add_loss(rule, "its path rewrite cannot be expressed in eddy.yaml; it is left out");
            return None;
        }
        let is_proxied = matches!(action.kind, ActionKind::Cluster(_) | ActionKind::Weighted(_));
        self.kind(rule, action, &mut own)?;
        if is_proxied {
            self.proxied(rule, action, &mut own);
        }
        for reason in unsupported_action_settings(action) {
            self.add_loss(rule, reason);
        }
        add_edits("response_headers", &action.response_edits, &mut own);
        Some(own.into())
    }

    fn kind(&mut self, rule: &Rule, action: &Action, own: &mut Map<String, Value>) -> Option<()> {
        match &action.kind {
            ActionKind::Cluster(cluster) => {
                own.insert("cluster".to_owned(), self.use_cluster(*cluster, rule).into());
            }
            ActionKind::Weighted(shares) => {
                let shares: Vec<Value> = shares
                    .iter()
                    .map(|share| json!({"cluster": self.use_cluster(share.cluster, rule), "weight": share.weight}))
                    .collect();
                own.insert("clusters".to_owned(), shares.into());
            }
            ActionKind::Respond(respond) => {
                let mut answer = json!({"status": respond.status});
                if !respond.body.is_empty() {
                    let Ok(body) = std::str::from_utf8(&respond.body) else {
                        self.add_loss(rule, "its response body is not text; it is left out");
                        return None;
                    };
                    answer["body"] = body.into();
                    answer["content_type"] = respond.content_type.to_string().into();
                }
                own.insert("respond".to_owned(), answer);
            }
            ActionKind::Redirect(redirect) => {
                let mut answer = json!({"status": redirect.status});
                let parts = [("scheme", &redirect.scheme), ("host", &redirect.host)];
                for (key, part) in parts {
                    if let Some(part) = part {
                        answer[key] = part.to_string().into();
                    }
                }
                if redirect.strip_query {
                    answer["strip_query"] = true.into();
                }
                if let Some((key, path)) = new_path(rule) {
                    answer[key] = path.into();
                }
                own.insert("redirect".to_owned(), answer);
            }
            ActionKind::Split(_) => {
                self.add_loss(rule, "a split between different actions cannot be expressed; it is left out");
                return None;
            }
            ActionKind::Sites(_) => return None,
        }
        Some(())
    }

    fn proxied(&mut self, rule: &Rule, action: &Action, own: &mut Map<String, Value>) {
        let mut rewrite = json!({});
        if let Some((key, path)) = new_path(rule) {
            rewrite[key] = path.into();
        }
        put(&mut rewrite, "host", action.host_rewrite.as_deref(), None, Value::from);
        if rewrite != json!({}) {
            own.insert("rewrite".to_owned(), rewrite);
        }
        add_edits("request_headers", &action.request_edits, own);
        if let Some(timeout) = action.timeout {
            own.insert("timeout".to_owned(), time(timeout));
        }
        if action.retry != RetryConfig::default() {
            let mut retry = json!({"attempts": action.retry.attempts.min(10)});
            put(&mut retry, "on_reset", action.retry.on_reset, false, Value::from);
            put(&mut retry, "on_timeout", action.retry.on_timeout, false, Value::from);
            if !action.retry.statuses.is_empty() {
                let statuses: Vec<u16> =
                    action.retry.statuses.iter().copied().filter(|status| *status >= 400).collect();
                retry["statuses"] = statuses.into();
            }
            if !action.retry.grpc_statuses.is_empty() {
                let names: Vec<&str> = action.retry.grpc_statuses.iter().map(GrpcStatus::name).collect();
                retry["grpc_statuses"] = names.into();
            }
            own.insert("retry".to_owned(), retry);
        }
        if let Some(hedge) = action.hedge {
            own.insert("hedge".to_owned(), json!({"after": time(hedge.after), "attempts": hedge.attempts}));
        }
        if !action.failover.is_empty() {
            let failover: Vec<Value> = action.failover.iter().map(|next| self.failover(rule, next)).collect();
            own.insert("failover".to_owned(), failover.into());
        }
        self.upgrades(rule, &action.upgrades, own);
    }

    fn failover(&mut self, rule: &Rule, next: &Failover) -> Value {
        let words = next.when.iter().map(|reason| match reason {
            FailoverReason::Any => "any",
            FailoverReason::Unreachable => "unreachable",
            FailoverReason::NotFound => "not_found",
        });
        json!({"cluster": self.use_cluster(next.cluster, rule), "when": words.collect::<Vec<_>>()})
    }

    fn upgrades(&mut self, rule: &Rule, upgrades: &Upgrades, own: &mut Map<String, Value>) {
        match &upgrades.protocols {
            protocols if *protocols == Upgrades::default().protocols => {}
            Protocols::These(names) => {
                let names: Vec<Value> = names.iter().map(|name| name.to_string().into()).collect();
                own.insert("upgrades".to_owned(), names.into());
            }
            Protocols::Any => self.add_loss(rule, "upgrades to protocols other than WebSocket are left out"),
        }
        let none = Upgrades::none();
        let has_tunnels = upgrades.protocols != none.protocols || upgrades.connect != none.connect;
        if has_tunnels && upgrades.idle_timeout.is_some() {
            self.add_loss(
                rule,
                "the idle timeout of its tunnels is left out: `timeouts.tunnel` of the listener applies",
            );
        }
        let connect = match upgrades.connect {
            Connect::Refuse => None,
            Connect::Pass => Some("pass"),
            Connect::Open => Some("open"),
        };
        if let Some(connect) = connect {
            own.insert("connect".to_owned(), connect.into());
        }
    }
}

/// Returns the key and value of a rule's new path or prefix.
fn new_path(rule: &Rule) -> Option<(&'static str, &str)> {
    match rule.rewrite.as_ref()? {
        PathRewrite::Full(path) => Some(("path", path)),
        PathRewrite::Prefix(prefix) => Some(("prefix", prefix)),
        PathRewrite::Matched(_) | PathRewrite::Replace(_) => None,
    }
}

fn conditions(rule: &Rule) -> Option<Map<String, Value>> {
    if has_unsupported_hosts(rule) {
        return None;
    }
    let mut own = Map::new();
    let hosts: Vec<String> = rule.hosts.iter().filter_map(host_text).collect();
    if !hosts.is_empty() && hosts.len() == rule.hosts.len() {
        own.insert("host".to_owned(), hosts.into());
    }
    let path = match &rule.path {
        PathPattern::Any => None,
        PathPattern::Exact(path) => Some(json!({"exact": path})),
        PathPattern::Prefix(path) => Some(json!({"prefix": path})),
        PathPattern::Regex(expression) => Some(json!({"regex": expression})),
        PathPattern::Template(template) => Some(json!({"template": template})),
        PathPattern::BytePrefix(prefix) => {
            Some(json!({"regex": format!("{}(?s:.*)", regex_syntax::escape(prefix))}))
        }
        PathPattern::Caseless(path) => Some(json!({"regex": caseless(path)})),
        PathPattern::Search(_) => return None,
    };
    if let Some(path) = path {
        own.insert("path".to_owned(), path);
    }
    if !rule.methods.is_empty() {
        own.insert("method".to_owned(), rule.methods.clone().into());
    }
    for (key, values) in [("headers", &rule.headers), ("query", &rule.query)] {
        let tests: Map<String, Value> =
            values.iter().filter_map(|value| Some((value.name.clone(), test_value(value)?))).collect();
        if tests.len() < values.len() {
            return None;
        }
        if !tests.is_empty() {
            own.insert(key.to_owned(), tests.into());
        }
    }
    Some(own)
}

/// Returns a regular expression for a case-insensitive path.
pub(super) fn caseless(path: &CaselessPath) -> String {
    let (text, rest) = match path {
        CaselessPath::Exact(text) => (text.as_str(), ""),
        CaselessPath::Prefix(text) => (text.strip_suffix('/').unwrap_or(text), "(?:/(?s:.*))?"),
        CaselessPath::BytePrefix(text) => (text.as_str(), "(?s:.*)"),
    };
    format!("(?i:{}){rest}", regex_syntax::escape(text))
}

/// Converts a condition; `None` if eddy.yaml cannot express it.
fn test_value(value: &ValueMatch) -> Option<Value> {
    if *value != ValueMatch::new(&value.name, value.test.clone()) || value.name.starts_with(':') {
        return None;
    }
    Some(match &value.test {
        ValueTest::Present => json!({"present": true}),
        ValueTest::Absent => json!({"absent": true}),
        ValueTest::Exact(text) => json!({"exact": text}),
        ValueTest::Prefix(text) => json!({"prefix": text}),
        ValueTest::Suffix(text) => json!({"suffix": text}),
        ValueTest::Contains(text) => json!({"contains": text}),
        ValueTest::Regex(text) => json!({"regex": text}),
        ValueTest::Range(..) => return None,
    })
}

fn add_edits(key: &str, edits: &FieldEdits, own: &mut Map<String, Value>) {
    if edits.is_empty() {
        return;
    }
    let mut value = Map::new();
    let removed: Vec<Value> = edits.removed().map(Value::from).collect();
    if !removed.is_empty() {
        value.insert("remove".to_owned(), removed.into());
    }
    let set: Map<String, Value> =
        edits.set_fields().map(|(name, value)| (name.to_owned(), value.into())).collect();
    if !set.is_empty() {
        value.insert("set".to_owned(), set.into());
    }
    let mut added: Map<String, Value> = Map::new();
    for (name, text) in edits.added() {
        let values = added.entry(name).or_insert_with(|| Value::from(Vec::<Value>::new()));
        if let Value::Array(values) = values {
            values.push(text.into());
        }
    }
    if !added.is_empty() {
        value.insert("add".to_owned(), added.into());
    }
    own.insert(key.to_owned(), value.into());
}
