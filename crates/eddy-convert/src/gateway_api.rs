//! Writes Gateway API manifests: a Gateway for each listener, HTTPRoutes, and Services with their endpoints.

use std::collections::BTreeMap;

use eddy_config::{Action, ActionKind, ClusterSlots, ListenAddress, Redirect, RetryConfig};
use eddy_http::FieldEdits;
use eddy_ids::ClusterId;
use eddy_model::{Balance, EndpointAddress};
use eddy_route::{HostPattern, PathPattern, PathRewrite, Rule, SourceLocation, ValueMatch, ValueTest};
use serde_json::{Value, json};

use super::named::NameAllocator;
use super::plain::{
    Loss, PlainConfig, PlainListener, PlainRule, has_unsupported_hosts, host_text, hosts_of,
    matches_all_requests, unsupported_action_settings,
};
use super::yaml::{block, time};

/// Writes the manifests, one document after another.
pub(super) fn write(plain: &PlainConfig<'_>, losses: &mut Vec<Loss>) -> String {
    let mut writer = GatewayApiWriter {
        clusters: plain.clusters,
        names: NameAllocator::default(),
        used: Vec::new(),
        losses,
        documents: Vec::new(),
    };
    for (number, listener) in plain.listeners.iter().enumerate() {
        writer.listener(number, listener);
    }
    let mut done = 0;
    while let Some((id, origin)) = writer.used.get(done).cloned() {
        done += 1;
        writer.service(id, &origin);
    }
    let texts: Vec<String> = writer.documents.iter().map(|document| block(document, 0)).collect();
    texts.join("---\n")
}

struct GatewayApiWriter<'w> {
    clusters: &'w ClusterSlots,
    names: NameAllocator<ClusterId>,
    /// Clusters that rules use, and the first rule that uses each.
    used: Vec<(ClusterId, SourceLocation)>,
    losses: &'w mut Vec<Loss>,
    documents: Vec<Value>,
}

