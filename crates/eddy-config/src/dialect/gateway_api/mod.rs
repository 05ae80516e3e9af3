//! The Gateway API: GatewayClass, Gateway, HTTPRoute, GRPCRoute, ReferenceGrant and BackendTLSPolicy, from manifests to tables.
//!
//! `class`, `gateway` and `route` make objects ready, `attach` finds which listeners a route is attached to and for which hosts,
//! `reference` finds the Services of rules, `action` makes what rules do, `lower` makes a table for each address, `condition` tells what a cluster would show.

mod action;
mod attach;
mod backend_tls;
mod class;
mod condition;
mod creation_order;
mod filter;
mod gateway;
mod grant;
mod host;
mod lower;
mod matching;
mod namespace;
mod reference;
mod route;
mod spec;
mod status;
mod tls;

pub(crate) use class::CONTROLLER;
pub(crate) use creation_order::GROUP;
pub(crate) use lower::add;
pub use status::{ObjectStatus, PartStatus, StatusCondition};
