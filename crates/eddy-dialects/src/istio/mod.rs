//! Istio Gateways and VirtualServices, as Istio's ingress gateway serves them.
//!
//! Objects are read (`spec`, `gateway`, `service`), and routes that name a delegate are replaced by its routes
//! (`delegate`). All routes bound to a port become one table in Istio's order (`whole`, `rule`), in which the first
//! match wins, as in Envoy. `action` and the files that it names build the actions of routes; `destination` finds
//! clusters. `access` refuses policies that restrict access to a gateway.

mod access;
mod action;
mod answer;
mod credentials;
mod delegate;
mod destination;
mod edits;
mod entry;
mod gateway;
mod host;
mod label;
mod policy;
mod rule;
mod server_tls;
mod service;
mod spec;
mod subset;
mod upstream_tls;
mod value;
mod whole;

pub(crate) use whole::Istio;
