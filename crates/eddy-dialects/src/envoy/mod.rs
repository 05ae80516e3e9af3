//! Envoy's configuration: a bootstrap file with static resources, or a `RouteConfiguration` alone.
//!
//! The YAML tree is checked against Envoy's API (`shape`, from the protobuf descriptors in `api`). Supported fields are
//! then read one by one (`reader`), and each field that was not read is reported.

mod action;
mod api;
mod bootstrap;
mod edits;
mod filters;
mod hash;
mod matching;
mod module_filter;
mod re2;
mod reader;
mod retry;
mod routes;
mod scope;
mod shape;
mod template;
mod tls;
mod tree;
mod upgrade;
mod upstream_tls;
mod whole;

pub(crate) use action::https_redirect;
pub(crate) use re2::translated;
pub(crate) use whole::Envoy;
