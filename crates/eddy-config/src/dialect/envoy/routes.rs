//! A `RouteConfiguration`: virtual hosts and their routes become a table of rules and what they do.

use std::collections::HashMap;
use std::sync::Arc;

use eddy_http::FieldEdits;
use eddy_route::{Dialect, HostPattern, Missing, Origin, PathForm, RouteTable, Rule, ValueMatch, ValueTest};

use super::action::{Did, Levels};
use super::reader::{Reader, text};
use crate::config::{Action, ActionKind, Redirect, RetryConfig};
use crate::problem::{Place, shown};
use crate::yaml::Node;

/// The table of a route configuration, and what its rules do.
#[derive(Debug)]
pub(super) struct Routes {
    pub(super) table: RouteTable,
    pub(super) actions: Vec<Action>,
    /// Where each rule is written.
    pub(super) places: Vec<Place>,
}

/// What the routes of a configuration share.
pub(super) struct Frame<'f> {
    /// The file, as it was named to eddy.
    pub(super) file: Arc<str>,
    /// The clusters by name; a route may name one that is not there where `may_add` says so.
    pub(super) clusters: &'f mut HashMap<Arc<str>, usize>,
    pub(super) may_add: bool,
    /// Actions before those of this configuration.
    pub(super) first_action: usize,
}

impl Reader<'_> {
    /// Reads a `RouteConfiguration`.
    pub(super) fn routes(&mut self, node: &Node<'_>, frame: &mut Frame<'_>) -> Routes {
        self.pass(node, &["@type", "validate_clusters", "metadata"]);
        let order = "fields are removed, then set, then added, across all levels";
        self.pass_by(node, &[("most_specific_header_mutations_wins", order)]);
        let name = self.text(node, "name").unwrap_or_default().to_owned();
        let mut table = RouteTable::new(&name, Dialect::Envoy);
        table.reading.host.keeps_port = !self.is_true(node, "ignore_port_in_host_matching");
        if self.is_true(node, "ignore_path_parameters_in_path_matching") {
            table.reading.path = PathForm::WithoutParameters;
        }
        let whole = self.edits(node);
        let mut routes = Routes { table, actions: Vec::new(), places: Vec::new() };
        let mut domains: HashMap<String, Place> = HashMap::new();
        for host in self.list(node, "virtual_hosts") {
            self.virtual_host(host, &whole, &mut domains, frame, &mut routes);
        }
        routes
    }

    fn virtual_host(
        &mut self,
        node: &Node<'_>,
        whole: &(FieldEdits, FieldEdits),
        domains: &mut HashMap<String, Place>,
        frame: &mut Frame<'_>,
        routes: &mut Routes,
    ) {
        self.pass(node, &["metadata"]);
        let untold = "nobody is told of attempts";
        self.pass_by(
            node,
            &[("include_request_attempt_count", untold), ("include_attempt_count_in_response", untold)],
        );
        let name = self.word(node, "name").unwrap_or("virtual host").to_owned();
        let mut hosts = Vec::new();
        for domain in self.list(node, "domains") {
            let written = text(domain).unwrap_or_default().to_ascii_lowercase();
            if let Some(first) = domains.insert(written.clone(), domain.place) {
                let message =
                    format!("the domain `{}` stands in line {} already", shown(&written), first.line);
                self.report.error(domain.place, message).hint("a domain belongs to one virtual host");
            }
            hosts.push(host_pattern(&written));
        }
        if hosts.is_empty() {
            self.report
                .error(node.place, format!("the virtual host `{}` has no domains", shown(&name)))
                .hint("`domains: [\"*\"]` is every host");
            return;
        }
        let own = self.edits(node);
        self.require_tls(node, &name, &hosts, frame, routes);
        for (at, route) in self.list(node, "routes").iter().enumerate() {
            let written = self.word(route, "name").map(str::to_owned);
            let name = written.unwrap_or_else(|| format!("{name}/{}", at + 1));
            let origin = Origin { file: Arc::clone(&frame.file), line: route.place.line };
            let mut rule = Rule::new(&name, origin);
            rule.hosts.clone_from(&hosts);
            let is_matched = match self.get(route, "match") {
                Some(wanted) => self.route_match(wanted, &mut rule),
                None => {
                    self.report.error(route.place, "a route has no `match`").hint("`match: {prefix: \"/\"}`");
                    false
                }
            };
            let levels = Levels { outer: [&own, whole] };
            let did = self.route_action(route, &levels, frame);
            if let (true, Some(Did { action, rewrite })) = (is_matched, did) {
                rule.rewrite = rewrite;
                routes.push(rule, action, route.place, frame);
            }
        }
    }

    /// `require_tls` sends everything that did not come by TLS elsewhere before any route is looked at.
    fn require_tls(
        &mut self,
        node: &Node<'_>,
        name: &str,
        hosts: &[HostPattern],
        frame: &Frame<'_>,
        routes: &mut Routes,
    ) {
        let Some(wanted) = self.get(node, "require_tls") else { return };
        match text(wanted) {
            Some("NONE" | "0") => return,
            Some("ALL" | "2") => {}
            _ => {
                self.report
                    .objection(
                        wanted.place,
                        "eddy does not know requests from inside from those from outside",
                    )
                    .hint("write `require_tls: ALL`");
                return;
            }
        }
        let origin = Origin { file: Arc::clone(&frame.file), line: wanted.place.line };
        let mut rule = Rule::new(&format!("{name}/require_tls"), origin);
        rule.hosts = hosts.to_vec();
        rule.headers.push(ValueMatch {
            is_inverted: true,
            missing: Missing::IsEmpty,
            ..ValueMatch::new("x-forwarded-proto", ValueTest::Exact("https".to_owned()))
        });
        let redirect = Redirect {
            status: 301,
            scheme: Some("https".into()),
            host: None,
            strip_query: false,
            port: None,
            path: None,
            is_absolute: true,
        };
        routes.push(rule, plain_action(ActionKind::Redirect(redirect)), wanted.place, frame);
    }
}

impl Routes {
    fn push(&mut self, mut rule: Rule, action: Action, place: Place, frame: &Frame<'_>) {
        rule.action = u32::try_from(frame.first_action + self.actions.len()).unwrap_or(u32::MAX);
        self.table.rules.push(rule);
        self.actions.push(action);
        self.places.push(place);
    }
}

/// An action without edits, timeout and retries.
pub(super) fn plain_action(kind: ActionKind) -> Action {
    Action { retry: RetryConfig { attempts: 0, ..RetryConfig::default() }, ..Action::new(kind) }
}

/// The hosts of a domain: a `*` at its beginning or end stands for at least one byte.
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
