//! What configuration means: from the spec as written to the checked config.
//!
//! Texts go in, a [`Config`] or all [`Problem`]s come out; this crate reads no file, no clock and no environment.
//!
//! `yaml/` makes a tree of a text, `read/` and the declarations in `spec/` make a spec of the tree, `check/` makes the
//! config. The same declarations give the published schema and reference (`reference/`). A dialect of another program
//! will be a way from its text to the same spec, in `dialect/NAME/`.

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
