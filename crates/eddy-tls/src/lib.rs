//! Keys, certificates and server names; no I/O.
//!
//! An [`Identity`] is a chain of certificates and its key, read from PEM and found to belong together. A [`ServerTls`] is
//! what a listener shows to clients: the identity that goes with the name they ask for ([`Names`]), from which version on,
//! and whether they have to show a certificate themselves; it also proves its names to authorities, as [`Challenges`] says. A [`ClientTls`] is what a cluster shows to its endpoints, and what
//! these have to show. Files, sockets and the clock are the callers'.
//!
//! The cryptography is rustls' with aws-lc: only suites and groups without known weaknesses, key exchange that quantum
//! computers can't undo offered first.

#![forbid(unsafe_code)]
#![warn(clippy::indexing_slicing)]
#![cfg_attr(
    test,
    allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "a test may fail by panicking")
)]

mod authorities;
mod challenges;
mod client;
mod hello;
mod identity;
mod key_size;
mod names;
mod possession;
mod revocations;
mod server;
mod subject;
mod tickets;
mod written;

pub use authorities::{Authorities, Fingerprint};
pub use challenges::{CHALLENGE_PROTOCOL, Challenges};
pub use client::{ClientSettings, ClientTls, ServerCheck, is_server_name};
pub use hello::{HELLO_BYTES_MAX, Hello, read_hello};
pub use identity::{Identity, IdentityError, Validity};
pub use names::SniCertResolver;
pub use revocations::{Revocations, RevocationsError};
pub use server::{ClientCertificates, ServerSettings, ServerTls, TlsError, TlsVersion};
pub use subject::ClientCertificate;
pub use tickets::TicketKeys;
pub use written::{InlineText, WrittenPath, WrittenPlace};
