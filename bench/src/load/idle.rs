//! Many connections that have each carried one exchange and are then idle.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::connection::{LoadConnection, ReadProgress};
use super::exchange::LoadExchange;

/// Open, idle keep-alive connections.
#[derive(Debug)]
pub struct IdleConnections {
    connections: Vec<LoadConnection>,
}

impl IdleConnections {
    /// Opens `count` connections to `target`, one after another, from several source addresses so that ports suffice.
    ///
    /// # Errors
    /// The first connection or exchange that fails.
    pub fn open(target: SocketAddr, exchange: &LoadExchange, count: usize) -> Result<Self> {
        let mut connections = Vec::with_capacity(count);
        let mut buffer = vec![0; READ_BYTES];
        for index in 0..count {
            let mut connection = open_one(target, exchange, index, &mut buffer)
                .with_context(|| format!("connection {index} of {count}"))?;
            connection.due = Duration::ZERO;
            connections.push(connection);
        }
        Ok(Self { connections })
    }

    /// Returns the number of connections that the target has closed since.
    pub fn closed_count(&self) -> usize {
        self.connections.iter().filter(|connection| connection.is_closed()).count()
    }
}

fn open_one(
    target: SocketAddr,
    exchange: &LoadExchange,
    index: usize,
    buffer: &mut [u8],
) -> Result<LoadConnection> {
    let source = u8::try_from(index / CONNECTIONS_PER_SOURCE).context("too many connections")?;
    let mut connection = LoadConnection::open(target, Some(Ipv4Addr::new(127, 0, 1, source)))?;
    connection.begin(Duration::ZERO, exchange).context("cannot send")?;
    match connection.read_whole(buffer, exchange) {
        Ok(ReadProgress::Response { is_last: false }) => Ok(connection),
        Ok(ReadProgress::Response { is_last: true } | ReadProgress::End | ReadProgress::More) => {
            bail!("the target closed the connection")
        }
        Err(mismatch) => bail!("unexpected response: {mismatch}"),
    }
}

const CONNECTIONS_PER_SOURCE: usize = 1000;
const READ_BYTES: usize = 16 * 1024;
