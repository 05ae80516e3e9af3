//! gRPC's own library, and the conformance tests of those who have another.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::registry::{FilterSource, absent, has_go};
use crate::place::tree;

/// The programs of the conformance tests.
#[derive(Clone, Debug)]
pub struct Conformance {
    /// The one that runs the cases, with clients of its own.
    pub runner: PathBuf,
    /// Services that do as the cases say, by the library that they are made with.
    pub services: [(&'static str, PathBuf); 2],
}

/// Builds the service and client of `tests/grpc/peer` into `folder`; nothing where gRPC's library cannot be had.
///
/// # Errors
/// When they do not build, or the library must be there and is not.
pub fn grpc_peer(folder: &Path) -> Result<Option<PathBuf>> {
    program("tests/grpc", "peer", folder)
}

/// Builds the access log service of `tests/grpc/logs` into `folder`; nothing where its messages cannot be had.
///
/// # Errors
/// When it does not build, or the messages must be there and are not.
pub fn access_log_service(folder: &Path) -> Result<Option<PathBuf>> {
    program("tests/grpc/logs", ".", folder)
}

/// Builds a program of a module of this tree.
fn program(module: &str, package: &str, folder: &Path) -> Result<Option<PathBuf>> {
    if !has_go(FilterSource::Registry)? {
        return Ok(None);
    }
    let module = tree().join(module);
    let output = Command::new("go").current_dir(&module).args(["mod", "download"]).output()?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        absent(&format!("gRPC's library cannot be had: {why}"), FilterSource::Registry)?;
        return Ok(None);
    }
    let program = folder.join("program");
    let mut go = Command::new("go");
    let output =
        go.current_dir(&module).args(["build", "-o"]).arg(&program).arg(format!("./{package}")).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(Some(program))
}

/// Builds the conformance tests into `folder`; nothing where they cannot be had.
///
/// # Errors
/// When they must be there and cannot be had.
pub fn grpc_conformance(folder: &Path) -> Result<Option<Conformance>> {
    if !has_go(FilterSource::Registry)? {
        return Ok(None);
    }
    let programs = PROGRAMS.map(|program| format!("{CONFORMANCE}/{program}@{VERSION}"));
    let mut go = Command::new("go");
    go.env("GOBIN", folder).env("GOFLAGS", "-mod=mod").arg("install").args(&programs).current_dir(folder);
    let output = go.output().context("cannot run go")?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        absent(&format!("{CONFORMANCE}@{VERSION} cannot be had: {why}"), FilterSource::Registry)?;
        return Ok(None);
    }
    let [runner, connect, grpc] = PROGRAMS.map(|program| folder.join(program));
    Ok(Some(Conformance { runner, services: [("connect", connect), ("grpc-go", grpc)] }))
}

const PROGRAMS: [&str; 3] = ["connectconformance", "referenceserver", "grpcserver"];
const CONFORMANCE: &str = "connectrpc.com/conformance/cmd";
const VERSION: &str = "v1.0.7";
