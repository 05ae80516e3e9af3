//! Kubernetes Ingresses, as the API specifies (`plain`) or as ingress-nginx serves them (`nginx`).

mod class;
mod model;
mod nginx;
mod plain;
mod read;
mod spec;
mod tls;
mod whole;

pub use nginx::annotations_page;
pub(crate) use whole::Ingresses;
