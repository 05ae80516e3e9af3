//! tiny_http's server as a parser, which does not use `httparse`.

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Result, anyhow};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::seen::{ParserObservation, SeenMessage};
use crate::place;
use crate::wire::{ParseOutcome, WireBodyFraming, read_request, within};

/// A tiny_http server and the messages it received, by client address.
pub(super) struct Tiny {
    server: Arc<tiny_http::Server>,
    address: SocketAddr,
    seen: Arc<Mutex<HashMap<SocketAddr, Vec<SeenMessage>>>>,
}

impl Tiny {
    pub(super) fn start() -> Result<Self> {
        let listener = TcpListener::bind(place::any_port())?;
        let address = listener.local_addr()?;
        let server = tiny_http::Server::from_listener(listener, None).map_err(|error| anyhow!("{error}"))?;
        let tiny = Self { server: Arc::new(server), address, seen: Arc::default() };
        let (server, seen) = (Arc::clone(&tiny.server), Arc::clone(&tiny.seen));
        std::thread::spawn(move || {
            for request in server.incoming_requests() {
                collect(request, &seen);
            }
        });
        Ok(tiny)
    }

    /// Sends `raw` to the server and returns what it parsed.
    pub(super) async fn read(&self, raw: &[u8]) -> Result<ParserObservation> {
        if !raw.is_ascii() {
            return Ok(ParserObservation {
                messages: Vec::new(),
                error: "not asked: it drops what is not ASCII".into(),
            });
        }
        // tiny_http allocates a body of the declared length at once.
        if let ParseOutcome::Partial { head: Some(head) } = read_request(raw)
            && matches!(head.framing, WireBodyFraming::Length(length) if length > BODY_MAX)
        {
            return Ok(ParserObservation {
                messages: Vec::new(),
                error: "not asked: the body would be too large".into(),
            });
        }
        let mut stream = within("connection to tiny_http", TcpStream::connect(self.address)).await??;
        let client = stream.local_addr()?;
        // The server may close early when it refuses; what it parsed until then counts.
        let sent = stream.write_all(raw).await;
        let finished = stream.shutdown().await;
        let mut answers = Vec::new();
        let read = within("answers of tiny_http", stream.read_to_end(&mut answers)).await?;
        let messages =
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).remove(&client).unwrap_or_default();
        let refused =
            answers.windows(12).any(|window| window == b"HTTP/1.1 400" || window == b"HTTP/1.0 400");
        let is_whole = sent.is_ok() && finished.is_ok() && read.is_ok() && !refused;
        Ok(ParserObservation { messages, error: if is_whole { String::new() } else { "refused".into() } })
    }
}

impl Drop for Tiny {
    fn drop(&mut self) {
        self.server.unblock();
    }
}

fn collect(mut request: tiny_http::Request, seen: &Mutex<HashMap<SocketAddr, Vec<SeenMessage>>>) {
    let mut body = Vec::new();
    let is_whole = request.as_reader().read_to_end(&mut body).is_ok()
        && request.body_length().is_none_or(|length| length == body.len());
    let host = request.headers().iter().find(|field| field.field.equiv("Host"));
    let message = SeenMessage {
        method: request.method().to_string(),
        target: request.url().to_owned(),
        host: host.map(|field| field.value.to_string()).unwrap_or_default(),
        body,
    };
    if let (Some(client), true) = (request.remote_addr().copied(), is_whole) {
        seen.lock().unwrap_or_else(PoisonError::into_inner).entry(client).or_default().push(message);
    }
    // The client may have closed already; its bytes were read.
    let _ = request.respond(tiny_http::Response::empty(200));
}

const BODY_MAX: u64 = 16 * 1024 * 1024;
