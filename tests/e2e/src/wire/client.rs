//! A raw client: sends the given bytes, cut as requested, and never reconnects by itself.

use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::diag::SocketDiag;
use super::message::WireResponse;
use super::reader::{ParseOutcome, read_response};

/// Longest wait of a test for any event.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// A connection to the gateway, with the received bytes that no response has consumed yet.
#[derive(Debug)]
pub struct WireClient {
    stream: TcpStream,
    buffer: Vec<u8>,
    end: Option<ConnectionEnd>,
}

/// A final response and the interim ones before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalResponse {
    /// Interim responses (1xx), in order.
    pub interim: Vec<WireResponse>,
    /// The final response.
    pub response: WireResponse,
}

/// Next event on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientEvent {
    /// A final response.
    Answer(Box<FinalResponse>),
    /// The end of the connection.
    Ended {
        /// Kind of end.
        end: ConnectionEnd,
        /// The truncated response, if its head was received.
        partial: Option<Box<WireResponse>>,
    },
    /// Something other than a response, with the parser's reason.
    Bad(String),
}

/// End of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConnectionEnd {
    /// The peer closed it in order (FIN).
    Closed,
    /// The peer reset it (RST).
    Reset,
}

/// Cuts of a message into writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Segments {
    /// One write.
    Whole,
    /// Two writes; the first has this many bytes.
    CutAt(usize),
    /// One write per byte.
    Bytes,
}

/// Awaits `future` for at most [`DEADLINE`].
///
/// # Errors
/// When the deadline passes; the error names `what` was awaited.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> Result<T> {
    within_for(DEADLINE, what, future).await
}

/// Awaits `future` for at most `limit`.
///
/// # Errors
/// When the limit passes; the error names `what` was awaited.
pub async fn within_for<T>(limit: Duration, what: &str, future: impl Future<Output = T>) -> Result<T> {
    tokio::time::timeout(limit, future).await.with_context(|| format!("no {what} within {limit:?}"))
}

/// Returns a request for `target` without a body; `fields` are lines in addition to `Host`, each with its line end.
pub fn get(target: &str, fields: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: a.test\r\n{fields}\r\n")
}

/// Closes `stream` with a reset, so that its peer sees an error instead of an end.
pub fn reset(stream: TcpStream) {
    // A failure means that the peer has already ended the connection.
    let _ = stream.set_zero_linger();
}

impl Segments {
    /// Returns all cuts of `length` bytes that the splitting tests use: uncut, in two at each byte, byte by byte.
    pub fn all(length: usize) -> impl Iterator<Item = Self> {
        let cuts = (1..length).map(Self::CutAt);
        [Self::Whole].into_iter().chain(cuts).chain((length > 2).then_some(Self::Bytes))
    }

    /// Returns the pieces of `bytes`, in order.
    pub fn of(self, bytes: &[u8]) -> Vec<&[u8]> {
        match self {
            Self::Whole => vec![bytes],
            Self::CutAt(at) => {
                let (first, second) = bytes.split_at(at.min(bytes.len()));
                vec![first, second]
            }
            Self::Bytes => bytes.chunks(1).collect(),
        }
    }
}

