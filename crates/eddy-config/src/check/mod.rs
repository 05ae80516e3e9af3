//! From the spec to the config: what is written gets its meaning, names are resolved, ranges that depend on each
//! other are compared.

mod action;
mod advice;
mod builtin;
mod cluster;
mod condition;
mod edits;
mod filter;
mod gateway;
mod json;
mod listener;
mod lua;
mod merge;
mod names;
mod routes;
mod shown;
mod table;
mod wasm;
mod whole;

pub(crate) use gateway::DRAIN_TIMEOUT;
pub use whole::{Checked, Leniency, check, check_with, version_of};
