//! Configuration of eddy, from text to checked values.
//!
//! Input is text, output is a [`GatewayConfig`] or all [`Problem`]s. This crate reads no file, no clock and no
//! environment.
//!
//! `yaml/` parses a text into a tree, `read/` and the declarations in `spec/` turn the tree into a spec, `check/` turns
//! the parts of the spec into a draft of the config. The published schema and reference are generated from the same
//! declarations (`reference/`). Each configuration language, eddy's own and those of other programs, adds to the draft
//! in `dialect/NAME/`.

#![forbid(unsafe_code)]

mod access_log;
mod acme;
mod action;
mod address_block;
mod check;
mod config;
mod convert;
mod dialect;
mod filter;
mod forward;
mod leniency;
mod problem;
mod read;
mod reference;
mod spec;
mod status;
mod table;
mod tls;
mod upgrade;
mod value;
mod version;
mod yaml;

pub use acme::{AcmeChallenge, AcmeConfig, OrderedCertificate};
pub use config::*;
pub use convert::{ConversionTarget, Converted, Loss, convert};
pub use dialect::ingress::annotations_page;
pub use dialect::nginx::{directives_page, is_pattern, matches_pattern};
pub use dialect::{Checked, check, check_after, check_with};
pub use forward::{Forward, Forwarding, ProxyProtocolConfig, ProxyVersion, SessionEnds};
pub use leniency::Leniency;
pub use problem::{Colour, Problem, Severity, SourceText, render, to_json};
pub use reference::{reference_page, schema};
pub use status::{ObjectStatus, PartStatus, StatusCondition};
pub use table::{SitesConfig, TableConfig};
pub use tls::{CertificateFiles, ClientCertificatesConfig, ListenerTlsConfig};
pub use upgrade::{Connect, Protocols, Upgrades, WEBSOCKET};
pub use version::version_of;

/// Whether a text is a Kubernetes manifest: one or more objects with `apiVersion` and `kind`.
pub fn is_manifest(source: &SourceText) -> bool {
    dialect::ConfigLanguage::of_text(source) == dialect::ConfigLanguage::Kubernetes
}

/// Returns the files that a configuration refers to, by `include` or as tables of eddy.yaml: patterns, as paths
/// relative to the working directory of eddy.
pub fn included_patterns(sources: &[SourceText]) -> Vec<String> {
    let is_nginx = sources.first().is_some_and(|source| dialect::nginx::is_nginx(&source.path));
    if is_nginx { dialect::nginx::includes(sources, 0) } else { dialect::embedded_files(sources) }
}
