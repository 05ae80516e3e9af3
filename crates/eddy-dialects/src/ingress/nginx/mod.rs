//! Ingresses as ingress-nginx serves them: translated into an NGINX configuration.
//!
//! The annotations are read (`settings`), Services become upstreams and hosts become servers, arranged as by the
//! controller (`upstreams`, `servers`). All of it becomes NGINX directives (`write`), which the reader of the NGINX
//! dialect processes.

mod canary;
mod catalogue;
mod cors;
mod directive;
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
pub(super) use whole::{has_nginx_annotations, lower};
