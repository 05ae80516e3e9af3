//! Checks that turn the spec into the config: values are interpreted, names are resolved, and values that depend on
//! each other are compared.

mod access_log;
mod acme;
mod action;
mod advice;
mod builtin;
mod cluster;
mod cluster_draft;
mod condition;
mod context;
mod dialect;
mod draft;
mod edits;
mod fields;
mod filter;
mod forward;
mod gateway;
mod json;
mod listener;
mod listener_registry;
mod lua;
mod merge;
mod messages;
mod names;
mod routes;
mod setting;
mod shown;
mod table;
mod table_draft;
mod tls;
mod wasm;
mod written_path;

pub(crate) use access_log::check_access_log;
pub(crate) use acme::Orders;
pub(crate) use cluster::check_clusters;
pub(crate) use cluster_draft::ClusterDraft;
pub(crate) use condition::ConditionPlaces;
pub(crate) use dialect::ConfigDialect;
pub(crate) use draft::Draft;
pub(crate) use filter::check_filters;
pub(crate) use gateway::{check_admin, check_limits, check_log, check_quarantine};
pub(crate) use listener::check_listeners;
pub(crate) use merge::unite;
pub(crate) use table::check_rules;
pub(crate) use table_draft::{RulePlaces, TableDraft};
pub(crate) use written_path::written_place;
