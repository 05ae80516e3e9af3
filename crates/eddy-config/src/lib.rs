//! What configuration means: from the spec as written to the checked config.

#![forbid(unsafe_code)]

mod config;

pub use config::*;
