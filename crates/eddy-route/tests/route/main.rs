//! Tests of the router through its public interface.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may fail by panicking, also in what it is built from"
)]

mod agreement;
mod allocation;
mod generate;
mod golden;
mod notation;
mod oracle;
mod order;
mod refusal;
mod request;
mod rewrite;
mod survey;
