//! The plan as one worker carries it out: rules, actions and clusters refer to each other instead of naming an index.
//!
//! [`Resolution`] is the only place that looks up anything of the configuration by its index. Two lookups remain per
//! request, where compiled automata end: the router's result is a rule, and the walk through NGINX servers ends at a
//! place.

mod action;
mod build;
mod listener;
mod plan;
mod retire;
mod route;

pub(crate) use action::{ActionPlan, Destination, draw};
pub(crate) use build::{Resolution, WorkerShare};
pub(crate) use listener::{SitesEntry, WorkerChain, WorkerListener, WorkerSites};
pub(crate) use plan::WorkerPlan;
pub(crate) use retire::RetiredParts;
pub(crate) use route::Route;