impl GatewayApiWriter<'_> {
    fn add_loss(&mut self, rule: &Rule, reason: &str) {
        self.losses.push(Loss::of_rule(rule, reason));
    }

    fn listener(&mut self, number: usize, listener: &PlainListener<'_>) {
        let name = format!("eddy-{}", number + 1);
        let rules: Vec<&PlainRule> = listener.tables.iter().flat_map(|table| &table.rules).collect();
        let port = match &listener.address {
            ListenAddress::Tcp(address) | ListenAddress::Udp(address) => address.port(),
            ListenAddress::Unix(_) => {
                if let Some(first) = rules.first() {
                    self.add_loss(
                        &first.rule,
                        "a Gateway cannot listen on a Unix socket; port 80 is written instead",
                    );
                }
                80
            }
        };
        self.documents.push(json!({
            "apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": name},
            "spec": {
                "gatewayClassName": "eddy",
                "listeners": [{"name": "http", "port": port, "protocol": "HTTP"}]
            }
        }));
        listener.add_tls_losses("it is left out: the Gateway API has certificates in Secrets", self.losses);
        self.check_hosts(&rules);
        // Rules with the same hosts go into one route, so that their order decides between equally specific ones.
        let mut groups: Vec<(Vec<String>, Vec<Value>)> = Vec::new();
        for (table, plain) in listener
            .tables
            .iter()
            .enumerate()
            .flat_map(|(table, own)| own.rules.iter().map(move |rule| (table, rule)))
        {
            if table > 0 {
                self.add_loss(
                    &plain.rule,
                    "tables have no order in the Gateway API; the more specific rule wins",
                );
            }
            let Some(rule) = self.rule(plain) else { continue };
            let hosts: Vec<String> = plain.rule.hosts.iter().filter_map(host_text).collect();
            match groups.iter_mut().find(|(own, _)| *own == hosts) {
                Some((_, rules)) => rules.push(rule),
                None => groups.push((hosts, vec![rule])),
            }
        }
        let mut count = 0;
        for (hosts, rules) in groups {
            for rules in rules.chunks(RULES_MAX) {
                let mut spec = json!({"parentRefs": [{"name": name}], "rules": rules});
                if !hosts.is_empty() {
                    spec["hostnames"] = hosts.clone().into();
                }
                count += 1;
                self.documents.push(json!({
                    "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
                    "metadata": {"name": format!("{name}-{count:04}")}, "spec": spec
                }));
            }
        }
    }

    /// Reports hosts whose requests fall through to rules of less specific hosts in eddy, but not in the Gateway API.
    fn check_hosts(&mut self, rules: &[&PlainRule]) {
        for wide in rules {
            for host in hosts_of(&wide.rule) {
                let narrow = rules.iter().flat_map(|narrow| hosts_of(&narrow.rule)).find(|narrow| {
                    is_within(narrow, &host)
                        && !rules.iter().any(|rule| matches_all_requests(&rule.rule, narrow))
                });
                if let Some(narrow) = narrow.as_ref().and_then(host_text) {
                    let reason = format!(
                        "unmatched requests for {narrow} reach this rule in eddy, and get 404 in the Gateway API"
                    );
                    self.add_loss(&wide.rule, &reason);
                }
            }
        }
    }

    fn rule(&mut self, plain: &PlainRule) -> Option<Value> {
        let PlainRule { rule, action } = plain;
        if let ActionKind::Respond(respond) = &action.kind {
            // If no rule matches, the response is 404 in any case.
            let is_end = respond.status == 404 && rule.path == PathPattern::Any && rule.methods.is_empty();
            if !(is_end && rule.headers.is_empty() && rule.query.is_empty()) {
                self.add_loss(rule, "the Gateway API has no fixed responses; it is left out");
            }
            return None;
        }
        if rule.rank.is_some() {
            self.add_loss(rule, "the Gateway API has no ranks; exact paths and longer prefixes come first");
        }
        let matches = self.matches(rule)?;
        let mut filters = Vec::new();
        let mut own = json!({"matches": matches});
        if !action.request_edits.is_empty() {
            filters.push(json!({
                "type": "RequestHeaderModifier", "requestHeaderModifier": edits(&action.request_edits)
            }));
        }
        for edits in [&action.request_edits, &action.response_edits] {
            let mut names: Vec<&str> = edits.added().map(|(name, _)| name).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            if names.len() < count {
                self.add_loss(rule, "only one value of a header that is added several times is written");
            }
        }
        if !action.response_edits.is_empty() {
            filters.push(json!({
                "type": "ResponseHeaderModifier", "responseHeaderModifier": edits(&action.response_edits)
            }));
        }
        match &action.kind {
            ActionKind::Cluster(cluster) => own["backendRefs"] = json!([self.backend(*cluster, 1, rule)]),
            ActionKind::Weighted(shares) => {
                let refs: Vec<Value> =
                    shares.iter().map(|share| self.backend(share.cluster, share.weight, rule)).collect();
                own["backendRefs"] = refs.into();
            }
            ActionKind::Redirect(redirect) => filters.push(self.redirect(rule, redirect)?),
            ActionKind::Split(_) => {
                self.add_loss(rule, "a split between different actions is left out");
                return None;
            }
            ActionKind::Respond(_) | ActionKind::Sites(_) => return None,
        }
        if matches!(action.kind, ActionKind::Cluster(_) | ActionKind::Weighted(_)) {
            self.upstream(rule, action, &mut filters, &mut own);
        }
        for reason in unsupported_action_settings(action) {
            self.add_loss(rule, reason);
        }
        if !filters.is_empty() {
            own["filters"] = filters.into();
        }
        Some(own)
    }

    fn upstream(&mut self, rule: &Rule, action: &Action, filters: &mut Vec<Value>, own: &mut Value) {
        let mut rewrite = json!({});
        if let Some(host) = &action.host_rewrite {
            rewrite["hostname"] = host.to_string().into();
        }
        if let Some(path) = self.path_change(rule) {
            rewrite["path"] = path;
        }
        if rewrite.as_object().is_some_and(|members| !members.is_empty()) {
            filters.push(json!({"type": "URLRewrite", "urlRewrite": rewrite}));
        }
        if let Some(timeout) = action.timeout {
            own["timeouts"] = json!({"request": time(timeout)});
        }
        if action.retry != RetryConfig::default() {
            self.add_loss(rule, "its retry settings are left out");
        }
        if action.hedge.is_some() {
            self.add_loss(rule, "its hedging is left out");
        }
    }

    fn path_change(&mut self, rule: &Rule) -> Option<Value> {
        match &rule.rewrite {
            Some(PathRewrite::Full(path)) if path.contains('{') => {
                self.add_loss(rule, "a new path with captures cannot be expressed; it is left out");
                None
            }
            Some(PathRewrite::Full(path)) => {
                Some(json!({"type": "ReplaceFullPath", "replaceFullPath": path}))
            }
            Some(PathRewrite::Prefix(prefix)) => {
                Some(json!({"type": "ReplacePrefixMatch", "replacePrefixMatch": prefix}))
            }
            Some(PathRewrite::Matched(_) | PathRewrite::Replace(_)) => {
                self.add_loss(rule, "its path rewrite cannot be expressed; it is left out");
                None
            }
            None => None,
        }
    }

    fn redirect(&mut self, rule: &Rule, redirect: &Redirect) -> Option<Value> {
        let mut own = json!({"statusCode": redirect.status});
        if let Some(scheme) = &redirect.scheme {
            own["scheme"] = scheme.to_string().into();
        }
        if let Some(host) = &redirect.host {
            match host.rsplit_once(':').map(|(host, port)| (host, port.parse::<u16>())) {
                Some((host, Ok(port))) if !host.is_empty() => {
                    own["hostname"] = host.into();
                    own["port"] = port.into();
                }
                _ => own["hostname"] = host.to_string().into(),
            }
        }
        if redirect.strip_query {
            self.add_loss(rule, "its redirect keeps the query in the Gateway API");
        }
        if let Some(path) = self.path_change(rule) {
            own["path"] = path;
        }
        Some(json!({"type": "RequestRedirect", "requestRedirect": own}))
    }

    fn matches(&mut self, rule: &Rule) -> Option<Vec<Value>> {
        if has_unsupported_hosts(rule) {
            self.add_loss(rule, "its hosts or its fraction of requests cannot be expressed; it is left out");
            return None;
        }
        let mut own = json!({});
        own["path"] = match &rule.path {
            PathPattern::Any => json!({"type": "PathPrefix", "value": "/"}),
            PathPattern::Exact(path) => json!({"type": "Exact", "value": path}),
            PathPattern::Prefix(path) => json!({"type": "PathPrefix", "value": path}),
            PathPattern::Regex(expression) => {
                self.add_loss(
                    rule,
                    "syntax and precedence of regular expressions depend on the implementation",
                );
                json!({"type": "RegularExpression", "value": expression})
            }
            PathPattern::Template(_)
            | PathPattern::BytePrefix(_)
            | PathPattern::Caseless(_)
            | PathPattern::Search(_) => {
                self.add_loss(rule, "such paths cannot be expressed; it is left out");
                return None;
            }
        };
        for (key, values) in [("headers", &rule.headers), ("queryParams", &rule.query)] {
            let mut tests = Vec::new();
            for condition in values {
                let ValueMatch { name, test, .. } = condition;
                let is_plain = *condition == ValueMatch::new(name, test.clone()) && !name.starts_with(':');
                let (ValueTest::Exact(value), true) = (test, is_plain) else {
                    self.add_loss(
                        rule,
                        &format!("`{name}` can only be compared with an exact value; it is left out"),
                    );
                    return None;
                };
                tests.push(json!({"name": name, "value": value}));
            }
            if !tests.is_empty() {
                own[key] = tests.into();
            }
        }
        if rule.methods.is_empty() {
            return Some(vec![own]);
        }
        let with_method = |method: &String| {
            let mut own = own.clone();
            own["method"] = method.clone().into();
            own
        };
        Some(rule.methods.iter().map(with_method).collect())
    }

    fn name(&mut self, id: ClusterId) -> String {
        let wanted = self.clusters[id].name.to_ascii_lowercase();
        self.names.of(id, &wanted, |letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
    }

    fn backend(&mut self, id: ClusterId, weight: u32, rule: &Rule) -> Value {
        if self.used.iter().all(|(used, _)| *used != id) {
            self.used.push((id, rule.origin.clone()));
        }
        let mut own = json!({"name": self.name(id), "port": 80});
        if weight != 1 {
            own["weight"] = weight.into();
        }
        own
    }

    /// Writes the Service of a cluster, and its endpoints.
    fn service(&mut self, id: ClusterId, origin: &SourceLocation) {
        let cluster = &self.clusters[id];
        let name = self.name(id);
        let mut lose = |reason: &str| {
            let reason = format!("cluster `{}`: {reason}", cluster.name);
            self.losses.push(Loss { origin: origin.clone(), reason });
        };
        let mut by_port: BTreeMap<(u16, bool), Vec<String>> = BTreeMap::new();
        let mut external = None;
        for endpoint in cluster.endpoints.iter().filter(|endpoint| !endpoint.terms.is_down) {
            match &endpoint.address {
                EndpointAddress::Socket(address) => {
                    let port = (address.port(), address.is_ipv6());
                    by_port.entry(port).or_default().push(address.ip().to_string());
                }
                EndpointAddress::Name { host, port } => external = Some((host.to_string(), *port)),
                EndpointAddress::Unix(_) => lose("an endpoint at a Unix socket is left out"),
            }
            if endpoint.weight != 1 || endpoint.terms.tier > 0 || endpoint.terms.active_max.is_some() {
                lose("weights, priorities and limits of endpoints are left out");
            }
        }
        let unsupported = [
            (!cluster.limits.is_none(), "its limits are left out"),
            (cluster.balance != Balance::RoundRobin, "its balancing is left out"),
            (cluster.tls.is_some(), "TLS towards its endpoints is left out"),
            (cluster.health.is_some(), "its health checks are left out"),
        ];
        unsupported.into_iter().filter(|(is_there, _)| *is_there).for_each(|(_, reason)| lose(reason));
        let mut spec = json!({"ports": [{"name": "http", "port": 80}]});
        if let Some((host, port)) = &external {
            if by_port.is_empty() && cluster.endpoints.len() == 1 {
                spec["type"] = "ExternalName".into();
                spec["externalName"] = host.clone().into();
                spec["ports"] = json!([{"name": "http", "port": 80, "targetPort": port}]);
            } else {
                lose("a host name next to other endpoints is left out");
            }
        }
        self.documents.push(json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec
        }));
        for (number, ((port, is_v6), addresses)) in by_port.into_iter().enumerate() {
            let endpoints: Vec<Value> =
                addresses.iter().map(|address| json!({"addresses": [address]})).collect();
            self.documents.push(json!({
                "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
                "metadata": {
                    "name": format!("{name}-{}", number + 1), "labels": {"kubernetes.io/service-name": name}
                },
                "addressType": if is_v6 { "IPv6" } else { "IPv4" },
                "ports": [{"name": "http", "port": port, "protocol": "TCP"}], "endpoints": endpoints
            }));
        }
    }
}

