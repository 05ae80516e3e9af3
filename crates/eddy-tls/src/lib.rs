//! Keys, certificates and server names; no I/O.
//!
//! An [`Identity`] is a certificate chain with its key, parsed from PEM and checked to belong together. A [`ServerTls`]
//! holds the TLS settings of a listener: the identity for each server name ([`SniCertResolver`]), the minimum version,
//! and whether clients need a certificate; it also answers the ACME [`Challenges`]. A [`ClientTls`] holds the TLS
//! settings of a cluster: its client certificate and the verification of endpoints. Callers do all I/O and read the
//! clock.
//!
//! The cryptography is rustls with aws-lc: only cipher suites and groups without known weaknesses, with post-quantum
//! key exchange offered first.

#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]
#![cfg_attr(
    test,
    allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may fail by panicking")
)]

mod authorities;
mod challenges;
mod client;
mod error;
mod hello;
mod identity;
mod key_size;
mod names;
mod possession;
mod revocations;
mod server;
mod server_name;
mod subject;
mod tickets;

pub use authorities::Authorities;
pub use challenges::{CHALLENGE_PROTOCOL, Challenges};
pub use client::{ClientSettings, ClientTls};
pub use error::TlsError;
pub use hello::{HELLO_BYTES_MAX, Hello, read_hello};
pub use identity::{Fingerprint, Identity, IdentityError, Validity};
pub use names::SniCertResolver;
pub use revocations::{Revocations, RevocationsError};
pub use server::{ClientCertificates, ServerSettings, ServerTls};
pub use server_name::is_server_name;
pub use subject::ClientCertificate;
pub use tickets::TicketKeys;
