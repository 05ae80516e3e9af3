//! Manifests of Kubernetes from files: objects, and what every dialect of routes needs of them.
//!
//! `document` makes [`Objects`] of texts, `service` and `slice` tell what Services stand for, [`Backends`] makes clusters
//! of them. What the objects of a dialect mean is decided in its own folder.

#[macro_use]
mod declare;

mod backend;
mod document;
mod metadata;
mod object;
mod secret;
mod service;
mod settings;
mod slice;
mod value;
mod whole;

pub(crate) use backend::{Backend, Backends, Unresolved};
pub(crate) use document::read_objects;
pub(crate) use metadata::{ObjectMetadata, name_fault};
pub(crate) use object::{Object, Objects};
pub(crate) use secret::{SecretFault, Secrets};
pub(crate) use value::{ApiText, Label, PortOrName};
pub(crate) use whole::{Manifests, add};

#[cfg(test)]
mod tests;
