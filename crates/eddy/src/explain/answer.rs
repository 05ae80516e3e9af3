//! Explains the decision of each listener for a request.

use std::fmt::Write;

use anyhow::anyhow;
use eddy_config::{Action, ActionKind, GatewayConfig, ListenAddress, ListenerConfig, Serve, SitesAt};
use eddy_http::{RequestHead, Version};
use eddy_ids::ClusterId;
use eddy_route::nginx::{SiteExplanation, SiteRequest, SiteTls};
use eddy_route::normalise::Normal;
use eddy_route::{Candidate, Explanation, OtherDialect, RouteRequest, RouteScratch, Router};
use serde::Serialize;

use super::Question;
use super::asked::ExplainRequest;
use super::other::OtherDialectDecision;

/// Decisions of all listeners. The JSON form is stable: fields may be added, never renamed.
#[derive(Serialize)]
pub(crate) struct ExplainReport {
    listeners: Vec<ListenerAnswer>,
    #[serde(skip)]
    shown: CandidateDisplay,
}

/// Decision of one listener.
#[derive(Default, Serialize)]
struct ListenerAnswer {
    listener: String,
    address: String,
    /// Why the request is refused: because of its path before any rule is tried, or because of a rewritten path.
    refused: Option<String>,
    /// Action of the winning rule.
    action: Option<String>,
    /// Path sent upstream, if the rule rewrites it.
    rewritten_path: Option<String>,
    explanation: Option<Explanation>,
    /// Matching NGINX servers and locations.
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<SiteExplanation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<Vec<Candidate>>,
    /// Decisions in other dialects, if requested.
    #[serde(rename = "as", skip_serializing_if = "Vec::is_empty")]
    others: Vec<OtherDialectDecision>,
}

/// Candidates to print.
#[derive(Clone, Copy)]
enum CandidateDisplay {
    All,
    Notable,
}

/// Explains a request for each listener it may arrive at; `with_router` passes the router of a listener, given by
/// index, to a function.
///
/// # Errors
/// When the request is invalid, or there is no such listener or rule.
///
/// # Cost
/// Grows with the number of rules and allocates; not for use on the request path.
pub(crate) fn explain(
    config: &GatewayConfig,
    question: &Question,
    mut with_router: impl FnMut(usize, &mut dyn FnMut(&Router)) -> anyhow::Result<()>,
) -> anyhow::Result<ExplainReport> {
    let asked = ExplainRequest::parse(question)?;
    let mut listeners = Vec::new();
    for (number, listener) in config.listeners.iter().enumerate() {
        let is_meant = match &question.listener {
            Some(name) => *name == *listener.name,
            None => asked.may_arrive_at(listener, config),
        };
        if !is_meant {
            continue;
        }
        let mut answer = None;
        if let Serve::Sites(at) = listener.serve {
            let site = explain_site(config, at, &listener.address, listener.tls.is_some(), &asked);
            answer = Some(ListenerAnswer { site, ..ListenerAnswer::default() });
        } else {
            with_router(number, &mut |router| {
                answer = Some(explain_rules(config, router, listener, &asked, &question.others));
            })?;
        }
        let Some(mut answer) = answer else { continue };
        if question.all {
            answer.explanation = answer.explanation.map(Explanation::with_all);
        }
        answer.listener = listener.name.to_string();
        answer.address = listener.address.to_string();
        if let (Some(name), Some(explanation)) = (&question.why_not, &answer.explanation) {
            answer.why_not = Some(explanation.why_not(name).cloned().collect());
        }
        listeners.push(answer);
    }
    if listeners.is_empty() {
        return Err(no_listener(config, question));
    }
    let is_site = listeners.iter().any(|listener| listener.site.is_some() && listener.explanation.is_none());
    if let (Some(_), true) = (&question.why_not, is_site) {
        return Err(anyhow!(
            "an nginx.conf has no named rules; the explanation lists the other matching locations as well"
        ));
    }
    if is_site && !question.others.is_empty() {
        return Err(anyhow!(
            "an nginx.conf cannot be explained in another dialect; convert it with `eddy convert --to eddy` first"
        ));
    }
    if let Some(name) = &question.why_not
        && listeners.iter().all(|listener| listener.why_not.as_ref().is_some_and(Vec::is_empty))
    {
        return Err(anyhow!("there is no rule \"{name}\"; `eddy routes` lists them"));
    }
    Ok(ExplainReport {
        listeners,
        shown: if question.all { CandidateDisplay::All } else { CandidateDisplay::Notable },
    })
}

