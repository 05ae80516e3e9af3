//! A small gateway with injected faults, which shows that the checker detects them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, bail};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::place;
use crate::wire::{ParseOutcome, WireClient, WireRequest, read_request};

/// Fault of the relay, injected once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectedFault {
    /// No fault.
    Nothing,
    /// Answers a request by itself.
    AnswerItself,
    /// Drops a request and its connection.
    Drop,
    /// Sends a request twice.
    Duplicate,
    /// Changes a byte of a request body.
    AlterRequest,
    /// Changes a byte of a response body.
    AlterResponse,
    /// Answers a request with the response to another one.
    Cross,
    /// Closes an idle connection without an announcement.
    CloseIdle,
}

/// A running relay.
#[derive(Debug)]
pub struct FaultyRelay {
    address: SocketAddr,
    accepting: JoinHandle<()>,
}

struct RelayState {
    origin: SocketAddr,
    plant: InjectedFault,
    count: AtomicU64,
}

impl FaultyRelay {
    /// Starts a relay to `origin` with this fault.
    ///
    /// # Errors
    /// When no socket can be bound.
    pub async fn start(origin: SocketAddr, plant: InjectedFault) -> Result<Self> {
        let listener = TcpListener::bind(place::any_port()).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(RelayState { origin, plant, count: AtomicU64::new(0) });
        let accepting = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Ok(Self { address, accepting })
    }

    /// Returns the listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for FaultyRelay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn serve(mut stream: TcpStream, shared: Arc<RelayState>) -> Result<()> {
    let mut link = WireClient::connect(shared.origin).await?;
    let mut buffer = Vec::new();
    loop {
        match read_request(&buffer) {
            ParseOutcome::Whole { message, length } => {
                let raw: Vec<u8> = buffer.drain(..length).collect();
                let is_planted = shared.is_time(&message);
                relay(&mut stream, &mut link, &shared, is_planted.then_some(shared.plant), &message, raw)
                    .await?;
            }
            ParseOutcome::Partial { .. } => {
                if stream.read_buf(&mut buffer).await? == 0 {
                    return Ok(());
                }
            }
            ParseOutcome::Bad(why) => bail!(why),
        }
    }
}

impl RelayState {
    /// Whether to inject the fault: at the hundredth POST with a body.
    fn is_time(&self, request: &WireRequest) -> bool {
        request.body.len() > 16 && self.count.fetch_add(1, Ordering::Relaxed) == 100
    }
}

async fn relay(
    stream: &mut TcpStream,
    link: &mut WireClient,
    shared: &RelayState,
    plant: Option<InjectedFault>,
    request: &WireRequest,
    mut raw: Vec<u8>,
) -> Result<()> {
    match plant {
        Some(InjectedFault::Drop) => bail!("planted"),
        Some(InjectedFault::AlterRequest) => {
            // Last byte of the data: the line ends of a chunked body come after it.
            let last = request.body.last().copied().unwrap_or_default();
            if let Some(byte) = raw.iter_mut().rev().find(|byte| **byte == last) {
                *byte ^= 1;
            }
        }
        Some(InjectedFault::Duplicate) => {
            let mut other = WireClient::connect(shared.origin).await?;
            other.send(&raw).await?;
            other.answer("POST").await?;
        }
        _ => {}
    }
    if plant == Some(InjectedFault::Cross) {
        raw = b"GET /j/0 HTTP/1.1\r\nHost: x\r\n\r\n".to_vec();
    }
    let method = String::from_utf8_lossy(&request.method).into_owned();
    let mut answer = if plant == Some(InjectedFault::AnswerItself) {
        let id = request.target_text().trim_start_matches("/j/").parse().unwrap_or_default();
        let mut answer = Vec::new();
        super::message::write_answer(id, super::message::hash_of(&request.body), &mut answer);
        answer
    } else {
        link.send(&raw).await?;
        let answer = link.answer(&method).await?.response;
        write(&answer)
    };
    if plant == Some(InjectedFault::AlterResponse)
        && let Some(byte) = answer.last_mut()
    {
        *byte ^= 1;
    }
    stream.write_all(&answer).await?;
    if plant == Some(InjectedFault::CloseIdle) { bail!("planted") } else { Ok(()) }
}

fn write(answer: &crate::wire::WireResponse) -> Vec<u8> {
    let fields =
        format!("X-Id: {}\r\nX-Hash: {}\r\n", answer.fields.text("x-id"), answer.fields.text("x-hash"));
    crate::origin::response(answer.status, &fields, &answer.body)
}
