//! Certificates ordered from an authority (ACME, RFC 8555), kept on disk and renewed in time.
//!
//! An [`Agent`] orders what its [`Settings`] name, on a thread of its own: it answers the authority's challenges through
//! [`eddy_tls::Challenges`], which listeners share, and leaves each certificate with its key in a file. Whoever shows
//! certificates watches these files; nobody waits for the agent, and a certificate that is there is used whatever becomes of
//! an order.
//!
//! `keeper` is the life of one certificate, `schedule` says when what is due, `order` is one order, `store` the folder, `https`
//! the way to the authority.

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
