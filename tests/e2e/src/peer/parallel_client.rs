//! A client with several connections, each with one request in flight.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

/// Connections to a Unix socket, reopened when the other side closes them.
///
/// Requests are not pipelined on a connection: Envoy may leave the later ones unanswered.
#[derive(Debug)]
pub struct ParallelClient {
    path: PathBuf,
    connections: Vec<Option<ParallelConnection>>,
}

/// Final response to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Status code; 0 when the connection was closed without a response.
    pub status: u16,
    /// Fields in their order, names in lower case.
    pub fields: Vec<(String, String)>,
    /// Response body.
    pub body: String,
}

impl Reply {
    /// Returns the first value of a field.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

impl ParallelClient {
    /// Creates clients of the socket at `path`; they connect with their first requests.
    pub fn to(path: &Path) -> Self {
        Self { path: path.to_owned(), connections: (0..AT_ONCE).map(|_| None).collect() }
    }

    /// Sends requests, each as a whole, and returns their responses in order.
    ///
    /// A request on a connection that the other side closed meanwhile is sent again, so requests must be idempotent.
    ///
    /// # Errors
    /// When no server listens, or a response does not arrive or cannot be parsed.
    pub fn ask_all(&mut self, requests: &[Vec<u8>]) -> Result<Vec<Reply>> {
        let mut replies = Vec::with_capacity(requests.len());
        for some in requests.chunks(AT_ONCE) {
            for (request, place) in some.iter().zip(&mut self.connections) {
                let mut connection = match place.take() {
                    Some(connection) => connection,
                    None => ParallelConnection::open(&self.path)?,
                };
                // A peer that closes meanwhile may still have responded.
                let _ = connection.stream.write_all(request);
                *place = Some(connection);
            }
            for (request, place) in some.iter().zip(&mut self.connections) {
                let told = || String::from_utf8_lossy(request).into_owned();
                replies.push(answer(request, place, &self.path).with_context(told)?);
            }
        }
        Ok(replies)
    }
}

/// Reads the response to a request that was sent; repeats the request on a new connection when the old one has ended.
fn answer(request: &[u8], place: &mut Option<ParallelConnection>, path: &Path) -> Result<Reply> {
    let is_head = request.starts_with(b"HEAD ");
    for _ in 0..2 {
        let mut connection = match place.take() {
            Some(connection) => connection,
            None => {
                let mut connection = ParallelConnection::open(path)?;
                connection.stream.write_all(request)?;
                connection
            }
        };
        if let Some(reply) = connection.read_reply(is_head)? {
            if reply.field("connection").is_none_or(|value| value != "close") {
                *place = Some(connection);
            }
            return Ok(reply);
        }
    }
    Ok(Reply::default())
}

#[derive(Debug)]
struct ParallelConnection {
    stream: UnixStream,
    held: Vec<u8>,
}

impl ParallelConnection {
    fn open(path: &Path) -> Result<Self> {
        let stream = UnixStream::connect(path).context("cannot connect")?;
        stream.set_read_timeout(Some(ANSWER_MAX))?;
        Ok(Self { stream, held: Vec::new() })
    }

    /// Reads the next response; `None` at the end of the connection.
    fn read_reply(&mut self, is_head: bool) -> Result<Option<Reply>> {
        loop {
            let end = self.fill(|bytes| bytes.windows(4).position(|four| four == b"\r\n\r\n"))?;
            let Some(end) = end else { return Ok(None) };
            let head = String::from_utf8_lossy(&self.held[..end]).into_owned();
            self.held.drain(..end + 4);
            let mut lines = head.split("\r\n");
            let first = lines.next().unwrap_or_default();
            let status = first.split(' ').nth(1).and_then(|word| word.parse().ok()).context("no status")?;
            if status < 200 {
                continue;
            }
            let fields = lines.filter_map(|line| line.split_once(':'));
            let fields = fields.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
            let mut reply = Reply { status, fields: fields.collect(), body: String::new() };
            if reply.field("transfer-encoding").is_some() {
                bail!("the body has no length: {head}");
            }
            let length = reply.field("content-length").map_or(Ok(0), str::parse::<usize>)?;
            if !is_head && status != 204 && status != 304 {
                let whole = self.fill(|bytes| (bytes.len() >= length).then_some(length))?;
                let whole = whole.context("the body is cut")?;
                reply.body = String::from_utf8_lossy(&self.held[..whole]).into_owned();
                self.held.drain(..whole);
            }
            return Ok(Some(reply));
        }
    }

    /// Reads until `find` returns a position; `None` at the end of the connection.
    fn fill(&mut self, find: impl Fn(&[u8]) -> Option<usize>) -> Result<Option<usize>> {
        let mut buffer = [0; 16 * 1024];
        loop {
            if let Some(at) = find(&self.held) {
                return Ok(Some(at));
            }
            match self.stream.read(&mut buffer) {
                Ok(0) => return Ok(None),
                Ok(count) => self.held.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => {
                    return Ok(None);
                }
                Err(error) => return Err(error).context("cannot read"),
            }
        }
    }
}

/// Number of concurrent requests.
const AT_ONCE: usize = 32;

/// Longest wait for a response.
const ANSWER_MAX: Duration = Duration::from_secs(20);
