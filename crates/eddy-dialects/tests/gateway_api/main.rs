//! Tests of Gateway API manifests: conformance cases, documented examples, rule order, and hostile input.

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
