//! `eddy explain`: which rule a request meets, and why.

use std::fmt::Write;

use anyhow::{anyhow, bail, ensure};
use eddy_config::{Action, ActionKind, Config, ListenAddress, Serve};
use eddy_http::{HeadLimits, RequestHead, Version};
use eddy_route::nginx::{SiteExplanation, SiteRequest, Sites};
use eddy_route::normalise::{Normal, eddy};
use eddy_route::{Candidate, Explanation, RouteRequest, RouteScratch, Router};
use serde::Serialize;

use super::arguments::Explain;
use super::routes::{load, named, router_of};
use super::start::Failure;
use crate::terminal::print;

#[derive(Serialize)]
struct Document {
    listeners: Vec<ListenerAnswer>,
}

/// What one listener does with the request.
#[derive(Serialize)]
struct ListenerAnswer {
    listener: String,
    address: String,
    /// Why the request is refused: its path before any rule is looked at, or what a rule makes of its path.
    refused: Option<String>,
    /// What the winning rule does.
    action: Option<String>,
    /// The path that is sent upstream, if the rule rewrites it.
    rewritten_path: Option<String>,
    explanation: Option<Explanation>,
    /// The way through servers and locations of NGINX's.
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<SiteExplanation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<Vec<Candidate>>,
}

/// Explains a request at each listener it may come in by.
///
/// # Errors
/// When the configuration has errors, the request is no request, or there is no such listener or rule.
pub(super) fn run(arguments: &Explain) -> Result<(), Failure> {
    let config = load(&arguments.configs, arguments.dialect.leniency())?;
    let asked = Asked::parse(arguments)?;
    let mut listeners = Vec::new();
    for listener in &config.listeners {
        let is_meant = match &arguments.listener {
            Some(name) => *name == *listener.name,
            None => asked.may_come_in_at(&listener.address, &config),
        };
        if !is_meant {
            continue;
        }
        let mut answer = if let (Serve::Sites(index), Some(sites)) = (&listener.serve, &config.sites) {
            explain_site(sites, *index, &listener.address, &asked)
        } else {
            let Some(router) = router_of(&config, listener)? else { continue };
            explain(&config, &router, &asked)
        };
        if arguments.all {
            answer.explanation = answer.explanation.map(Explanation::with_all);
        }
        answer.listener = listener.name.to_string();
        answer.address = listener.address.to_string();
        if let (Some(name), Some(explanation)) = (&arguments.why_not, &answer.explanation) {
            answer.why_not = Some(explanation.why_not(name).cloned().collect());
        }
        listeners.push(answer);
    }
    if listeners.is_empty() {
        return Err(no_listener(&config, arguments).into());
    }
    let is_site = listeners.iter().any(|listener| listener.site.is_some());
    if let (Some(_), true) = (&arguments.why_not, is_site) {
        return Err(anyhow!(
            "an nginx.conf has no rules to ask after; the explanation lists the locations that fit as well"
        )
        .into());
    }
    if let Some(name) = &arguments.why_not
        && listeners.iter().all(|listener| listener.why_not.as_ref().is_some_and(Vec::is_empty))
    {
        return Err(anyhow!("there is no rule \"{name}\"; `eddy routes` lists them").into());
    }
    let shown = if arguments.all { Shown::All } else { Shown::Notable };
    if arguments.json {
        let text = serde_json::to_string_pretty(&Document { listeners }).map_err(anyhow::Error::from)?;
        print(&(text + "\n"))?;
    } else {
        let texts: Vec<String> = listeners.iter().map(|listener| listener.text(shown)).collect();
        print(&texts.join("\n"))?;
    }
    Ok(())
}

/// Which candidates are shown.
#[derive(Clone, Copy)]
enum Shown {
    All,
    Notable,
}

/// The request that is asked about, as a client would send it.
struct Asked {
    bytes: Vec<u8>,
    head: RequestHead,
    port: Option<u16>,
}

impl Asked {
    fn parse(arguments: &Explain) -> anyhow::Result<Self> {
        let url = Url::parse(&arguments.url);
        let mut fields = String::new();
        let mut has_host = false;
        for field in &arguments.fields {
            let Some((name, value)) = field.split_once(':') else {
                bail!("\"{field}\" is no field; write it as 'name: value'");
            };
            has_host |= name.eq_ignore_ascii_case("host");
            let _ = write!(fields, "{name}: {}\r\n", value.trim());
        }
        // Only HTTP/1.0 has requests without a host.
        let version = if has_host || url.authority.is_some() { "HTTP/1.1" } else { "HTTP/1.0" };
        let host = match url.authority {
            Some(authority) if !has_host => format!("Host: {authority}\r\n"),
            _ => String::new(),
        };
        let text = format!("{} {} {version}\r\n{host}{fields}\r\n", arguments.method, url.target);
        ensure!(
            text.matches("\r\n").count() == fields.matches("\r\n").count() + host.matches("\r\n").count() + 2,
            "line breaks cannot be sent in a request"
        );
        let bytes = text.into_bytes();
        let mut head = RequestHead::new();
        head.parse(&bytes, &HeadLimits::default()).map_err(|fault| {
            anyhow!("this is no request: {} (a client would get {})", fault.reason(), fault.status())
        })?;
        Ok(Self { bytes, head, port: url.port })
    }

    /// Whether the port of the URL leaves this listener possible.
    fn may_come_in_at(&self, address: &ListenAddress, config: &Config) -> bool {
        let has_port = |address: &ListenAddress, port: u16| matches!(address, ListenAddress::Tcp(address) if address.port() == port);
        match self.port {
            Some(port) if config.listeners.iter().any(|other| has_port(&other.address, port)) => {
                has_port(address, port)
            }
            _ => true,
        }
    }
}