impl ExplainReport {
    /// Returns the report as text.
    pub(crate) fn text(&self) -> String {
        let texts: Vec<String> = self.listeners.iter().map(|listener| listener.text(self.shown)).collect();
        texts.join("\n")
    }
}

impl ListenerAnswer {
    fn text(&self, shown: CandidateDisplay) -> String {
        let mut out = format!("listener    {}\n", named(&self.listener, &self.address));
        // Writing to a string never fails.
        if let Some(candidates) = &self.why_not {
            let _ = candidates.iter().try_for_each(|candidate| writeln!(out, "{candidate}"));
            return out;
        }
        if let Some(explanation) = &self.explanation {
            let _ = match shown {
                CandidateDisplay::All => write!(out, "{explanation:#}"),
                CandidateDisplay::Notable => write!(out, "{explanation}"),
            };
        }
        if let Some(site) = &self.site {
            let _ = write!(out, "{site}");
        }
        let ends =
            [("action", &self.action), ("rewritten", &self.rewritten_path), ("refused", &self.refused)];
        for (label, value) in ends {
            if let Some(value) = value {
                let _ = writeln!(out, "{label:<12}{value}");
            }
        }
        self.others.iter().for_each(|other| other.write(&mut out));
        out
    }
}

fn explain_rules(
    config: &GatewayConfig,
    router: &Router,
    listener: &ListenerConfig,
    asked: &ExplainRequest,
    others: &[OtherDialect],
) -> ListenerAnswer {
    let ExplainRequest { bytes, head, .. } = asked;
    let mut answer = ListenerAnswer::default();
    let mut normal = Vec::new();
    let sent = head.path.of(bytes);
    let path = match listener.normaliser.apply(sent, &mut normal) {
        Ok(Normal::AsIs) => sent,
        Ok(Normal::Changed) => normal.as_slice(),
        Err(fault) => {
            answer.refused = Some(format!("400: {}", fault.reason()));
            return answer;
        }
    };
    let query = head.query.map_or(b"".as_slice(), |query| query.of(bytes));
    let target = if query.is_empty() { path.to_vec() } else { [path, b"?", query].concat() };
    let request = RouteRequest {
        host: head.host.of(bytes),
        authority: if listener.strips_port { head.host.of(bytes) } else { head.authority.of(bytes) },
        path,
        query,
        target: &target,
        scheme: if listener.tls.is_some() { b"https" } else { b"http" },
        method: head.method_name(bytes),
        random: 0,
        fields: head.fields(bytes),
    };
    answer.explanation = Some(router.explain(&request).with_sent_path(sent));
    let mut scratch = RouteScratch::new();
    let found = router.lookup(&request, &mut scratch);
    let here = found.as_ref().map(|found| &*found.rule.name);
    let tables = config.tables_of(listener);
    let tables = || tables.iter().map(|table| &table.routes);
    let of = |other: &OtherDialect| OtherDialectDecision::of(tables(), *other, &request, here);
    answer.others = others.iter().map(of).collect();
    if let Some(found) = found {
        let action = config.action_of(listener, found.rule);
        answer.action = Some(action_text(config, action));
        if let ActionKind::Sites(at) = action.kind {
            answer.site = explain_site(config, at, &listener.address, listener.tls.is_some(), asked);
        }
        let mut rewritten = Vec::new();
        match found.rewrite(path, &mut scratch, &mut rewritten) {
            Ok(true) => answer.rewritten_path = Some(String::from_utf8_lossy(&rewritten).into_owned()),
            Ok(false) => {}
            Err(fault) => answer.refused = Some(format!("500: {}", fault.reason())),
        }
    }
    answer
}

