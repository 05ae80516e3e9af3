//! The languages of other programs: each from its text to the same config.

#[macro_use]
#[expect(dead_code, unused_imports, reason = "what the dialects of Kubernetes need, which are still to come")]
pub(crate) mod kubernetes;
pub(crate) mod envoy;
pub(crate) mod ingress;
mod kind;
pub(crate) mod nginx;

pub(crate) use kind::Kind;
