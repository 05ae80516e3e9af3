//! gRPC client call on a connection of its own, without TLS.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use eddy_http::{
    BodyReadResult, ChunkDecoder, ChunkLimits, GrpcEnd, GrpcStatus, HeadLimits, Http2, Http2Limits, Method,
    ResponseHead,
};
use eddy_ids::{Millis, WorkerTime};
use eddy_protobuf::{Compressed, FrameEvent, Frames, ProtobufLimits};

/// Call in progress.
pub(super) struct GrpcClientCall {
    stream: TcpStream,
    state: Http2,
    id: u32,
    begun: Instant,
    /// Received bytes of incomplete HTTP/2 frames.
    frames: Vec<u8>,
    head: ResponseHead,
    head_bytes: Vec<u8>,
    /// Received bytes of the response that are not parsed yet.
    input: Vec<u8>,
    /// Position in the gRPC frames of the response, and the received part of the current message.
    answer: Frames,
    message: Vec<u8>,
    is_answered: bool,
}

/// Status of a call that ended without the expected message.
#[derive(Debug)]
pub(super) struct GrpcClientError {
    /// gRPC status, if there is one.
    pub(super) status: GrpcEnd,
    /// Message of the server.
    pub(super) message: String,
}

impl GrpcClientCall {
    /// Starts a call of `path` at a server.
    ///
    /// # Errors
    /// When the server cannot be connected to.
    pub(super) fn begin(host: &str, path: &str) -> Result<Self> {
        let addresses = host.to_socket_addrs().with_context(|| format!("cannot resolve \"{host}\""))?;
        let mut failure = None;
        let connected = addresses.into_iter().find_map(|address| {
            TcpStream::connect_timeout(&address, TIMEOUT).map_err(|error| failure = Some(error)).ok()
        });
        let Some(stream) = connected else {
            let failure = failure.unwrap_or_else(|| io::ErrorKind::NotFound.into());
            return Err(failure).with_context(|| format!("cannot connect to {host}"));
        };
        stream.set_read_timeout(Some(TIMEOUT)).context("cannot set a timeout")?;
        stream.set_write_timeout(Some(TIMEOUT)).context("cannot set a timeout")?;
        let limits =
            Http2Limits { connection_window: 4 << 20, stream_window: 4 << 20, ..Http2Limits::default() };
        let mut state = Http2::client("http", limits, WorkerTime::ZERO);
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/grpc\r\nTE: trailers\r\n\
             User-Agent: eddy/{}\r\n\r\n",
            env!("CARGO_PKG_VERSION")
        );
        let id = state.open(head.as_bytes(), false).ok().context("the request cannot be sent")?.stream;
        Ok(Self {
            stream,
            state,
            id,
            begun: Instant::now(),
            frames: Vec::new(),
            head: ResponseHead::new(),
            head_bytes: Vec::new(),
            input: Vec::new(),
            answer: Frames::new(
                Compressed::Refuse,
                &ProtobufLimits { message_bytes_max: ANSWER_BYTES_MAX, ..ProtobufLimits::default() },
            ),
            message: Vec::new(),
            is_answered: false,
        })
    }

    /// Sends a message and waits for the next response message; the inner error is the status of a call that ended
    /// without one.
    ///
    /// # Errors
    /// When the connection fails, or the response is not gRPC.
    pub(super) fn ask(&mut self, message: &[u8]) -> Result<Result<Vec<u8>, GrpcClientError>> {
        let length = u32::try_from(message.len()).context("the request message is too large")?;
        let frame = [&Frames::plain_head(length)[..], message].concat();
        let mut rest = frame.as_slice();
        loop {
            if !rest.is_empty() && self.state.is_writable(self.id) {
                // A server that ends the call accepts no more data; its response states the reason.
                let sent = self.state.send_data(self.id, rest, &[], false).unwrap_or(rest.len());
                rest = &rest[sent..];
            }
            self.write()?;
            let is_over = self.take()?;
            if let Some(message) = self.message()? {
                return Ok(Ok(message));
            }
            if is_over {
                return Ok(Err(self.end()));
            }
            self.read()?;
        }
    }

    fn write(&mut self) -> Result<()> {
        while !self.state.output().is_empty() {
            let count = self.stream.write(self.state.output()).context("the server accepts no more data")?;
            ensure!(count > 0, "the server accepts no more data");
            self.state.written(count);
        }
        Ok(())
    }

    fn read(&mut self) -> Result<()> {
        ensure!(self.begun.elapsed() < CALL_TIMEOUT, "the call did not end within {CALL_TIMEOUT:?}");
        let mut room = [0; 16 * 1024];
        let count = match self.stream.read(&mut room) {
            Ok(0) => bail!("the server has closed the connection; is it a gRPC server without TLS?"),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                bail!("the server sent nothing for {TIMEOUT:?}")
            }
            read => read.context("the connection failed")?,
        };
        self.frames.extend_from_slice(&room[..count]);
        let mut rest = self.frames.as_slice();
        loop {
            let now = WorkerTime::ZERO + Millis::of(self.begun.elapsed());
            let taken = self.state.receive(rest, now);
            let taken = taken.ok().context("the server does not speak HTTP/2, which gRPC needs")?;
            if taken == 0 {
                break;
            }
            rest = &rest[taken..];
        }
        let left = rest.len();
        self.frames.drain(..self.frames.len() - left);
        self.write()
    }

    /// Reads received response data; returns whether the response has ended.
    fn take(&mut self) -> Result<bool> {
        let mut room = [0; 16 * 1024];
        let is_over = loop {
            match self.state.read(self.id, &mut room) {
                Ok(BodyReadResult::Bytes(count)) => self.input.extend_from_slice(&room[..count]),
                Ok(BodyReadResult::Nothing) => break false,
                Ok(BodyReadResult::End) => break true,
                Err(_) => bail!("the server has reset the call"),
            }
            ensure!(
                self.input.len() <= ANSWER_BYTES_MAX,
                "the response is larger than {ANSWER_BYTES_MAX} bytes"
            );
        };
        while !self.is_answered {
            let parsed = self.head.parse_start(&self.input, &HeadLimits::default(), Method::Post);
            let Some(length) = parsed.ok().context("the response head is invalid")? else {
                ensure!(!is_over, "the call ended without a response");
                break;
            };
            self.head_bytes = self.input.drain(..length).collect();
            self.is_answered = !self.head.is_interim();
        }
        if self.is_answered {
            ensure!(
                self.head.status == 200,
                "the server responds with status {}: it is not a gRPC server",
                self.head.status
            );
        }
        Ok(is_over)
    }

    /// Returns the next message of the response, once it is complete.
    fn message(&mut self) -> Result<Option<Vec<u8>>> {
        if !self.is_answered {
            return Ok(None);
        }
        let mut rest = self.input.as_slice();
        let mut whole = None;
        while let Some(event) = self.answer.next(&mut rest)? {
            match event {
                FrameEvent::Start { .. } => {}
                FrameEvent::Data(data) => self.message.extend_from_slice(data),
                FrameEvent::End => {
                    whole = Some(std::mem::take(&mut self.message));
                    break;
                }
            }
        }
        let used = self.input.len() - rest.len();
        self.input.drain(..used);
        Ok(whole)
    }

    /// Returns the status of the call, after the end of the response.
    fn end(&self) -> GrpcClientError {
        let mut trailers = ChunkDecoder::new(ChunkLimits::default());
        // Invalid trailers are treated as missing.
        let _ = trailers.decode(self.state.trailers(self.id));
        let head = self.head.fields(&self.head_bytes);
        let fields = if GrpcEnd::of(head) == GrpcEnd::NoStatus { trailers.trailers() } else { head };
        let message = fields.first_named(b"grpc-message").unwrap_or_default();
        GrpcClientError {
            status: GrpcEnd::of(fields),
            message: String::from_utf8_lossy(message).into_owned(),
        }
    }
}

impl GrpcClientError {
    /// Whether the server does not implement the method.
    pub(super) fn is_unimplemented(&self) -> bool {
        self.status == GrpcEnd::Status(GrpcStatus::Unimplemented)
    }
}

impl std::fmt::Display for GrpcClientError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.status {
            GrpcEnd::Status(status) => write!(f, "the call ended with {}", status.name())?,
            GrpcEnd::NoStatus | GrpcEnd::Other => write!(f, "the call ended without a status")?,
        }
        if self.message.is_empty() { Ok(()) } else { write!(f, ": {}", self.message) }
    }
}

/// Timeout for connecting and for silence of the server.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of the whole call.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum size of a response message.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
