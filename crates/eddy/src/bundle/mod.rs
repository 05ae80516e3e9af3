//! Go filters: links their packages into one library, because a process has room for one Go runtime.

mod cache;
mod conflict;
mod envoy;
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
pub(crate) use envoy::{BEFORE_1_26_FOLDER, ENVOY, ENVOY_BEFORE_1_26};
pub(crate) use failure::BundleFailure;
pub(crate) use go::{Go, GoBuildTarget};
pub(crate) use hash::hashed;
pub(crate) use kits::Kits;
pub(crate) use link::{Bundle, bundle};
pub(crate) use module::{GoModule, module_root, quoted};
pub(crate) use record::{BundleManifest, LinkedPackage};

pub(crate) use workspace::{KIT, sums};
