//! Istio's Gateways and VirtualServices, as its ingress gateway serves them.
//!
//! Objects are read (`spec`, `gateway`, `service`), delegates put into the place of those who name them (`delegate`), and all
//! that is bound to a port becomes one table in the order that Istio gives it (`whole`, `rule`), which Envoy's rules then
//! follow. What a route does is in `action` and the files that it names; `destination` finds clusters.

mod action;
mod answer;
mod credentials;
mod delegate;
mod destination;
mod edits;
mod entry;
mod gateway;
mod policy;
mod rule;
mod server_tls;
mod service;
mod spec;
mod subset;
mod upstream_tls;
mod value;
mod whole;

pub(crate) use gateway::GROUP;
pub(crate) use whole::add;
