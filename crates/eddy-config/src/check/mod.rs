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
mod whole;

pub use whole::{Checked, check, version_of};
