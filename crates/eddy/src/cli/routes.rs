//! `eddy routes`: prints the compiled order of the rules.

use std::fmt::Write;

use eddy_config::{
    ActionKind, Forward, Forwarding, GatewayConfig, ListenAddress, ListenerConfig, Serve, SitesAt,
};
use eddy_route::nginx::SiteListing;
use eddy_route::{Listing, RankedRule, Router};
use serde::Serialize;

use super::arguments::RoutesArgs;
use super::diff;
use super::error::CommandError;
use super::load::{load, router_of};
use crate::explain::named;
use crate::terminal::{print, print_json};

#[derive(Serialize)]
struct RoutesReport {
    listeners: Vec<ListenerRules>,
}

#[derive(Serialize)]
struct ListenerRules {
    listener: String,
    address: String,
    rules: Vec<RankedRule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sites: Option<SiteListing>,
    #[serde(skip_serializing_if = "Option::is_none")]
    forward: Option<ForwardTargets>,
}

/// Targets of a listener that forwards connections or datagrams without parsing requests.
#[derive(Serialize)]
struct ForwardTargets {
    /// Kind of traffic: connections or datagrams.
    what: &'static str,
    ways: Vec<ForwardTarget>,
}

#[derive(Serialize)]
struct ForwardTarget {
    /// Server names of this target; empty for the default target.
    server_names: Vec<String>,
    cluster: String,
}

/// Prints the order of every listener.
///
/// # Errors
/// When the configuration has errors, which are printed.
pub(super) fn run(arguments: &RoutesArgs) -> Result<(), CommandError> {
    if let Some(rule) = &arguments.witness {
        return diff::witness(arguments, rule);
    }
    if !arguments.diff.is_empty() {
        return diff::diff(arguments);
    }
    let config = load(&arguments.files.configs, arguments.dialect.leniency())?;
    let mut listeners = Vec::new();
    for listener in &config.listeners {
        let mut shown = ListenerRules {
            listener: listener.name.to_string(),
            address: listener.address.to_string(),
            rules: Vec::new(),
            sites: None,
            forward: None,
        };
        match &listener.serve {
            Serve::Sites(at) => shown.sites = listing(&config, [*at]),
            Serve::Forward(forwarding) => {
                shown.forward = Some(forward_targets(&config, listener, forwarding))
            }
            Serve::Demo => continue,
            Serve::Routes(_) => {
                let Some(router) = router_of(&config, listener)? else { continue };
                shown.sites = listing(&config, linked_sites(&config, listener, &router));
                shown.rules =
                    router.ordered_by(&|a, b| config.action_of(listener, a) == config.action_of(listener, b));
            }
        }
        listeners.push(shown);
    }
    if arguments.json {
        print_json(&RoutesReport { listeners })?;
    } else {
        print(&text_of(&listeners))?;
    }
    Ok(())
}

fn forward_targets(
    config: &GatewayConfig,
    listener: &ListenerConfig,
    forwarding: &Forwarding,
) -> ForwardTargets {
    let is_udp = matches!(listener.address, ListenAddress::Udp(_));
    let way_on = |way: &Forward| ForwardTarget {
        server_names: way.names_written(),
        cluster: config.clusters[way.cluster].name.to_string(),
    };
    ForwardTargets {
        what: if is_udp { "datagrams" } else { "connections" },
        ways: forwarding.ways.iter().map(way_on).collect(),
    }
}

/// Returns the NGINX servers that rules refer to.
fn linked_sites(config: &GatewayConfig, listener: &ListenerConfig, router: &Router) -> Vec<SitesAt> {
    let mut found = Vec::new();
    for rule in router.rules() {
        if let ActionKind::Sites(at) = config.action_of(listener, rule).kind
            && !found.contains(&at)
        {
            found.push(at);
        }
    }
    found
}

/// Returns all servers of some addresses; `None` without addresses.
fn listing(config: &GatewayConfig, all: impl IntoIterator<Item = SitesAt>) -> Option<SiteListing> {
    let listed =
        all.into_iter().filter_map(|at| Some(config.sites.get(at.sites)?.program.listing(at.address)));
    listed.reduce(|mut all, more| {
        all.servers.extend(more.servers);
        all
    })
}

fn text_of(listeners: &[ListenerRules]) -> String {
    let mut out = String::new();
    for listener in listeners {
        if !out.is_empty() {
            out.push('\n');
        }
        // Writing to a string never fails.
        let _ = writeln!(out, "listener {}", named(&listener.listener, &listener.address));
        for way in listener.forward.iter().flat_map(|forward| &forward.ways) {
            let what = listener.forward.as_ref().map_or("", |forward| forward.what);
            let named = if way.server_names.is_empty() {
                String::new()
            } else {
                format!(" for {}", way.server_names.join(", "))
            };
            let _ = writeln!(out, "  {what}{named} are forwarded to cluster {}", way.cluster);
        }
        if !listener.rules.is_empty() || (listener.sites.is_none() && listener.forward.is_none()) {
            let _ = write!(out, "{}", Listing { rules: &listener.rules });
        }
        if let Some(sites) = &listener.sites {
            let _ = write!(out, "{sites}");
        }
    }
    if out.is_empty() {
        out.push_str("no listener has routes\n");
    }
    out
}
