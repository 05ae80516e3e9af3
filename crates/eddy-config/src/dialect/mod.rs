//! Configuration languages: eddy's own and those of other programs. Each adds to one draft.

#[macro_use]
pub(crate) mod kubernetes;

mod eddy;
mod entry;
pub(crate) mod envoy;
pub(crate) mod gateway_api;
pub(crate) mod ingress;
pub(crate) mod istio;
mod kind;
pub(crate) mod nginx;
mod objects;
mod retry;

pub(crate) use eddy::embedded_files;
pub use entry::{Checked, check, check_after, check_with};
pub(crate) use kind::ConfigLanguage;
