//! Checks the action of a rule.

use eddy_config::{
    Action, ActionKind, Connect, Failover, FailoverReason, HedgeConfig, Protocols, Redirect, Respond,
    RetryConfig, RuleFilterConfig, Upgrades, WeightedCluster,
};
use eddy_ids::Shared;
use eddy_route::PathRewrite;
use eddy_spec::problem::{ProblemReport, SourceSpan};
use eddy_spec::read::{Boxed, OneOrMany, Spanned};
use eddy_spec::spec::{
    FailoverSpec, HedgeSpec, RedirectSpec, RespondSpec, RetrySpec, RuleSpec, WeightedSpec,
};
use eddy_spec::value::{ConfigName, HostAndPort, PathText};

use super::cluster_draft::ClusterDraft;
use super::edits::check_edits;
use super::setting::set;

/// A checked action, with its path rewrite.
#[derive(Debug)]
pub(super) struct CheckedAction {
    pub(super) action: Action,
    pub(super) rewrite: Option<PathRewrite>,
    /// Position of the path rewrite.
    pub(super) rewrite_place: Option<SourceSpan>,
}

/// Checks the action of a rule; returns `None` if it is invalid, after reporting the problem.
pub(super) fn check_action(
    mut spec: RuleSpec,
    filters: Vec<RuleFilterConfig>,
    clusters: &mut ClusterDraft<'_>,
    report: &mut ProblemReport,
) -> Option<CheckedAction> {
    note_useless_keys(&spec, report);
    let request_edits = check_edits(spec.request_headers.take(), report);
    let response_edits = check_edits(spec.response_headers.take(), report);
    let retry = check_retry(spec.retry.take());
    let hedge = check_hedge(spec.hedge.take());
    let failover = check_failover(spec.failover.take(), spec.cluster.as_ref(), clusters, report);
    let upgrades = check_upgrades(&spec, report);
    let rewrite = match (&spec.rewrite, &spec.redirect) {
        (Some(Spanned { value: Boxed(rewrite), .. }), _) => {
            path_rewrite(rewrite.path.as_ref(), rewrite.prefix.as_ref())
        }
        (None, Some(Spanned { value: Boxed(redirect), .. })) => {
            path_rewrite(redirect.path.as_ref(), redirect.prefix.as_ref())
        }
        (None, None) => None,
    };
    let kind = check_kind(&spec, clusters, report)?;
    let host_rewrite = spec.rewrite.as_ref().and_then(|rewrite| rewrite.value.0.host.as_ref());
    let action = Action {
        request_edits,
        response_edits,
        host_rewrite: host_rewrite.map(|Spanned { value: HostAndPort(host), .. }| Shared::clone(host)),
        timeout: spec.timeout.map(|timeout| timeout.value.0),
        retry,
        hedge,
        failover,
        filters,
        upgrades,
        ..Action::new(kind)
    };
    let (rewrite, rewrite_place) = rewrite.unzip();
    Some(CheckedAction { action, rewrite, rewrite_place })
}

/// Reports keys that have no effect because eddy responds itself.
fn note_useless_keys(spec: &RuleSpec, report: &mut ProblemReport) {
    let own = match (&spec.respond, &spec.redirect) {
        (Some(_), _) => "respond",
        (None, Some(_)) => "redirect",
        (None, None) => return,
    };
    let useless = [
        ("rewrite", spec.rewrite.as_ref().map(|at| at.place)),
        ("request_headers", spec.request_headers.as_ref().map(|at| at.place)),
        ("timeout", spec.timeout.map(|at| at.place)),
        ("retry", spec.retry.as_ref().map(|at| at.place)),
        ("hedge", spec.hedge.as_ref().map(|at| at.place)),
        ("failover", spec.failover.as_ref().map(|at| at.place)),
        ("upgrades", spec.upgrades.as_ref().map(|at| at.place)),
        ("connect", spec.connect.map(|at| at.place)),
    ];
    for (key, place) in useless {
        let Some(place) = place else { continue };
        let message = format!("`{key}` has no effect with `{own}`: nothing is sent to a cluster");
        let found = report.error(place, message);
        if key == "rewrite" && own == "redirect" {
            found.hint("write `path`, `prefix` and `host` under `redirect`");
        }
    }
}

fn check_kind(
    spec: &RuleSpec,
    clusters: &mut ClusterDraft<'_>,
    report: &mut ProblemReport,
) -> Option<ActionKind> {
    if let Some(cluster) = &spec.cluster {
        return clusters.resolve(cluster, report).map(ActionKind::Cluster);
    }
    if let Some(weighted) = &spec.clusters {
        return check_weighted(weighted, clusters, report).map(ActionKind::Weighted);
    }
    if let Some(respond) = &spec.respond {
        return check_respond(respond, report).map(ActionKind::Respond);
    }
    spec.redirect.as_ref().map(|redirect| ActionKind::Redirect(check_redirect(&redirect.value)))
}

fn check_weighted(
    specs: &Spanned<Vec<Spanned<WeightedSpec>>>,
    clusters: &mut ClusterDraft<'_>,
    report: &mut ProblemReport,
) -> Option<Vec<WeightedCluster>> {
    let mut weighted = Vec::with_capacity(specs.value.len());
    for Spanned { value: spec, .. } in &specs.value {
        let Some(name) = &spec.cluster else { continue };
        let Some(cluster) = clusters.resolve(name, report) else { continue };
        if weighted.iter().any(|one: &WeightedCluster| one.cluster == cluster) {
            report.error(name.place, format!("the cluster `{}` is already in this list", name.value.0));
        }
        let weight = spec.weight.map_or(1, |weight| weight.value.to_u32());
        weighted.push(WeightedCluster { cluster, weight });
    }
    if weighted.len() < specs.value.len() {
        // The problems of the others are already reported.
        return None;
    }
    if weighted.iter().all(|one| one.weight == 0) {
        report.error(specs.place, "no cluster has a weight above 0");
        return None;
    }
    Some(weighted)
}

