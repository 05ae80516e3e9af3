//! Route actions: proxying to clusters, redirects and direct responses.

use std::time::Duration;

use eddy_config::{Action, ActionKind, Mirror, MirrorHost, Redirect, Respond, WeightedCluster};
use eddy_ids::{ClusterId, DuplicateKey, Shared};
use eddy_model::ClusterConfig;
use eddy_route::{PathReplace, PathRewrite};
use eddy_spec::problem::{SourceSpan, shown};
use eddy_spec::read::Spanned;
use eddy_spec::value::ConfigName;
use eddy_spec::yaml::YamlNode;

use super::reader::{EnvoyReader, elements, entry};
use super::retry::hedge_instead;
use super::scope::{HostScope, RouteConfigContext, plain_action};
use super::template;

/// Action of a route and its path rewrite.
pub(super) struct EnvoyRouteAction {
    pub(super) action: Action,
    pub(super) rewrite: Option<PathRewrite>,
    /// Actions of the weighted clusters with their weights, when clusters have settings of their own; otherwise empty.
    pub(super) shares: Vec<(Action, u32)>,
}

impl EnvoyRouteAction {
    fn plain(action: Action) -> Self {
        Self { action, rewrite: None, shares: Vec::new() }
    }
}

impl EnvoyReader<'_> {
    /// Reads the action of a `Route`. Returns `None` when eddy does not support it; the problem is reported.
    pub(super) fn route_action(
        &mut self,
        node: &YamlNode<'_>,
        scope: &HostScope<'_>,
        context: &mut RouteConfigContext<'_, '_>,
    ) -> Option<EnvoyRouteAction> {
        self.pass(node, &["metadata", "stat_prefix"]);
        self.warn_ineffective(node, &[("decorator", NO_TRACES), ("tracing", NO_TRACES)]);
        let matched = self.get(node, "match");
        let mut made = if let Some(route) = self.get(node, "route") {
            self.forward(route, matched, scope, context)?
        } else if let Some(redirect) = self.get(node, "redirect") {
            if let (Some(prefix), Some(_)) = (
                entry(redirect, "prefix_rewrite"),
                matched.and_then(|matched| entry(matched, "path_match_policy")),
            ) {
                self.report
                    .error(prefix.key.place, "`prefix_rewrite` can't be combined with `path_match_policy`")
                    .hint("Envoy rejects it too: a template has no prefix; write `regex_rewrite`");
            }
            self.redirect(redirect)
        } else if let Some(response) = self.get(node, "direct_response") {
            self.direct_response(response)?
        } else {
            self.report
                .error(node.place, "the route has no action that eddy supports")
                .hint("write `route`, `redirect` or `direct_response`");
            return None;
        };
        let own = self.edits(node);
        let actions = made.shares.iter_mut().map(|(action, _)| action).chain([&mut made.action]);
        for action in actions {
            let share =
                (std::mem::take(&mut action.request_edits), std::mem::take(&mut action.response_edits));
            let [host, whole] = scope.levels.outer;
            let mut levels = [&own, host, whole];
            if scope.levels.come_first {
                levels.reverse();
            }
            // Edits of a weighted cluster come first in either order.
            for (request, response) in [&share].into_iter().chain(levels) {
                self.follow(&mut action.request_edits, request, node.place);
                self.follow(&mut action.response_edits, response, node.place);
            }
        }
        Some(made)
    }

    fn forward(
        &mut self,
        node: &YamlNode<'_>,
        matched: Option<&YamlNode<'_>>,
        scope: &HostScope<'_>,
        context: &mut RouteConfigContext<'_, '_>,
    ) -> Option<EnvoyRouteAction> {
        self.warn_ineffective(node, &[("priority", "all requests have the same priority")]);
        let weighted = self.get(node, "weighted_clusters");
        let kind = if let Some(name) = self.word(node, "cluster") {
            let place = self.get(node, "cluster").map_or(node.place, |node| node.place);
            ActionKind::Cluster(self.cluster(name, place, context))
        } else if let Some(weighted) = weighted {
            ActionKind::Weighted(self.weighted(weighted, context)?)
        } else {
            self.report.error(node.place, "the route has no cluster").hint(
                "write `cluster` or `weighted_clusters`; eddy can't take the cluster name from a request",
            );
            return None;
        };
        let key = self.hash_key(node);
        let named: Vec<ClusterId> = match &kind {
            ActionKind::Cluster(cluster) => vec![*cluster],
            ActionKind::Weighted(shares) => shares.iter().map(|share| share.cluster).collect(),
            ActionKind::Split(_)
            | ActionKind::Respond(_)
            | ActionKind::Redirect(_)
            | ActionKind::Sites(_) => Vec::new(),
        };
        for cluster in named {
            context.keys.entry(cluster).or_default().push((key.clone(), node.place));
        }
        let mut action = plain_action(kind);
        // Envoy's default timeout of the whole response is 15 s; 0 disables it.
        let timeout = self.duration(node, "timeout").unwrap_or(Duration::from_secs(15));
        action.timeout = (!timeout.is_zero()).then_some(timeout);
        action.host_rewrite = self.word(node, "host_rewrite_literal").map(Shared::from);
        action.upgrades = self.upgrades(node, &context.protocols);
        let own_hedge = self.get(node, "hedge_policy");
        let is_hedged = own_hedge.map_or(scope.is_hedged, |policy| self.is_hedged(policy));
        if let Some(policy) = self.get(node, "retry_policy").or(scope.retry) {
            action.retry = self.retry(policy);
            action.attempt_timeout = self.duration(policy, "per_try_timeout").filter(|time| !time.is_zero());
            // Envoy ignores a retry policy without `retry_on`.
            if is_hedged && self.word(policy, "retry_on").is_some() {
                hedge_instead(&mut action);
            }
        }
        if let Some(mirrors) = self.get(node, "request_mirror_policies").or(scope.mirrors) {
            action.mirrors = self.mirrors(mirrors, context);
        }
        let shares = weighted.map(|weighted| self.shares(weighted, &action)).unwrap_or_default();
        let rewrite = match self.get(node, "path_rewrite_policy") {
            Some(policy) => Some(self.template_rewrite(policy, matched)?),
            None => self.rewrite(node),
        };
        Some(EnvoyRouteAction { action, rewrite, shares })
    }

    /// Returns one action per weighted cluster if any of them edits headers or rewrites the host; otherwise none.
    fn shares(&mut self, node: &YamlNode<'_>, action: &Action) -> Vec<(Action, u32)> {
        let ActionKind::Weighted(weighted) = &action.kind else { return Vec::new() };
        let nodes = self.list(node, "clusters");
        let mut shares = Vec::new();
        for (share, node) in weighted.iter().zip(nodes) {
            let (request, response) = self.edits(node);
            let mut own = Action { kind: ActionKind::Cluster(share.cluster), ..action.clone() };
            if let Some(host) = self.word(node, "host_rewrite_literal") {
                own.host_rewrite = Some(host.into());
            }
            (own.request_edits, own.response_edits) = (request, response);
            shares.push((own, share.weight));
        }
        let is_plain = |own: &Action| {
            own.request_edits.is_empty()
                && own.response_edits.is_empty()
                && own.host_rewrite == action.host_rewrite
        };
        if shares.iter().all(|(own, _)| is_plain(own)) { Vec::new() } else { shares }
    }

    /// `request_mirror_policies`.
    fn mirrors(&mut self, node: &YamlNode<'_>, context: &mut RouteConfigContext<'_, '_>) -> Vec<Mirror> {
        let mut mirrors = Vec::new();
        for policy in elements(node) {
            self.pass(policy, &["trace_sampled"]);
            let keeps_host = self.is_true(policy, "disable_shadow_host_suffix_append");
            let host = if keeps_host { MirrorHost::Same } else { MirrorHost::Shadow };
            let Some(name) = self.word(policy, "cluster").map(str::to_owned) else { continue };
            let cluster = self.cluster(&name, policy.place, context);
            let (mut numerator, mut denominator) = (100, 100);
            if let Some(fraction) = self.get(policy, "runtime_fraction") {
                self.pass(fraction, &["runtime_key"]);
                if let Some(value) = self.get(fraction, "default_value") {
                    let fraction = self.fraction(value);
                    (numerator, denominator) = (fraction.numerator, fraction.denominator);
                }
            }
            mirrors.push(Mirror { cluster, numerator, denominator, host });
        }
        mirrors
    }

    /// Reads `path_rewrite_policy`: a template that uses the variables of the matched path template.
    fn template_rewrite(
        &mut self,
        node: &YamlNode<'_>,
        matched: Option<&YamlNode<'_>>,
    ) -> Option<PathRewrite> {
        let (config, _) = self.typed_config(node, &[TEMPLATE])?;
        let written = self.text(config, "path_template_rewrite").unwrap_or_default().to_owned();
        let Some(template) = matched.and_then(|matched| self.template_of(matched)) else {
            self.report
                .error(node.place, "a template rewrite needs a path template in the match")
                .hint("write `path_match_policy` in the `match`, or `regex_rewrite` here");
            return None;
        };
        match template::replacement(&written, &template::variables(&template)) {
            Ok(path) => Some(PathRewrite::Full(path)),
            Err(reason) => {
                self.report
                    .error(config.place, format!("the rewrite template `{}` {reason}", shown(&written)));
                None
            }
        }
    }

    /// Reads `prefix_rewrite` or `regex_rewrite`.
    fn rewrite(&mut self, node: &YamlNode<'_>) -> Option<PathRewrite> {
        if let Some(prefix) = self.word(node, "prefix_rewrite") {
            return Some(PathRewrite::Matched(prefix.to_owned()));
        }
        let regex = self.get(node, "regex_rewrite")?;
        let pattern = self.get(regex, "pattern")?;
        let by = self.text(regex, "substitution").unwrap_or_default().to_owned();
        Some(PathRewrite::Replace(PathReplace { expression: self.regex(pattern)?, by }))
    }

    fn redirect(&mut self, node: &YamlNode<'_>) -> EnvoyRouteAction {
        let status = match self.text(node, "response_code") {
            Some("FOUND" | "1") => 302,
            Some("SEE_OTHER" | "2") => 303,
            Some("TEMPORARY_REDIRECT" | "3") => 307,
            Some("PERMANENT_REDIRECT" | "4") => 308,
            _ => 301,
        };
        let is_https = self.is_true(node, "https_redirect");
        let scheme = self.word(node, "scheme_redirect").map(Shared::from);
        let redirect = Redirect {
            status,
            scheme: scheme.or_else(|| is_https.then(|| "https".into())),
            host: self.word(node, "host_redirect").map(Shared::from),
            strip_query: self.is_true(node, "strip_query"),
            port: self.number(node, "port_redirect").filter(|port| *port != 0),
            path: self.word(node, "path_redirect").map(Shared::from),
            is_absolute: true,
        };
        let rewrite = self.rewrite(node);
        EnvoyRouteAction { rewrite, ..EnvoyRouteAction::plain(plain_action(ActionKind::Redirect(redirect))) }
    }

    fn direct_response(&mut self, node: &YamlNode<'_>) -> Option<EnvoyRouteAction> {
        let status = self.number::<u16>(node, "status").unwrap_or(0);
        if !(200..600).contains(&status) {
            self.report
                .error(node.place, "a direct response needs a `status` from 200 to 599")
                .hint("for example `direct_response: {status: 404}`");
            return None;
        }
        let body = self.get(node, "body");
        let text = body.and_then(|body| self.text(body, "inline_string"));
        let respond = Respond {
            status,
            body: text.unwrap_or_default().as_bytes().into(),
            content_type: "text/plain".into(),
        };
        Some(EnvoyRouteAction::plain(plain_action(ActionKind::Respond(respond))))
    }

    fn weighted(
        &mut self,
        node: &YamlNode<'_>,
        context: &mut RouteConfigContext<'_, '_>,
    ) -> Option<Vec<WeightedCluster>> {
        self.pass(node, &["total_weight", "runtime_key_prefix"]);
        let mut weighted = Vec::new();
        for share in self.list(node, "clusters") {
            let own = self.route_filters(share, &[], &[]);
            debug_assert!(own.is_empty(), "settings of a weighted cluster are reported");
            let name = self.word(share, "name").unwrap_or_default().to_owned();
            let weight = self.number(share, "weight").unwrap_or(0);
            weighted.push(WeightedCluster { cluster: self.cluster(&name, share.place, context), weight });
        }
        if weighted.iter().all(|share| share.weight == 0) {
            self.report.error(node.place, "no cluster has a weight above 0");
            return None;
        }
        Some(weighted)
    }

    /// Returns the cluster of a name. A name that is not defined is reported at its first use and reserved, so that the
    /// rest of its routes is still read.
    fn cluster(
        &mut self,
        name: &str,
        place: SourceSpan,
        context: &mut RouteConfigContext<'_, '_>,
    ) -> ClusterId {
        if let Some(known) = context.clusters.find(name) {
            return known;
        }
        if context.may_add_clusters {
            let cluster = ClusterConfig::new(name, Vec::new());
            return context.clusters.define_used(cluster, place).unwrap_or_else(|DuplicateKey(known)| known);
        }
        let names = context.clusters.iter().map(|(_, cluster)| &*cluster.name);
        let near = self.report.closest(name, names).map(str::to_owned);
        let found = self.report.error(place, format!("there is no cluster `{}`", shown(name)));
        match near {
            Some(near) => found.hint(format!("did you mean `{near}`?")),
            None => found.hint("define it under `static_resources.clusters`"),
        }
        let name = Spanned { value: ConfigName(name.into()), place };
        context.clusters.declare(&name)
    }
}

/// Returns a redirect of all requests to `https`, at the same host and path.
pub(crate) fn https_redirect() -> Redirect {
    Redirect {
        status: 301,
        scheme: Some("https".into()),
        host: None,
        strip_query: false,
        port: None,
        path: None,
        is_absolute: true,
    }
}

const NO_TRACES: &str = "eddy does not support tracing";

const TEMPLATE: &str = "envoy.extensions.path.rewrite.uri_template.v3.UriTemplateRewriteConfig";
