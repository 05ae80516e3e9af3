//! Route configurations: virtual hosts and routes become a table of rules with actions.

use std::collections::HashMap;

use eddy_check::TableDraft;
use eddy_config::{ActionKind, RuleFilterConfig, WeightedAction};
use eddy_http::FieldEdits;
use eddy_ids::Shared;
use eddy_route::{Dialect, HostPattern, PathForm, Rule, ValueMatch, ValueTest};
use eddy_spec::problem::{SourceSpan, shown};
use eddy_spec::yaml::YamlNode;

use super::action::https_redirect;
use super::reader::{EnvoyReader, text};
use super::scope::{HostScope, Levels, RouteConfigContext, plain_action};

/// Settings that apply to all virtual hosts.
struct RouteConfigDefaults<'w> {
    edits: (FieldEdits, FieldEdits),
    /// Whether header edits of routes override those of outer levels.
    most_specific_wins: bool,
    mirrors: Option<&'w YamlNode<'w>>,
    /// Settings for filters of dynamic modules.
    filters: Vec<RuleFilterConfig>,
}

impl EnvoyReader<'_> {
    /// Returns the table of a `RouteConfiguration`, without rules.
    pub(super) fn route_table(&mut self, node: &YamlNode<'_>) -> TableDraft {
        let name = self.text(node, "name").unwrap_or_default().to_owned();
        let mut table = TableDraft::new(&name, Dialect::Envoy);
        table.config.routes.reading.host.keeps_port = !self.is_true(node, "ignore_port_in_host_matching");
        if self.is_true(node, "ignore_path_parameters_in_path_matching") {
            table.config.routes.reading.path = PathForm::WithoutParameters;
        }
        table
    }

    /// Reads the rules of a `RouteConfiguration` into the table of its context.
    pub(super) fn routes(&mut self, node: &YamlNode<'_>, context: &mut RouteConfigContext<'_, '_>) {
        self.pass(node, &["@type", "validate_clusters", "metadata"]);
        let filters = self.route_filters(node, &context.modules, &[]);
        let whole = RouteConfigDefaults {
            filters,
            edits: self.edits(node),
            most_specific_wins: self.is_true(node, "most_specific_header_mutations_wins"),
            mirrors: self.get(node, "request_mirror_policies"),
        };
        let mut domains: HashMap<String, SourceSpan> = HashMap::new();
        for host in self.list(node, "virtual_hosts") {
            self.virtual_host(host, &whole, &mut domains, context);
        }
    }

    fn virtual_host(
        &mut self,
        node: &YamlNode<'_>,
        whole: &RouteConfigDefaults<'_>,
        domains: &mut HashMap<String, SourceSpan>,
        context: &mut RouteConfigContext<'_, '_>,
    ) {
        self.pass(node, &["metadata"]);
        let filters = self.route_filters(node, &context.modules, &whole.filters);
        let unsent = "attempt counts are not sent";
        self.warn_ineffective(
            node,
            &[("include_request_attempt_count", unsent), ("include_attempt_count_in_response", unsent)],
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
        self.require_tls(node, &name, &hosts, context);
        let scope = HostScope {
            name: &name,
            hosts: &hosts,
            levels: Levels { outer: [&own, &whole.edits], come_first: whole.most_specific_wins },
            retry: self.get(node, "retry_policy"),
            is_hedged: self.get(node, "hedge_policy").is_some_and(|policy| self.is_hedged(policy)),
            mirrors: self.get(node, "request_mirror_policies").or(whole.mirrors),
            filters,
        };
        let list = self.list(node, "routes");
        if let Some(tree) = self.get(node, "matcher") {
            if let Some(first) = list.first() {
                let message =
                    format!("the virtual host `{}` has both `routes` and a `matcher`", shown(&name));
                self.report.error(first.place, message).hint("Envoy rejects it too: leave one of them out");
            }
            self.tree(tree, &scope, context);
        }
        for (at, route) in list.iter().enumerate() {
            self.route(route, at + 1, &scope, &[], context);
        }
    }

    /// Reads a `Route`; requests must meet `conditions` in addition to its own.
    pub(super) fn route(
        &mut self,
        node: &YamlNode<'_>,
        number: usize,
        scope: &HostScope<'_>,
        conditions: &[ValueMatch],
        context: &mut RouteConfigContext<'_, '_>,
    ) {
        let filters = self.route_filters(node, &context.modules, &scope.filters);
        let written = self.word(node, "name").map(str::to_owned);
        let name = written.unwrap_or_else(|| format!("{}/{number}", scope.name));
        let mut rule = Rule::new(&name, self.origin(node.place));
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
        let made = self.route_action(node, scope, context);
        if let (true, Some(mut made)) = (is_matched, made) {
            if !made.shares.is_empty() {
                let share = |(action, weight)| WeightedAction { action: Shared::new(action), weight };
                made.action.kind = ActionKind::Split(made.shares.into_iter().map(share).collect());
            }
            rule.rewrite = made.rewrite;
            made.action.filters = filters;
            context.push(rule, made.action, node.place);
        }
    }

    /// Reads `require_tls`: requests that did not come over TLS are redirected before any route is tried.
    fn require_tls(
        &mut self,
        node: &YamlNode<'_>,
        name: &str,
        hosts: &[HostPattern],
        context: &mut RouteConfigContext<'_, '_>,
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
        let https = || ValueTest::Exact("https".to_owned());
        let forwarded = ValueMatch { is_inverted: true, ..ValueMatch::new(FORWARDED, https()) };
        // Without `X-Forwarded-Proto`, the connection decides.
        let absent = ValueMatch::new(FORWARDED, ValueTest::Absent);
        let came = ValueMatch { is_inverted: true, ..ValueMatch::new(":scheme", https()) };
        for (kind, headers) in
            [("require_tls", vec![forwarded]), ("require_tls-no-header", vec![absent, came])]
        {
            let mut rule = Rule::new(&format!("{name}/{kind}"), self.origin(wanted.place));
            rule.hosts = hosts.to_vec();
            rule.headers = headers;
            context.push(rule, plain_action(ActionKind::Redirect(https_redirect())), wanted.place);
        }
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