fn edits(edits: &FieldEdits) -> Value {
    let pair = |(name, value): (&str, &str)| json!({"name": name, "value": value});
    let mut own = json!({});
    let set: Vec<Value> = edits.set_fields().map(pair).collect();
    let added: Vec<Value> = edits.added().map(pair).collect();
    let removed: Vec<Value> = edits.removed().map(Value::from).collect();
    for (key, values) in [("set", set), ("add", added), ("remove", removed)] {
        if !values.is_empty() {
            own[key] = values.into();
        }
    }
    own
}

/// Whether the hosts of `narrow` are a proper subset of those of `wide`.
fn is_within(narrow: &HostPattern, wide: &HostPattern) -> bool {
    let ends_in = |host: &str, suffix: &str| {
        host.strip_suffix(suffix.trim_start_matches("*.")).is_some_and(|rest| rest.ends_with('.'))
    };
    match (narrow, wide) {
        (HostPattern::Any, _) => false,
        (_, HostPattern::Any) => true,
        (HostPattern::Exact(host) | HostPattern::Suffix(host), HostPattern::Suffix(suffix)) => {
            narrow != wide && ends_in(host, suffix)
        }
        _ => false,
    }
}

/// Maximum number of rules in an HTTPRoute.
const RULES_MAX: usize = 16;
