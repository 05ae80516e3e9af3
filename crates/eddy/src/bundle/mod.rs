//! Go filters: links their packages into one library, because a process has room for one Go runtime.

mod cache;
mod failure;
mod go;
mod hash;
mod kits;
mod link;
mod messages;
mod module;
mod record;
mod sources;
mod workspace;

pub(crate) use cache::Cache;
pub(crate) use failure::BundleFailure;
pub(crate) use go::{Go, GoBuildTarget};
pub(crate) use hash::hashed;
pub(crate) use kits::Kits;
pub(crate) use link::{Bundle, bundle};
pub(crate) use module::{GoModule, module_root, quoted};
pub(crate) use record::{BundleManifest, LinkedPackage};

pub(crate) use workspace::{ENVOY, KIT, sums};
