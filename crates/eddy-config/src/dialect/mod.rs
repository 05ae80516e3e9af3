//! Configuration languages of other programs, each translated into eddy's config.

#[macro_use]
pub(crate) mod kubernetes;

pub(crate) mod envoy;
pub(crate) mod gateway_api;
pub(crate) mod ingress;
pub(crate) mod istio;
mod kind;
pub(crate) mod nginx;
mod objects;
mod retry;

pub(crate) use kind::ConfigLanguage;
pub(crate) use objects::add_objects;
