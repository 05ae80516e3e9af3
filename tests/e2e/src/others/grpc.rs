//! Programs with gRPC's own library, and the conformance tests of Connect, which has its own gRPC library.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::registry::{FilterSource, absent, has_go};
use crate::place::tree;

/// Programs of the conformance tests.
#[derive(Clone, Debug)]
pub struct Conformance {
    /// Test runner, which has its own clients.
    pub runner: PathBuf,
    /// Services that behave as the cases demand, by the name of their library.
    pub services: [(&'static str, PathBuf); 2],
}

/// Builds the service and client of `tests/grpc/peer` into `folder`. Returns `None` when gRPC's library is not
/// available.
///
/// # Errors
/// When the build fails, or the library is required and not available.
pub fn grpc_peer(folder: &Path) -> Result<Option<PathBuf>> {
    program("tests/grpc", "peer", folder)
}

/// Builds the access log service of `tests/grpc/logs` into `folder`. Returns `None` when its messages are not
/// available.
///
/// # Errors
/// When the build fails, or the messages are required and not available.
pub fn access_log_service(folder: &Path) -> Result<Option<PathBuf>> {
    program("tests/grpc/logs", ".", folder)
}

/// Builds a program of a Go module in this tree.
fn program(module: &str, package: &str, folder: &Path) -> Result<Option<PathBuf>> {
    if !has_go()? {
        return Ok(None);
    }
    let module = tree().join(module);
    let output = Command::new("go").current_dir(&module).args(["mod", "download"]).output()?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        absent(&format!("the gRPC library is not available: {why}"), FilterSource::Registry)?;
        return Ok(None);
    }
    let program = folder.join("program");
    let mut go = Command::new("go");
    let output =
        go.current_dir(&module).args(["build", "-o"]).arg(&program).arg(format!("./{package}")).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(Some(program))
}

/// Builds the conformance tests into `folder`. Returns `None` when they are not available.
///
/// # Errors
/// When they are required and not available.
pub fn grpc_conformance(folder: &Path) -> Result<Option<Conformance>> {
    if !has_go()? {
        return Ok(None);
    }
    let programs = PROGRAMS.map(|program| format!("{CONFORMANCE}/{program}@{VERSION}"));
    let mut go = Command::new("go");
    go.env("GOBIN", folder).env("GOFLAGS", "-mod=mod").arg("install").args(&programs).current_dir(folder);
    let output = go.output().context("cannot run go")?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        absent(&format!("{CONFORMANCE}@{VERSION} is not available: {why}"), FilterSource::Registry)?;
        return Ok(None);
    }
    let [runner, connect, grpc] = PROGRAMS.map(|program| folder.join(program));
    Ok(Some(Conformance { runner, services: [("connect", connect), ("grpc-go", grpc)] }))
}

const PROGRAMS: [&str; 3] = ["connectconformance", "referenceserver", "grpcserver"];
const CONFORMANCE: &str = "connectrpc.com/conformance/cmd";
const VERSION: &str = "v1.0.7";
