//! Route configurations: virtual hosts and routes become a table of rules with actions.

use std::collections::HashMap;

use eddy_check::{RulePlaces, TableDraft};
use eddy_config::{Action, ActionKind, Redirect, WeightedAction};
use eddy_http::FieldEdits;
use eddy_ids::Shared;
use eddy_route::{Dialect, HostPattern, PathForm, Rule, SourceLocation, ValueMatch, ValueTest};
use eddy_spec::problem::{SourceSpan, shown};
use eddy_spec::yaml::YamlNode;

use super::reader::{EnvoyReader, text};
use super::scope::{HostScope, Levels, RouteConfigContext, plain_action};

/// Rule table of a route configuration, and the actions of its rules.
#[derive(Debug)]
pub(super) struct EnvoyRouteTable {
    pub(super) table: TableDraft,
}

/// Settings that apply to all virtual hosts.
struct RouteConfigDefaults<'w> {
    edits: (FieldEdits, FieldEdits),
    /// Whether header edits of routes override those of outer levels.
    most_specific_wins: bool,
    mirrors: Option<&'w YamlNode<'w>>,
}

impl EnvoyReader<'_> {
    /// Reads a `RouteConfiguration`.
    pub(super) fn routes(
        &mut self,
        node: &YamlNode<'_>,
        frame: &mut RouteConfigContext<'_, '_>,
    ) -> EnvoyRouteTable {
        self.pass(node, &["@type", "validate_clusters", "metadata"]);
        self.route_filters(node);
        let name = self.text(node, "name").unwrap_or_default().to_owned();
        let mut table = TableDraft::new(&name, Dialect::Envoy);
        table.config.routes.reading.host.keeps_port = !self.is_true(node, "ignore_port_in_host_matching");
        if self.is_true(node, "ignore_path_parameters_in_path_matching") {
            table.config.routes.reading.path = PathForm::WithoutParameters;
        }
        let whole = RouteConfigDefaults {
            edits: self.edits(node),
            most_specific_wins: self.is_true(node, "most_specific_header_mutations_wins"),
            mirrors: self.get(node, "request_mirror_policies"),
        };
        let mut routes = EnvoyRouteTable { table };
        let mut domains: HashMap<String, SourceSpan> = HashMap::new();
        for host in self.list(node, "virtual_hosts") {
            self.virtual_host(host, &whole, &mut domains, frame, &mut routes);
        }
        routes
    }

    fn virtual_host(
        &mut self,
        node: &YamlNode<'_>,
        whole: &RouteConfigDefaults<'_>,
        domains: &mut HashMap<String, SourceSpan>,
        frame: &mut RouteConfigContext<'_, '_>,
        routes: &mut EnvoyRouteTable,
    ) {
        self.pass(node, &["metadata"]);
        self.route_filters(node);
        let untold = "attempt counts are not sent";
        self.warn_ineffective(
            node,
            &[("include_request_attempt_count", untold), ("include_attempt_count_in_response", untold)],
        );
        let name = self.word(node, "name").unwrap_or("virtual host").to_owned();
        let mut hosts = Vec::new();
        for domain in self.list(node, "domains") {
            let written = text(domain).unwrap_or_default().to_ascii_lowercase();
            if let Some(first) = domains.insert(written.clone(), domain.place) {
                let message =
                    format!("the domain `{}` is already defined in line {}", shown(&written), first.line);
                self.report.error(domain.place, message).hint("a domain can belong to only one virtual host");
            }
            hosts.push(host_pattern(&written));
        }
        if hosts.is_empty() {
            self.report
                .error(node.place, format!("the virtual host `{}` has no domains", shown(&name)))
                .hint("`domains: [\"*\"]` matches every host");
            return;
        }
        let own = self.edits(node);
        self.require_tls(node, &name, &hosts, frame, routes);
        let scope = HostScope {
            name: &name,
            hosts: &hosts,
            levels: Levels { outer: [&own, &whole.edits], come_first: whole.most_specific_wins },
            retry: self.get(node, "retry_policy"),
            is_hedged: self.get(node, "hedge_policy").is_some_and(|policy| self.is_hedged(policy)),
            mirrors: self.get(node, "request_mirror_policies").or(whole.mirrors),
        };
        let list = self.list(node, "routes");
        if let Some(tree) = self.get(node, "matcher") {
            if let Some(first) = list.first() {
                let message =
                    format!("the virtual host `{}` has both `routes` and a `matcher`", shown(&name));
                self.report.error(first.place, message).hint("Envoy rejects it too: leave one of them out");
            }
            self.tree(tree, &scope, frame, routes);
        }
        for (at, route) in list.iter().enumerate() {
            self.route(route, at + 1, &scope, &[], frame, routes);
        }
    }

    /// Reads a `Route`; requests must meet `conditions` in addition to its own.
    pub(super) fn route(
        &mut self,
        node: &YamlNode<'_>,
        number: usize,
        scope: &HostScope<'_>,
        conditions: &[ValueMatch],
        frame: &mut RouteConfigContext<'_, '_>,
        routes: &mut EnvoyRouteTable,
    ) {
        self.route_filters(node);
        let written = self.word(node, "name").map(str::to_owned);
        let name = written.unwrap_or_else(|| format!("{}/{number}", scope.name));
        let origin = SourceLocation { file: Shared::clone(&frame.file), line: node.place.line };
        let mut rule = Rule::new(&name, origin);
        rule.hosts = scope.hosts.to_vec();
        rule.headers = conditions.to_vec();
        let is_matched = match self.get(node, "match") {
            Some(wanted) => self.route_match(wanted, &mut rule),
            None => {
                self.report
                    .error(node.place, "a route needs a `match`")
                    .hint("for example `match: {prefix: \"/\"}`");
                false
            }
        };
        let did = self.route_action(node, scope, frame);
        if let (true, Some(mut did)) = (is_matched, did) {
            if !did.shares.is_empty() {
                let share = |(action, weight)| WeightedAction { action: Shared::new(action), weight };
                did.action.kind = ActionKind::Split(did.shares.into_iter().map(share).collect());
            }
            rule.rewrite = did.rewrite;
            routes.push(rule, did.action, node.place);
        }
    }

    /// Reads `require_tls`: requests that did not come over TLS are redirected before any route is tried.
    fn require_tls(
        &mut self,
        node: &YamlNode<'_>,
        name: &str,
        hosts: &[HostPattern],
        frame: &RouteConfigContext<'_, '_>,
        routes: &mut EnvoyRouteTable,
    ) {
        let Some(wanted) = self.get(node, "require_tls") else { return };
        match text(wanted) {
            Some("NONE" | "0") => return,
            Some("ALL" | "2") => {}
            _ => {
                self.report
                    .objection(wanted.place, "eddy does not distinguish internal requests from external ones")
                    .hint("write `require_tls: ALL`");
                return;
            }
        }
        let redirect = Redirect {
            status: 301,
            scheme: Some("https".into()),
            host: None,
            strip_query: false,
            port: None,
            path: None,
            is_absolute: true,
        };
        let https = || ValueTest::Exact("https".to_owned());
        let told = ValueMatch { is_inverted: true, ..ValueMatch::new(FORWARDED, https()) };
        // Without `X-Forwarded-Proto`, the connection decides.
        let untold = ValueMatch::new(FORWARDED, ValueTest::Absent);
        let came = ValueMatch { is_inverted: true, ..ValueMatch::new(":scheme", https()) };
        for (kind, headers) in [("require_tls", vec![told]), ("require_tls-no-header", vec![untold, came])] {
            let origin = SourceLocation { file: Shared::clone(&frame.file), line: wanted.place.line };
            let mut rule = Rule::new(&format!("{name}/{kind}"), origin);
            rule.hosts = hosts.to_vec();
            rule.headers = headers;
            let action = plain_action(ActionKind::Redirect(redirect.clone()));
            routes.push(rule, action, wanted.place);
        }
    }
}

impl EnvoyRouteTable {
    /// Adds a rule with its action.
    pub(super) fn push(&mut self, mut rule: Rule, action: Action, place: SourceSpan) {
        rule.action = self.table.action(action);
        self.table.push(rule, RulePlaces::of(place));
    }
}

/// Returns the host pattern of a domain; a `*` at its start or end matches at least one byte.
fn host_pattern(domain: &str) -> HostPattern {
    if domain == "*" {
        HostPattern::Any
    } else if let Some(suffix) = domain.strip_prefix('*') {
        HostPattern::ByteSuffix(suffix.to_owned())
    } else if let Some(prefix) = domain.strip_suffix('*') {
        HostPattern::BytePrefix(prefix.to_owned())
    } else {
        HostPattern::Exact(domain.to_owned())
    }
}

const FORWARDED: &str = "x-forwarded-proto";
