//! `eddy routes`: the compiled order of the rules.

use std::fmt::Write;
use std::io::stderr;
use std::path::PathBuf;

use anyhow::anyhow;
use eddy_config::{ActionKind, Config, Leniency, ListenerConfig, Serve, SitesAt, render};
use eddy_route::nginx::SiteListing;
use eddy_route::{Listing, RankedRule, RouteTable, Router};
use eddy_source::FileSource;
use serde::Serialize;

use super::arguments::Routes;
use super::diff;
use super::start::Failure;
use crate::explain::named;
use crate::terminal::{colour_of, print, print_error};

#[derive(Serialize)]
struct Document {
    listeners: Vec<ListenerRules>,
}

#[derive(Serialize)]
struct ListenerRules {
    listener: String,
    address: String,
    rules: Vec<RankedRule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sites: Option<SiteListing>,
}

/// Shows the order of every listener.
///
/// # Errors
/// When the configuration has errors, which are shown.
pub(super) fn run(arguments: &Routes) -> Result<(), Failure> {
    if let Some(rule) = &arguments.witness {
        return diff::witness(arguments, rule);
    }
    if !arguments.diff.is_empty() {
        return diff::diff(arguments);
    }
    let config = load(&arguments.configs, arguments.dialect.leniency())?;
    let mut listeners = Vec::new();
    for listener in &config.listeners {
        let (name, address) = (listener.name.to_string(), listener.address.to_string());
        if let Serve::Sites(at) = listener.serve {
            let sites = listing(&config, [at]);
            listeners.push(ListenerRules { listener: name, address, rules: Vec::new(), sites });
        } else if let Some(router) = router_of(&config, listener)? {
            let sites = listing(&config, led_to(&config, &router));
            listeners.push(ListenerRules {
                listener: name,
                address,
                rules: router.ordered_by(&|a, b| config.are_alike(a, b)),
                sites,
            });
        }
    }
    if arguments.json {
        let text = serde_json::to_string_pretty(&Document { listeners }).map_err(anyhow::Error::from)?;
        print(&(text + "\n"))?;
    } else {
        print(&text_of(&listeners))?;
    }
    Ok(())
}

/// The servers of NGINX's that rules lead to.
fn led_to(config: &Config, router: &Router) -> Vec<SitesAt> {
    let mut found = Vec::new();
    for rule in router.rules() {
        let action = config.actions.get(rule.action as usize);
        if let Some(ActionKind::Sites(at)) = action.map(|action| &action.kind)
            && !found.contains(at)
        {
            found.push(*at);
        }
    }
    found
}

/// All servers of some addresses; nothing where there are no addresses.
fn listing(config: &Config, all: impl IntoIterator<Item = SitesAt>) -> Option<SiteListing> {
    let listed = all.into_iter().filter_map(|at| Some(config.sites.get(at.sites)?.listing(at.address)));
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
        if !listener.rules.is_empty() || listener.sites.is_none() {
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

/// A configuration without errors; otherwise they are shown.
///
/// # Errors
/// [`Failure::Shown`].
pub(super) fn load(paths: &[PathBuf], leniency: Leniency) -> Result<Config, Failure> {
    match FileSource::new(paths.to_vec()).with_leniency(leniency).load() {
        Ok(loaded) => Ok(loaded.checked.config),
        Err(rejected) => {
            print_error(&render(&rejected.problems, &rejected.sources, colour_of(&stderr())));
            Err(Failure::Shown)
        }
    }
}

/// The router of a listener, if it serves routes.
///
/// # Errors
/// When its rules do not compile, although the check found nothing wrong with them.
pub(super) fn router_of(config: &Config, listener: &ListenerConfig) -> anyhow::Result<Option<Router>> {
    let Serve::Routes(indexes) = &listener.serve else { return Ok(None) };
    let tables: Vec<RouteTable> =
        indexes.iter().filter_map(|index| config.tables.get(*index)).cloned().collect();
    let built = Router::build(&tables).map_err(|errors| {
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        anyhow!("{}", texts.join("\n"))
    });
    built.map(Some)
}
