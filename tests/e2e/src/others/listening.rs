//! The address at which a server in another process listens, as its first line of output says.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout};

use crate::wire::within;

/// Reads the line `listening ADDRESS` from a server that was started with port 0, and returns the address and the
/// lines that follow.
///
/// # Errors
/// When the server ends, or its first line is another.
pub async fn listening(server: &mut Child) -> Result<(SocketAddr, Lines<BufReader<ChildStdout>>)> {
    let output = server.stdout.take().context("the server has no standard output")?;
    let mut lines = BufReader::new(output).lines();
    let line =
        within("listening", lines.next_line()).await??.context("the server ended before it listened")?;
    let address = line.strip_prefix("listening ").and_then(|address| address.parse().ok());
    Ok((address.with_context(|| format!("the first line is {line:?}"))?, lines))
}
