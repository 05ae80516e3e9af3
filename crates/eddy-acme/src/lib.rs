//! Certificates ordered from an authority (ACME, RFC 8555), kept on disk and renewed in time.
//!
//! An [`Agent`] orders the certificates of its [`AcmeSettings`] on a background thread. It answers the authority's
//! challenges through [`eddy_tls::Challenges`], which listeners share, and stores each certificate with its key in a
//! file. TLS listeners watch these files. They never wait for the agent: an existing certificate stays in use even when
//! an order fails.
//!
//! Modules: `renewal` is the task of one certificate, `schedule` computes when renewals and retries are due, `order`
//! performs one order, `store` is the folder on disk, `https` the HTTP client for the authority.

#![forbid(unsafe_code)]

mod agent;
mod budget;
mod error;
mod https;
mod issuer;
mod order;
mod renewal;
mod schedule;
mod settings;
mod status;
mod store;
mod stored;

pub use agent::Agent;
pub use settings::{AcmeSettings, CertificateSpec, ChallengeKind};
pub use status::{CertificateView, Status};
