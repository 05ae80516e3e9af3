//! Runs a gRPC conformance service behind a gateway, as the gRPC conformance tests require.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use anyhow::{Context, Result};
use eddy_e2e::conformance::serve;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let service: PathBuf = std::env::args_os().nth(1).context("usage: eddy-conformance SERVICE")?.into();
    serve(&service).await
}
