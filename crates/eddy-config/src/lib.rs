//! The checked configuration of eddy: plain data, every name resolved and every value in range.
//!
//! `eddy-dialects` makes it from texts; the gateway compiles it into a plan. This crate reads nothing.

#![forbid(unsafe_code)]

mod access_log;
mod acme;
mod action;
mod address_block;
mod config;
mod filter;
mod forward;
mod table;
mod tls;
mod upgrade;

pub use acme::{AcmeChallenge, AcmeConfig, OrderedCertificate};
pub use config::*;
pub use forward::{Forward, Forwarding, ProxyProtocolConfig, ProxyVersion, SessionEnds};
pub use table::{SitesConfig, TableConfig};
pub use tls::{CertificateFiles, ClientCertificatesConfig, ListenerTlsConfig};
pub use upgrade::{Connect, Protocols, Upgrades, WEBSOCKET, is_http};
