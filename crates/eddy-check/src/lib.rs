//! The meaning of a configuration: values are interpreted, names are resolved, and values that depend on each other are
//! compared.
//!
//! Every [`ConfigDialect`] adds to one [`Draft`], whose [`Draft::finish`] makes the checked configuration. The other
//! functions turn the parts of eddy's own spec into parts of the draft.

#![forbid(unsafe_code)]

mod access_log;
mod acme;
mod action;
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

pub use access_log::check_access_log;
pub use acme::Orders;
pub use cluster::check_clusters;
pub use cluster_draft::ClusterDraft;
pub use condition::ConditionPositions;
pub use dialect::ConfigDialect;
pub use draft::{Draft, Predecessor};
pub use filter::{CheckedFilters, check_filters};
pub use gateway::{check_admin, check_limits, check_log, check_quarantine};
pub use json::json_of;
pub use listener::check_listeners;
pub use listener_registry::ListenerRegistry;
pub use merge::unite;
pub use names::NameRegistry;
pub use table::check_rules;
pub use table_draft::{RulePositions, TableDraft, TablesDraft};
pub use written_path::source_position;
