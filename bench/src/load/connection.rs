//! One connection of the load generator.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::io::Errno;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use rustix::net::{bind, connect, recv, send, socket_with};

use super::exchange::LoadExchange;
use super::response::{Mismatch, ResponseProgress, ResponseReader};

/// A connection and its exchange in flight.
#[derive(Debug)]
pub(super) struct LoadConnection {
    socket: OwnedFd,
    reader: ResponseReader,
    sent: usize,
    /// Requests begun; selects among several requests.
    turn: usize,
    /// Due time of the request, from the beginning of the window.
    pub due: Duration,
    /// State of its exchange.
    pub stage: ExchangeStage,
}

/// State of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExchangeStage {
    /// No exchange is in flight.
    Idle,
    /// The response is not complete.
    Waiting,
}

/// Result of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendProgress {
    /// The whole request is sent.
    All,
    /// The socket buffer is full.
    Part,
}

/// Result of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadProgress {
    /// The exchange goes on.
    More,
    /// The whole response.
    Response {
        /// The connection cannot be used again.
        is_last: bool,
    },
    /// The connection was closed between responses.
    End,
}

impl LoadConnection {
    /// Connects to `target` from `source`, or from an address that the kernel chooses.
    pub(super) fn open(target: SocketAddr, source: Option<Ipv4Addr>) -> Result<Self> {
        let family = if target.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)
            .context("cannot create a socket")?;
        sockopt::set_tcp_nodelay(&socket, true)?;
        sockopt::set_socket_timeout(&socket, Timeout::Recv, Some(ANSWER_TIMEOUT))?;
        if let Some(source) = source {
            bind(&socket, &SocketAddr::from((source, 0)))
                .with_context(|| format!("cannot bind `{source}`"))?;
        }
        // The socket blocks only while it connects, a matter of microseconds on one machine. Later calls ask not to
        // block, each by its flags.
        connect(&socket, &target).with_context(|| format!("cannot connect to `{target}`"))?;
        Ok(Self {
            socket,
            reader: ResponseReader::default(),
            sent: 0,
            turn: 0,
            due: Duration::ZERO,
            stage: ExchangeStage::Idle,
        })
    }

    pub(super) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Begins the next exchange.
    pub(super) fn begin(&mut self, due: Duration, exchange: &LoadExchange) -> Result<SendProgress, Errno> {
        self.due = due;
        self.turn = self.turn.wrapping_add(1);
        self.sent = 0;
        self.stage = ExchangeStage::Waiting;
        self.send(exchange)
    }

    /// Sends the rest of the request.
    pub(super) fn send(&mut self, exchange: &LoadExchange) -> Result<SendProgress, Errno> {
        while let Some(rest) = exchange.request(self.turn).get(self.sent..).filter(|rest| !rest.is_empty()) {
            match send(&self.socket, rest, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(count) => self.sent += count,
                Err(Errno::AGAIN | Errno::INTR) => return Ok(SendProgress::Part),
                Err(errno) => return Err(errno),
            }
        }
        Ok(SendProgress::All)
    }

    /// Reads available bytes without waiting.
    pub(super) fn read(
        &mut self,
        buffer: &mut [u8],
        exchange: &LoadExchange,
    ) -> Result<ReadProgress, Mismatch> {
        self.read_with(RecvFlags::DONTWAIT, buffer, exchange)
    }

    /// Waits for the whole response, at most a few seconds.
    pub(super) fn read_whole(
        &mut self,
        buffer: &mut [u8],
        exchange: &LoadExchange,
    ) -> Result<ReadProgress, Mismatch> {
        loop {
            match self.read_with(RecvFlags::empty(), buffer, exchange)? {
                ReadProgress::More => {}
                read @ (ReadProgress::Response { .. } | ReadProgress::End) => return Ok(read),
            }
        }
    }

    /// Whether the target has closed the connection.
    pub(super) fn is_closed(&self) -> bool {
        let mut byte = [0];
        let read = recv(&self.socket, &mut byte, RecvFlags::DONTWAIT | RecvFlags::PEEK);
        !matches!(read, Err(Errno::AGAIN))
    }

    fn read_with(
        &mut self,
        flags: RecvFlags,
        buffer: &mut [u8],
        exchange: &LoadExchange,
    ) -> Result<ReadProgress, Mismatch> {
        let bytes = match recv(&self.socket, &mut *buffer, flags) {
            Ok((0, _)) if self.reader.is_amid() => return Err(Mismatch::End),
            Ok((0, _)) => return Ok(ReadProgress::End),
            Ok((count, _)) => buffer.get(..count).unwrap_or_default(),
            Err(Errno::AGAIN) if flags.is_empty() => return Err(Mismatch::End),
            Err(Errno::AGAIN | Errno::INTR) => return Ok(ReadProgress::More),
            Err(_) => return Err(Mismatch::End),
        };
        match self.reader.feed(bytes, &exchange.expected)? {
            ResponseProgress::More => Ok(ReadProgress::More),
            ResponseProgress::Done { is_last } => Ok(ReadProgress::Response { is_last }),
        }
    }
}

const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
