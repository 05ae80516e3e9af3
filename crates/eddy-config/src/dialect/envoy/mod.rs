//! Envoy's configuration: a bootstrap file with static resources, or a `RouteConfiguration` alone.
//!
//! The tree of a text is compared with Envoy's API (`shape`, by the descriptors in `api`); what of it eddy has is read
//! field by field (`reader`), and each field that nobody read is an objection.

mod action;
mod api;
mod bootstrap;
mod edits;
mod hash;
mod matching;
mod re2;
mod reader;
mod retry;
mod routes;
mod shape;
mod template;
#[cfg(test)]
mod tests;
mod tls;
mod tree;
mod upgrade;
mod upstream_tls;
mod whole;

pub(crate) use re2::translated;
pub(crate) use whole::{check_envoy, is_envoy};
