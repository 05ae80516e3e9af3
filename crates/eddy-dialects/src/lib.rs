//! Configuration languages, eddy's own and those of other programs: each adds to one draft.
//!
//! Input is text, output is a [`GatewayConfig`](eddy_config::GatewayConfig) or all problems. This crate reads no file,
//! no clock and no environment.

#![forbid(unsafe_code)]

use eddy_spec::problem::SourceText;

#[macro_use]
mod kubernetes;

mod eddy;
mod entry;
mod envoy;
mod format;
mod gateway_api;
mod ingress;
mod istio;
mod nginx;
mod objects;
mod retry;

pub use entry::{Checked, check, check_after, check_with};
pub use format::is_manifest;
pub use ingress::annotations_page;
pub use nginx::{directives_page, is_pattern, matches_pattern};

/// Returns the files that a configuration refers to, by `include` or as tables of eddy.yaml: patterns, as paths
/// relative to the working directory of eddy.
pub fn included_patterns(sources: &[SourceText]) -> Vec<String> {
    let is_nginx = sources.first().is_some_and(|source| nginx::is_nginx(&source.path));
    if is_nginx { nginx::includes(sources, 0) } else { eddy::embedded_files(sources) }
}