/// A URL taken apart as far as a client does before it sends a request.
struct Url<'a> {
    authority: Option<&'a str>,
    port: Option<u16>,
    target: String,
}

impl<'a> Url<'a> {
    fn parse(text: &'a str) -> Self {
        // A fragment is never sent.
        let text = text.split('#').next().unwrap_or_default();
        let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://")).unwrap_or(text);
        if rest.starts_with('/') || rest == "*" {
            return Self { authority: None, port: None, target: rest.to_owned() };
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, target) = rest.split_at(end);
        let target = if target.starts_with('/') { target.to_owned() } else { format!("/{target}") };
        let port = authority.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        Self { authority: Some(authority), port, target }
    }
}

fn explain(config: &Config, router: &Router, asked: &Asked) -> ListenerAnswer {
    let Asked { bytes, head, .. } = asked;
    let mut answer = ListenerAnswer {
        listener: String::new(),
        address: String::new(),
        refused: None,
        action: None,
        rewritten_path: None,
        explanation: None,
        site: None,
        why_not: None,
    };
    let mut normal = Vec::new();
    let sent = head.path.of(bytes);
    let path = match eddy(sent, &mut normal) {
        Ok(Normal::AsIs) => sent,
        Ok(Normal::Changed) => normal.as_slice(),
        Err(fault) => {
            answer.refused = Some(format!("400: {}", fault.reason()));
            return answer;
        }
    };
    let request = RouteRequest {
        host: head.host.of(bytes),
        path,
        query: head.query.map_or(b"".as_slice(), |query| query.of(bytes)),
        method: head.method_name(bytes),
        fields: head.fields(bytes),
    };
    answer.explanation = Some(router.explain(&request).with_sent_path(sent));
    let mut scratch = RouteScratch::new();
    if let Some(found) = router.lookup(&request, &mut scratch) {
        let action = usize::try_from(found.rule.action).ok().and_then(|index| config.actions.get(index));
        answer.action = action.map(|action| action_text(config, action));
        let mut rewritten = Vec::new();
        match found.rewrite(path, &mut scratch, &mut rewritten) {
            Ok(true) => answer.rewritten_path = Some(String::from_utf8_lossy(&rewritten).into_owned()),
            Ok(false) => {}
            Err(fault) => answer.refused = Some(format!("500: {}", fault.reason())),
        }
    }
    answer
}

/// Explains a request at an address of NGINX's servers.
fn explain_site(sites: &Sites, index: usize, address: &ListenAddress, asked: &Asked) -> ListenerAnswer {
    let Asked { bytes, head, .. } = asked;
    let target = head.target.of(bytes);
    let target = target.get(target.len() - origin_len(head)..).unwrap_or_default();
    let (local_address, local_port) = match address {
        ListenAddress::Tcp(address) => (address.ip().to_string(), address.port()),
        ListenAddress::Unix(path) => (format!("unix:{}", path.display()), 0),
    };
    let request = SiteRequest {
        host: head.host.of(bytes),
        path: head.path.of(bytes),
        query: head.query.map(|query| query.of(bytes)),
        target,
        method: head.method_name(bytes),
        protocol: if head.version == Version::Http11 { "HTTP/1.1" } else { "HTTP/1.0" },
        fields: head.fields(bytes),
        body_bytes: None,
        remote_address: b"127.0.0.1",
        remote_port: 0,
        local_address: local_address.as_bytes(),
        local_port,
        id: 0,
    };
    ListenerAnswer {
        listener: String::new(),
        address: String::new(),
        refused: None,
        action: None,
        rewritten_path: None,
        explanation: None,
        site: Some(sites.explain(index, &request)),
        why_not: None,
    }
}

/// The length of path and query in a target.
fn origin_len(head: &RequestHead) -> usize {
    head.path.len() + head.query.map_or(0, |query| query.len() + 1)
}

/// What an action does, for people.
pub(super) fn action_text(config: &Config, action: &Action) -> String {
    let cluster = |index: usize| config.clusters.get(index).map_or("unknown", |cluster| &cluster.name);
    match &action.kind {
        ActionKind::Cluster(index) => format!("cluster {}", cluster(*index)),
        ActionKind::Weighted(clusters) => {
            let shares: Vec<String> = clusters
                .iter()
                .map(|share| format!("{} ({})", cluster(share.cluster), share.weight))
                .collect();
            format!("clusters by weight: {}", shares.join(", "))
        }
        ActionKind::Respond(respond) => format!("respond {}", respond.status),
        ActionKind::Redirect(redirect) => format!("redirect {}", redirect.status),
    }
}

impl ListenerAnswer {
    fn text(&self, shown: Shown) -> String {
        let mut out = format!("listener    {}\n", named(&self.listener, &self.address));
        // Writing to a string never fails.
        if let Some(candidates) = &self.why_not {
            let _ = candidates.iter().try_for_each(|candidate| writeln!(out, "{candidate}"));
            return out;
        }
        if let Some(explanation) = &self.explanation {
            let _ = match shown {
                Shown::All => write!(out, "{explanation:#}"),
                Shown::Notable => write!(out, "{explanation}"),
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
        out
    }
}

fn no_listener(config: &Config, arguments: &Explain) -> anyhow::Error {
    match &arguments.listener {
        Some(name) => {
            let names: Vec<&str> = config.listeners.iter().map(|listener| &*listener.name).collect();
            anyhow!("there is no listener \"{name}\" with routes; the listeners are {}", names.join(", "))
        }
        None => anyhow!("no listener has routes"),
    }
}