/// Explains a request at an address of NGINX servers.
fn explain_site(
    config: &GatewayConfig,
    at: SitesAt,
    address: &ListenAddress,
    is_tls: bool,
    asked: &ExplainRequest,
) -> Option<SiteExplanation> {
    let sites = &config.sites.get(at.sites)?.program;
    let (mut bytes, mut head) = (asked.bytes.clone(), asked.head.clone());
    let mut filter = sites.field_filter(at.address, head.host.of(&bytes), &mut RouteScratch::new());
    head.edit(&mut bytes).retain(|name| filter.keeps(name));
    let (bytes, head) = (&bytes, &head);
    let target = head.target.of(bytes);
    let target = &target[target.len() - origin_len(head)..];
    let (local_address, local_port) = match address {
        ListenAddress::Tcp(address) | ListenAddress::Udp(address) => {
            (address.ip().to_string(), address.port())
        }
        ListenAddress::Unix(path) => (format!("unix:{}", path.display()), 0),
    };
    let request = SiteRequest {
        host: head.host.of(bytes),
        path: head.path.of(bytes),
        query: head.query.map(|query| query.of(bytes)),
        target,
        method: head.method_name(bytes),
        protocol: match head.version {
            Version::Http10 => "HTTP/1.0",
            Version::Http11 => "HTTP/1.1",
            Version::Http2 => "HTTP/2.0",
        },
        tls: is_tls.then(SiteTls::default),
        fields: head.fields(bytes),
        body_bytes: None,
        remote_address: b"127.0.0.1",
        remote_port: 0,
        local_address: local_address.as_bytes(),
        local_port,
        id: 0,
    };
    Some(sites.explain(at.address, &request))
}

/// Returns the length of path and query in a request target.
fn origin_len(head: &RequestHead) -> usize {
    head.path.len() + head.query.map_or(0, |query| query.len() + 1)
}

/// Describes an action for people.
pub(crate) fn action_text(config: &GatewayConfig, action: &Action) -> String {
    let cluster = |id: ClusterId| &config.clusters[id].name;
    match &action.kind {
        ActionKind::Cluster(id) => format!("cluster {}", cluster(*id)),
        ActionKind::Weighted(clusters) => {
            let shares: Vec<String> = clusters
                .iter()
                .map(|share| format!("{} ({})", cluster(share.cluster), share.weight))
                .collect();
            format!("clusters by weight: {}", shares.join(", "))
        }
        ActionKind::Split(shares) => {
            let shares: Vec<String> = shares
                .iter()
                .map(|share| format!("{} ({})", action_text(config, &share.action), share.weight))
                .collect();
            format!("by weight: {}", shares.join(", "))
        }
        ActionKind::Respond(respond) => format!("respond {}", respond.status),
        ActionKind::Redirect(redirect) => format!("redirect {}", redirect.status),
        ActionKind::Sites(_) => "NGINX servers".to_owned(),
    }
}

fn no_listener(config: &GatewayConfig, question: &Question) -> anyhow::Error {
    let meant = |listener: &&ListenerConfig| question.listener.as_deref() == Some(&*listener.name);
    if let Some(listener) = config.listeners.iter().find(meant)
        && matches!(listener.serve, Serve::Forward(_))
    {
        return anyhow!(
            "the listener \"{}\" forwards its traffic without parsing requests; `eddy routes` shows the cluster",
            listener.name
        );
    }
    match &question.listener {
        Some(name) => {
            let names: Vec<&str> = config.listeners.iter().map(|listener| &*listener.name).collect();
            anyhow!("there is no listener \"{name}\" with routes; the listeners are {}", names.join(", "))
        }
        None => anyhow!("no listener has routes"),
    }
}

/// Returns a listener's name, with its address if that differs.
pub(crate) fn named(name: &str, address: &str) -> String {
    if name == address { name.to_owned() } else { format!("{name} ({address})") }
}
