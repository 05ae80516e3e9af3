//! Ingresses as ingress-nginx serves them: a configuration of NGINX's.
//!
//! The annotations are read (`settings`), Services become upstreams and hosts become servers as the controller arranges
//! them (`upstreams`, `servers`), and all of it directives of NGINX's (`write`) which its own reader takes further.

mod canary;
mod catalogue;
mod cors;
mod errors;
mod page;
mod secure;
mod servers;
mod settings;
mod upstreams;
mod whole;
mod write;

pub use page::annotations_page;
pub(super) use upstreams::ServicePortQuery;
pub(super) use whole::{lower, speaks_nginx};
