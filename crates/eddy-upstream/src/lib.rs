//! Where requests go: clusters, balancing, health, pools, links.

#![forbid(unsafe_code)]

mod config;

pub use config::*;
