//! Matcher trees of virtual hosts: each leaf becomes rules with the conditions on the path to it.
//!
//! The rules are in the order in which Envoy evaluates: entries of a list as written, of a prefix map the longest
//! first, and at each level `on_no_match` last. A leaf is final, so its routes are followed by a rule that answers 404.

use eddy_config::{ActionKind, Respond};
use eddy_ids::Shared;
use eddy_route::{Missing, PathForm, PathPattern, PathRewrite, Rule, ValueMatch, ValueTest};
use eddy_spec::problem::SourceSpan;
use eddy_spec::yaml::{YamlNode, YamlNodeKind};

use super::matching::header_name;
use super::reader::EnvoyReader;
use super::scope::{HostScope, RouteConfigContext, plain_action};

/// Conditions that must all hold.
type All = Vec<ValueMatch>;

/// Lists of conditions, one of which must hold.
type Any = Vec<All>;

/// Conditions on the path to a node, and its depth.
#[derive(Clone, Copy)]
struct TreePath<'w> {
    conditions: &'w [ValueMatch],
    depth: usize,
}

/// Whether a predicate or its negation must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Polarity {
    Plain,
    Inverted,
}

impl Polarity {
    fn inverted(self) -> Self {
        match self {
            Self::Plain => Self::Inverted,
            Self::Inverted => Self::Plain,
        }
    }
}

impl EnvoyReader<'_> {
    /// Reads the `matcher` of a virtual host.
    pub(super) fn tree(
        &mut self,
        node: &YamlNode<'_>,
        scope: &HostScope<'_>,
        context: &mut RouteConfigContext<'_, '_>,
    ) {
        self.matcher(node, TreePath { conditions: &[], depth: 0 }, scope, context);
    }

    fn matcher(
        &mut self,
        node: &YamlNode<'_>,
        path: TreePath<'_>,
        scope: &HostScope<'_>,
        context: &mut RouteConfigContext<'_, '_>,
    ) {
        if path.depth > DEPTH_MAX {
            self.report.error(node.place, format!("matchers are nested more than {DEPTH_MAX} deep"));
            return;
        }
        if let Some(list) = self.get(node, "matcher_list") {
            for entry in self.list(list, "matchers") {
                let wanted = self
                    .get(entry, "predicate")
                    .and_then(|predicate| self.predicate(predicate, Polarity::Plain));
                let (Some(wanted), Some(on_match)) = (wanted, self.get(entry, "on_match")) else { continue };
                for conditions in &wanted {
                    let conditions = [path.conditions, conditions].concat();
                    self.on_match(on_match, TreePath { conditions: &conditions, ..path }, scope, context);
                }
            }
        }
        if let Some(tree) = self.get(node, "matcher_tree") {
            self.map(tree, path, scope, context);
        }
        if let Some(otherwise) = self.get(node, "on_no_match") {
            self.on_match(otherwise, path, scope, context);
        }
    }

    fn map(
        &mut self,
        node: &YamlNode<'_>,
        path: TreePath<'_>,
        scope: &HostScope<'_>,
        context: &mut RouteConfigContext<'_, '_>,
    ) {
        let input = self.get(node, "input").and_then(|input| self.input(input));
        let kinds = [
            ("exact_match_map", ValueTest::Exact as fn(String) -> ValueTest),
            ("prefix_match_map", ValueTest::Prefix),
        ];
        for (kind, test) in kinds {
            let Some(map) = self.get(node, kind).and_then(|map| self.get(map, "map")) else { continue };
            let (YamlNodeKind::Mapping { entries, .. }, Some(name)) = (&map.form, &input) else { continue };
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by_key(|entry| std::cmp::Reverse(entry.key.text.len()));
            for entry in entries {
                self.take(&entry.key);
                let condition = ValueMatch::new(name, test(entry.key.text.to_string()));
                let conditions = [path.conditions, &[condition]].concat();
                self.on_match(&entry.value, TreePath { conditions: &conditions, ..path }, scope, context);
            }
        }
    }

    fn on_match(
        &mut self,
        node: &YamlNode<'_>,
        path: TreePath<'_>,
        scope: &HostScope<'_>,
        context: &mut RouteConfigContext<'_, '_>,
    ) {
        self.leaves += 1;
        if self.leaves > LEAVES_MAX {
            if self.leaves == LEAVES_MAX + 1 {
                let message = format!("the matchers have more than {LEAVES_MAX} paths to their actions");
                self.report.error(node.place, message);
            }
            return;
        }
        if let Some(inner) = self.get(node, "matcher") {
            return self.matcher(inner, TreePath { depth: path.depth + 1, ..path }, scope, context);
        }
        let Some(action) = self.get(node, "action") else {
            self.report.error(node.place, "the match has no `action` and no `matcher`");
            return;
        };
        let Some((leaf, kind)) = self.typed_config(action, &[ROUTE, ROUTES]) else { return };
        let leaves = if kind == 0 { std::slice::from_ref(leaf) } else { self.list(leaf, "routes") };
        let (mut is_final, reads_raw) = (false, context.table.config.routes.reading.path == PathForm::Raw);
        for route in leaves {
            let before = context.table.config.routes.rules.len();
            self.route(route, before + 1, scope, path.conditions, context);
            let made = context.table.config.routes.rules.get_mut(before..).expect("rules are only added");
            is_final |= made.iter().any(|rule| matches_all_requests(rule, path.conditions));
            if reads_raw {
                made.iter_mut().for_each(lift_path_condition);
            }
        }
        if !is_final {
            self.end(path.conditions, node.place, scope, context);
        }
    }

    /// Reads a predicate or its negation. Returns `None` when eddy does not support it; the problem is reported.
    fn predicate(&mut self, node: &YamlNode<'_>, polarity: Polarity) -> Option<Any> {
        let is_inverted = polarity == Polarity::Inverted;
        if let Some(single) = self.get(node, "single_predicate") {
            let input = self.get(single, "input").and_then(|input| self.input(input))?;
            let Some(wanted) = self.get(single, "value_match") else {
                self.report
                    .objection(single.place, "a matcher predicate must compare text")
                    .hint("write `value_match` with `exact`, `prefix`, `suffix`, `contains` or `safe_regex`");
                return None;
            };
            let mut spec = self.string(wanted, ValueMatch::new(&input, ValueTest::Present))?;
            spec.is_inverted = is_inverted;
            if is_inverted {
                spec.missing = Missing::Passes;
            }
            return Some(vec![vec![spec]]);
        }
        if let Some(inner) = self.get(node, "not_matcher") {
            return self.predicate(inner, polarity.inverted());
        }
        for (name, is_and) in [("or_matcher", false), ("and_matcher", true)] {
            let Some(several) = self.get(node, name) else { continue };
            let parts: Option<Vec<Any>> =
                self.list(several, "predicate").iter().map(|part| self.predicate(part, polarity)).collect();
            // De Morgan: the negation of "all" is "any" of the negations.
            let combined =
                if is_and == is_inverted { parts?.into_iter().flatten().collect() } else { product(parts?) };
            if combined.len() > WAYS_MAX {
                self.report
                    .error(several.place, format!("the predicate has more than {WAYS_MAX} alternatives"));
                return None;
            }
            return Some(combined);
        }
        self.report.error(node.place, "the predicate is empty");
        None
    }

    /// Returns the name of the header that an input reads.
    fn input(&mut self, node: &YamlNode<'_>) -> Option<String> {
        let (input, _) = self.typed_config(node, &[HEADER])?;
        let name = self.word(input, "header_name").map(header_name);
        if name.is_none() {
            self.report.error(input.place, "`header_name` is missing");
        }
        name
    }

    /// Answers 404 to requests on this path that no earlier rule matched.
    fn end(
        &mut self,
        conditions: &[ValueMatch],
        place: SourceSpan,
        scope: &HostScope<'_>,
        context: &mut RouteConfigContext<'_, '_>,
    ) {
        let routes = &context.table.config.routes;
        let name = format!("{}/end-{}", scope.name, routes.rules.len() + 1);
        let mut rule = Rule::new(&name, self.origin(place));
        rule.hosts = scope.hosts.to_vec();
        rule.headers = conditions.to_vec();
        rule.path = PathPattern::BytePrefix("/".to_owned());
        if routes.reading.path == PathForm::Raw {
            lift_path_condition(&mut rule);
        }
        let respond = Respond { status: 404, body: Shared::default(), content_type: "text/plain".into() };
        context.push(rule, plain_action(ActionKind::Respond(respond)), place);
    }
}

