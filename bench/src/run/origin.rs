//! The origin as a separate process, so that its CPU time is distinguished from ours.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::measure::cpu;
use crate::peers::ProcessTree;

/// The running origin process.
#[derive(Debug)]
pub(super) struct OriginProcess {
    /// Address that it listens on.
    pub address: SocketAddr,
    process: ProcessTree,
}

impl OriginProcess {
    /// Starts the origin on a free port.
    pub(super) fn start() -> Result<Self> {
        let us = std::env::current_exe().context("cannot find the path of this program")?;
        let mut command = Command::new(&us);
        command.arg("guard").arg(std::process::id().to_string()).arg(&us);
        command.args(["origin", "--address", "127.0.0.1:0"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut process = ProcessTree::start(&mut command)?;
        let output = process.take_output().context("the origin has no output")?;
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).context("the origin did not start")?;
        let address = line.trim().parse().with_context(|| format!("the origin printed `{}`", line.trim()))?;
        Ok(Self { address, process })
    }

    /// Returns the CPU time used so far.
    pub(super) fn cpu(&self) -> cpu::CpuUsageSnapshot {
        cpu::CpuUsageSnapshot::take(&self.process.members())
    }
}
