//! Checks that turn the spec into the config: values are interpreted, names are resolved, and values that depend on
//! each other are compared.

mod access_log;
mod acme;
mod action;
mod advice;
mod builtin;
mod cluster;
mod condition;
mod draft;
mod edits;
mod embed;
mod fields;
mod filter;
mod forward;
mod gateway;
mod json;
mod listener;
mod lua;
mod merge;
mod messages;
mod names;
mod routes;
mod shown;
mod table;
mod tls;
mod wasm;
mod whole;

pub(crate) use condition::ConditionPlaces;
pub(crate) use draft::Draft;
pub(crate) use gateway::DRAIN_TIMEOUT;
pub(crate) use shown::shown_text;
pub(crate) use table::RulePlaces;
pub(crate) use tls::written_place;
pub(crate) use whole::embedded_files;
pub use whole::{Checked, Leniency, check, check_with, version_of};