impl WireClient {
    /// Connects to `address`.
    ///
    /// # Errors
    /// When the connection is refused or takes longer than [`DEADLINE`].
    pub async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = within("connection", TcpStream::connect(address)).await??;
        Self::new(stream)
    }

    /// Connects to `address` from `source`, a loopback address that identifies the caller.
    ///
    /// # Errors
    /// As [`WireClient::connect`].
    pub async fn connect_from(source: Ipv4Addr, address: SocketAddr) -> Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::new(IpAddr::V4(source), 0)).context("cannot bind the source address")?;
        let stream = within("connection", socket.connect(address)).await??;
        Self::new(stream)
    }

    fn new(stream: TcpStream) -> Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new(), end: None })
    }

    /// Returns the client's own address.
    ///
    /// # Errors
    /// When the socket no longer has one.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.stream.local_addr()
    }

    /// Sends `bytes`.
    ///
    /// # Errors
    /// When the peer has closed or does not read within [`DEADLINE`].
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) -> Result<()> {
        within("room to send", self.stream.write_all(bytes.as_ref())).await??;
        Ok(())
    }

    /// Sends `bytes` in `segments`, each after the peer has read the previous one.
    ///
    /// A peer that stops reading (it responded and closed) gets the rest at once.
    ///
    /// # Errors
    /// When the peer has closed.
    pub async fn send_in(
        &mut self,
        bytes: &[u8],
        segments: Segments,
        diag: Option<&SocketDiag>,
    ) -> Result<()> {
        let pieces = segments.of(bytes);
        let (near, far) = (self.stream.local_addr()?, self.stream.peer_addr()?);
        for (index, piece) in pieces.iter().enumerate() {
            self.send(piece).await?;
            if let (Some(diag), true) = (diag, index + 1 < pieces.len()) {
                diag.until_read(far, near).await;
            }
        }
        Ok(())
    }

    /// Shuts down the sending side; reading continues.
    ///
    /// # Errors
    /// When the connection is already closed.
    pub async fn finish_sending(&mut self) -> Result<()> {
        self.stream.shutdown().await.context("cannot shut down")
    }

    /// Reads the next final response, to a request with `method`.
    ///
    /// # Errors
    /// When the peer closes, resets, sends something other than a response or takes longer than [`DEADLINE`].
    pub async fn answer(&mut self, method: &str) -> Result<FinalResponse> {
        within("response", self.answer_now(method)).await?
    }

    async fn answer_now(&mut self, method: &str) -> Result<FinalResponse> {
        match self.next(method).await {
            ClientEvent::Answer(answer) => Ok(*answer),
            ClientEvent::Ended { end, partial: None } => bail!("connection {end:?} before a response"),
            ClientEvent::Ended { end, partial: Some(partial) } => {
                let (status, length) = (partial.status, partial.body.len());
                bail!(
                    "connection {end:?} in the middle of a response: status {status}, {length} bytes of body"
                )
            }
            ClientEvent::Bad(why) => bail!("no response: {why}: {:?}", String::from_utf8_lossy(&self.buffer)),
        }
    }

    /// Reads up to the next final response, to a request with `method`, or to another event.
    ///
    /// Cancel-safe, except that interim responses are lost.
    pub async fn next(&mut self, method: &str) -> ClientEvent {
        let mut interim = Vec::new();
        loop {
            match read_response(&self.buffer, method.as_bytes(), self.end == Some(ConnectionEnd::Closed)) {
                ParseOutcome::Whole { message, length } => {
                    self.buffer.drain(..length);
                    if message.is_interim() {
                        interim.push(*message);
                    } else {
                        return ClientEvent::Answer(Box::new(FinalResponse { interim, response: *message }));
                    }
                }
                ParseOutcome::Partial { head } => match self.end {
                    Some(end) => return ClientEvent::Ended { end, partial: head },
                    None => self.fill().await,
                },
                ParseOutcome::Bad(why) => return ClientEvent::Bad(why),
            }
        }
    }

    /// Reads the next final response to a GET.
    ///
    /// # Errors
    /// As [`WireClient::answer`].
    pub async fn read_get_response(&mut self) -> Result<WireResponse> {
        Ok(self.answer("GET").await?.response)
    }

    /// Sends `bytes` and reads the response to the method at their beginning.
    ///
    /// # Errors
    /// As [`WireClient::send`] and [`WireClient::answer`].
    pub async fn exchange(&mut self, bytes: impl AsRef<[u8]>) -> Result<WireResponse> {
        let bytes = bytes.as_ref();
        let method = bytes.split(|byte| *byte == b' ').next().unwrap_or_default();
        self.send(bytes).await?;
        Ok(self.answer(&String::from_utf8_lossy(method)).await?.response)
    }

    /// Reads until the peer ends the connection. Returns the kind of end and all unused bytes.
    ///
    /// # Errors
    /// When the connection stays open for [`DEADLINE`].
    pub async fn end(&mut self) -> Result<(ConnectionEnd, Vec<u8>)> {
        self.end_within(DEADLINE).await
    }

    /// As [`WireClient::end`], with this limit.
    ///
    /// # Errors
    /// When the connection stays open for `limit`.
    pub async fn end_within(&mut self, limit: Duration) -> Result<(ConnectionEnd, Vec<u8>)> {
        let end = within_for(limit, "end of the connection", async {
            while self.end.is_none() {
                self.fill().await;
            }
            self.end.unwrap_or(ConnectionEnd::Closed)
        })
        .await?;
        Ok((end, std::mem::take(&mut self.buffer)))
    }

    /// Reads until there is at least one unused byte or the connection has ended.
    ///
    /// # Errors
    /// When neither happens within [`DEADLINE`].
    pub async fn bytes(&mut self) -> Result<&[u8]> {
        if self.buffer.is_empty() && self.end.is_none() {
            within("bytes", self.fill()).await?;
        }
        Ok(&self.buffer)
    }

    /// Reads until the unused bytes end with `tail`.
    ///
    /// # Errors
    /// When they do not within [`DEADLINE`], or the connection ends before.
    pub async fn until_unused(&mut self, tail: &[u8]) -> Result<()> {
        within("bytes that end as expected", async {
            while !self.buffer.ends_with(tail) {
                anyhow::ensure!(
                    self.end.is_none(),
                    "the connection ended: {:?}",
                    String::from_utf8_lossy(&self.buffer)
                );
                self.fill().await;
            }
            Ok(())
        })
        .await?
    }

    /// Waits for `limit` and returns whether the peer sent nothing and left the connection open.
    pub async fn is_quiet_for(&mut self, limit: Duration) -> bool {
        self.buffer.is_empty()
            && self.end.is_none()
            && tokio::time::timeout(limit, self.fill()).await.is_err()
    }

    /// Reads once and records the end of the connection.
    pub async fn fill(&mut self) {
        if self.end.is_some() {
            return;
        }
        match self.stream.read_buf(&mut self.buffer).await {
            Ok(0) => self.end = Some(ConnectionEnd::Closed),
            Ok(_) => {}
            Err(_) => self.end = Some(ConnectionEnd::Reset),
        }
    }

    /// Returns the received bytes that no response has consumed yet.
    pub fn unused(&self) -> &[u8] {
        &self.buffer
    }

    /// Returns how the peer ended the connection, if the end was seen.
    pub fn ended(&self) -> Option<ConnectionEnd> {
        self.end
    }

    /// Closes the connection with a reset.
    pub fn reset(self) {
        reset(self.stream);
    }

    /// Shrinks the receive buffer of this client, so that a peer soon notices that it does not read.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn read_little(&self) -> Result<()> {
        rustix::net::sockopt::set_socket_recv_buffer_size(&self.stream, 16 * 1024)?;
        Ok(())
    }

    /// Returns the number of bytes that have arrived in the receive buffer and were not read.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn unread(&self) -> Result<u64> {
        Ok(rustix::io::ioctl_fionread(&self.stream)?)
    }
}
