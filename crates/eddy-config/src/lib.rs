//! What configuration means: from the spec as written to the checked config.
//!
//! Texts go in, a [`Config`] or all [`Problem`]s come out; this crate reads no file, no clock and no environment.

#![forbid(unsafe_code)]

mod check;
mod config;
mod problem;
mod read;
mod reference;
mod spec;
mod value;
mod yaml;

pub use check::{Checked, check, version_of};
pub use config::*;
pub use problem::{Colour, Problem, Severity, SourceText, render, to_json};
pub use reference::{reference_page, schema};
