//! Gateway API: GatewayClass, Gateway, HTTPRoute, GRPCRoute, ReferenceGrant and BackendTLSPolicy, from manifests to
//! tables.
//!
//! `class`, `gateway` and `route` check objects, `attach` finds the listeners and hosts that each route is attached to,
//! `reference` finds the Services of rules, `action` builds the actions of rules, `lower` builds a table for each
//! address, and `condition` returns the status that a cluster would show.

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
mod ref_fault;
mod reference;
mod route;
mod route_part;
mod spec;
mod tls;

pub(crate) use lower::GatewayApi;
