//! The Gateway API from manifests: its conformance cases, its documented examples, its order, and hostile input.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]

mod backend_tls;
#[path = "../kubernetes/certificate.rs"]
mod certificate;
mod certificates;
mod conditions;
mod conformance;
mod examples;
mod hostile;
mod order;
mod pinned;
mod world;
