//! Kubernetes manifests from files: the objects, and the parts that all route dialects need.
//!
//! `document` reads texts into [`Objects`], `service` and `slice` read Services and their endpoints, [`Backends`] makes
//! clusters of them. Each dialect interprets its own objects in its own folder.

#[macro_use]
mod declare;

mod backend;
mod document;
mod manifests;
mod metadata;
mod object;
mod secret;
mod service;
mod settings;
mod slice;
mod value;

pub(crate) use backend::{Backend, Backends, Unresolved};
pub(crate) use document::read_objects;
pub(crate) use manifests::{Manifests, rule_filter, unavailable};
pub(crate) use metadata::{ObjectMetadata, subdomain_fault};
pub(crate) use object::{GATEWAY_API, ISTIO_NETWORKING, ISTIO_SECURITY, Object, Objects};
pub(crate) use secret::{SecretFault, Secrets};
pub(crate) use settings::CONTROLLER;
pub(crate) use value::{ApiText, Label, PortOrName};

#[cfg(test)]
mod tests;