/// Returns all combinations of one alternative each, at most one more than the limit.
fn product(parts: Vec<Any>) -> Any {
    parts.into_iter().fold(vec![Vec::new()], |sofar, part| {
        let both = sofar.iter().flat_map(|one| part.iter().map(move |other| [&one[..], &other[..]].concat()));
        both.take(WAYS_MAX + 1).collect()
    })
}

/// Whether a rule matches all requests that reach it on this path.
fn matches_all_requests(rule: &Rule, conditions: &[ValueMatch]) -> bool {
    let is_any_path = matches!(&rule.path, PathPattern::BytePrefix(prefix) if prefix == "/");
    is_any_path
        && rule.methods.is_empty()
        && rule.query.is_empty()
        && rule.fraction.is_none()
        && rule.headers.len() == conditions.len()
}

/// Turns a condition on `:path` into the path of a rule that has no other, so that the router can find the rule by
/// path. A rule whose rewrite replaces its own prefix keeps that prefix.
fn lift_path_condition(rule: &mut Rule) {
    let is_any_path = matches!(&rule.path, PathPattern::BytePrefix(prefix) if prefix == "/");
    if !is_any_path || matches!(rule.rewrite, Some(PathRewrite::Matched(_))) {
        return;
    }
    let texts = rule.headers.iter().enumerate().filter_map(|(at, condition)| {
        let (ValueTest::Prefix(text) | ValueTest::Exact(text)) = &condition.test else { return None };
        let is_plain = *condition == ValueMatch::new(":path", condition.test.clone());
        let is_path = text.starts_with('/') && !text.contains(['?', '#']);
        (is_plain && is_path).then(|| (at, text.clone()))
    });
    let Some((at, text)) = texts.max_by_key(|(_, text)| text.len()) else { return };
    if matches!(rule.headers.get(at).map(|condition| &condition.test), Some(ValueTest::Prefix(_))) {
        rule.headers.remove(at);
        rule.path = PathPattern::BytePrefix(text);
    } else {
        // The condition stays: it holds only for a path without query.
        rule.path = PathPattern::Exact(text);
    }
}

const ROUTE: &str = "envoy.config.route.v3.Route";

const ROUTES: &str = "envoy.config.route.v3.RouteList";

const HEADER: &str = "envoy.type.matcher.v3.HttpRequestHeaderMatchInput";

/// Maximum nesting of matchers.
const DEPTH_MAX: usize = 32;

/// Maximum number of alternatives of a predicate.
const WAYS_MAX: usize = 64;

/// Maximum number of paths to actions in the matchers of a configuration.
const LEAVES_MAX: usize = 100_000;