fn check_respond(spec: &Spanned<Boxed<RespondSpec>>, report: &mut ProblemReport) -> Option<Respond> {
    let status = spec.value.0.status?.value.to_u16();
    let body = spec.value.0.body.as_ref();
    if let Some(body) = body.filter(|body| matches!(status, 204 | 205 | 304) && !body.value.0.is_empty()) {
        report.error(body.place, format!("a response with status {status} has no body"));
    }
    Some(Respond {
        status,
        body: body.map_or_else(Shared::default, |body| body.value.0.as_bytes().into()),
        content_type: match &spec.value.0.content_type {
            Some(content_type) => content_type.value.0.clone(),
            None => "text/plain; charset=utf-8".into(),
        },
    })
}

fn check_redirect(Boxed(spec): &Boxed<RedirectSpec>) -> Redirect {
    let RedirectSpec { status, scheme, host, strip_query, .. } = &**spec;
    Redirect {
        status: status.map_or(302, |status| status.value.0),
        scheme: scheme.map(|scheme| scheme.value.0.into()),
        host: host.as_ref().map(|host| host.value.0.clone()),
        strip_query: strip_query.is_some_and(|strip| strip.value),
        port: None,
        path: None,
        is_absolute: false,
    }
}

/// Returns the path rewrite. The reader has ensured that at most one key is given.
fn path_rewrite(
    path: Option<&Spanned<PathText>>,
    prefix: Option<&Spanned<PathText>>,
) -> Option<(PathRewrite, SourceSpan)> {
    let full = path.map(|path| (PathRewrite::Full(path.value.0.clone()), path.place));
    full.or_else(|| prefix.map(|prefix| (PathRewrite::Prefix(prefix.value.0.clone()), prefix.place)))
}

fn check_upgrades(spec: &RuleSpec, report: &mut ProblemReport) -> Upgrades {
    let mut upgrades = Upgrades::default();
    if let Some(names) = &spec.upgrades {
        let mut protocols: Vec<Box<str>> = Vec::with_capacity(names.value.len());
        for Spanned { value: name, place } in &names.value {
            if protocols.contains(&name.0) {
                report.error(*place, format!("`{}` is already in this list", name.0));
            } else {
                protocols.push(name.0.clone());
            }
        }
        upgrades.protocols = Protocols::These(protocols);
        upgrades.is_explicit = true;
    }
    set(&mut upgrades.connect, spec.connect);
    upgrades.is_explicit |= upgrades.connect != Connect::Refuse;
    upgrades
}

/// Checks the failover clusters after `first`; an invalid one is reported and left out.
fn check_failover(
    specs: Option<Spanned<Vec<Spanned<FailoverSpec>>>>,
    first: Option<&Spanned<ConfigName>>,
    clusters: &mut ClusterDraft<'_>,
    report: &mut ProblemReport,
) -> Vec<Failover> {
    let Some(Spanned { value: specs, place }) = specs else { return Vec::new() };
    if specs.len() > FAILOVER_MAX {
        report.error(place, format!("a rule has at most {FAILOVER_MAX} failover clusters"));
    }
    let mut failover: Vec<Failover> = Vec::with_capacity(specs.len());
    for Spanned { value: FailoverSpec { cluster: name, when }, .. } in specs {
        let Some(name) = name else { continue };
        let is_first = first.is_some_and(|first| first.value == name.value);
        let Some(cluster) = clusters.resolve(&name, report) else { continue };
        if is_first || failover.iter().any(|one| one.cluster == cluster) {
            let message = format!("the cluster `{}` would be tried twice", name.value.0);
            report.error(name.place, message).hint("each cluster is tried once");
        }
        let reasons = when.map_or_else(Vec::new, OneOrMany::into_many);
        if let (Some(any), true) =
            (reasons.iter().find(|reason| reason.value == FailoverReason::Any), reasons.len() > 1)
        {
            report.warning(any.place, "`any` includes all other reasons").hint("write `when: any`");
        }
        let mut when: Vec<FailoverReason> = reasons.iter().map(|reason| reason.value).collect();
        if when.is_empty() {
            when.push(FailoverReason::Unreachable);
        }
        failover.push(Failover { cluster, when });
    }
    failover
}

/// Maximum number of failover clusters of a request.
const FAILOVER_MAX: usize = 8;

fn check_hedge(spec: Option<Spanned<Boxed<HedgeSpec>>>) -> Option<HedgeConfig> {
    let Boxed(spec) = spec?.value;
    let attempts = spec.attempts.map_or(1, |attempts| attempts.value.to_u8());
    Some(HedgeConfig { after: spec.after?.value.0, attempts })
}

fn check_retry(spec: Option<Spanned<Boxed<RetrySpec>>>) -> RetryConfig {
    let mut retry = RetryConfig::default();
    let Some(Spanned { value: Boxed(spec), .. }) = spec else { return retry };
    set(&mut retry.attempts, spec.attempts);
    for status in spec.statuses.into_iter().flat_map(|statuses| statuses.value) {
        retry.statuses.push(status.value.to_u16());
    }
    set(&mut retry.on_reset, spec.on_reset);
    set(&mut retry.on_timeout, spec.on_timeout);
    for status in spec.grpc_statuses.into_iter().flat_map(|statuses| statuses.value) {
        retry.grpc_statuses.insert(status.value);
    }
    retry
}
